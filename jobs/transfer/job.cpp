#include "jobs/transfer/job.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/outward_text.h"
#include "data/dataset/data_hash.h"
#include "data/dataset/folders.h"
#include "data/formats/file.h"
#include "data/formats/numpy/npy.h"
#include "data/formats/numpy/npy_header.h"
#include "dp/mechanisms/radial_laplace_part.h"
#include "jobs/gaussian_target.h"
#include "jobs/job_of.h"
#include "jobs/pate/teacher_labels.h"
#include "jobs/records/local_data.h"
#include "jobs/same_noise.h"
#include "jobs/statement/bound_text.h"
#include "jobs/transfer/settings.h"
#include "ml/noise/noisy_counts.h"
#include "ml/on_shares/correct_counts.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;
using mpc::Index;
using mpc::RingMatrix;

class TransferJob : public JobOf<TransferSettings> {
 public:
  explicit TransferJob(TransferSettings job)
      : JobOf(std::move(job)), plan_(ml::MakeTransferPlan(this->job().settings)) {
    if (this->job().published) {
      UsePublishedNoise();
    } else {
      sigma_ = SigmaOf(Target());
    }
    if (release_to().empty()) RequireClassifiable();
  }

  [[nodiscard]] const char* type() const override { return "ensemble-transfer"; }
  [[nodiscard]] std::string Json() const override { return TransferJson(job()); }
  [[nodiscard]] std::string Title() const override;
  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override;
  [[nodiscard]] JobCost Cost() const override;
  [[nodiscard]] std::optional<ModelSchema> Model() const override {
    return LinearModelSchema(TransferSchema(job()), kTransferType.logits);
  }
  [[nodiscard]] dp::PrivacyUnit Unit() const override { return dp::PrivacyUnit::kOwner; }
  [[nodiscard]] dp::Neighbours Neighbours() const override { return dp::Neighbours::kReplaced; }
  [[nodiscard]] std::optional<std::int64_t> MaxUnits() const override {
    return job().owners[0] + job().owners[1] + job().owners[2];
  }
  [[nodiscard]] std::string Split(const SplitTarget& target) const override;
  std::string Load(const PartyFile& party, const std::string& party_file,
                   const Resources& resources) override;
  [[nodiscard]] JobResult Run(mpc::Context& party, Output& output) override;

 private:
  [[nodiscard]] TeacherLabels teacher_labels() const {
    return {.voters = job().owners, .queries = job().settings.rows};
  }
  void UsePublishedNoise();
  void RequireClassifiable() const;
  [[nodiscard]] GaussianTarget Target() const;
  [[nodiscard]] std::string NoiseTitle() const;
  [[nodiscard]] std::vector<std::uint64_t> NoiseNumbers() const;
  [[nodiscard]] ml::StepNoise OwnNoise() const;
  [[nodiscard]] RingMatrix OwnVotes() const;
  [[nodiscard]] ml::Model ModelOf(const RingMatrix& opened) const;
  [[nodiscard]] nlohmann::ordered_json Summary() const;

  ml::TransferPlan plan_;
  std::optional<dp::RadialLaplacePart> radial_{};  ///< with published noise
  double sigma_ = 0;                               ///< noise multiplier, with Gaussian noise
  std::string query_hash_;                         ///< after Load, as all below
  RingMatrix x_;                                   ///< the public rows
  std::vector<std::vector<int>> labels_;           ///< a row for each of this party's classifiers
};

void TransferJob::UsePublishedNoise() {
  radial_.emplace(plan_.weights(), static_cast<double>(plan_.sensitivity), *job().epsilon);
  // At most half, which is what a ledger of the same delta leaves for it.
  const double least = 2 * (1 + std::exp(radial_->epsilon())) * radial_->failure();
  if (least > delta())
    throw ConfigError(fmt::format(
        "privacy.delta: found {}, expected at least {}, or more fraction_bits, so that the published noise's "
        "rounding costs at most half of delta",
        delta(), DigitsAbove(least, 3)));
}

/// A model that stays in shares is for predictions, and the ring must hold their logits: those of the largest
/// weights, plus a norm that the noise of all three parties practically never exceeds.
void TransferJob::RequireClassifiable() const {
  constexpr double kDeviations = 40;
  const auto sensitivity = static_cast<double>(plan_.sensitivity);
  const auto dimensions = static_cast<double>(plan_.weights() + 3);
  const double noise = radial_ ? radial_->scale() * (4 * dimensions + 5 * kDeviations)
                               : kDeviations * sigma_ * sensitivity * std::sqrt(1.5 * dimensions);
  RequireLogitsInRing(std::ldexp(plan_.largest_weight, job().settings.fraction_bits) + noise,
                      job().settings.row_norm, job().settings.fraction_bits);
  RequireClassifier(*Model(), "ensemble.row_norm");
}

std::string TransferJob::NoiseTitle() const {
  if (!radial_) return fmt::format("sigma {}", MultiplierText(sigma_));
  return fmt::format("published noise of scale {}",
                     DigitsBelow(std::ldexp(radial_->scale(), -job().settings.fraction_bits), 4));
}

std::string TransferJob::Title() const {
  const auto& settings = job().settings;
  return fmt::format(
      "{} labels of {} rows by {} owners' classifiers, lambda {}, {} steps, {}, sensitivity {} of "
      "which the steps' gap is {}",
      settings.majority ? "majority" : "vote", settings.rows, settings.owners, settings.lambda,
      settings.steps, NoiseTitle(), DigitsAbove(plan_.shift_of_owner + 2 * plan_.gap, 4),
      DigitsAbove(2 * plan_.gap, 2));
}

std::vector<dp::RecordedEvent> TransferJob::Events() const {
  if (!radial_) return {EventOf(Target(), sigma_)};
  return {dp::ApproximateReleases{.count = 1, .epsilon = radial_->epsilon(), .failure = radial_->failure()}};
}

JobCost TransferJob::Cost() const {
  const auto& settings = job().settings;
  JobCost cost;
  cost.session.Add(RequireSameNoiseCost());
  cost.session.Add(Then(protocols::RequireSameEverywhereCost(), ml::TransferLabelsCost(plan_)));
  cost.session.Add(ml::TransferStepCost(plan_), settings.steps);
  cost.session.Add(protocols::ReshareCost(plan_.weights()));
  if (!job().to.empty()) cost.session.Add(protocols::BarrierCost());
  cost.session.AddUnturned(protocols::RevealToEachCost(job().to, plan_.weights()));
  const auto rows = static_cast<double>(settings.rows);
  const auto weights = static_cast<double>(plan_.weights());
  cost.work = {.draws = weights, .multiply_adds = 2 * settings.steps * rows * weights};
  for (std::size_t party = 0; party < net::kParties; ++party) {
    // The rows twice, as the products with them and with their transpose take them.
    cost.memory.at(party) = static_cast<double>(job().owners.at(party)) * rows * sizeof(int) +
                            2 * rows * weights * sizeof(mpc::Word) + kBytesOfShare * (rows + weights);
  }
  cost.results = AtReceivers(weights * sizeof(double));
  return cost;
}

GaussianTarget TransferJob::Target() const {
  return {.coordinates = plan_.weights(),
          .sensitivity = plan_.sensitivity,
          .epsilon = job().epsilon,
          .sigma = job().sigma,
          .delta = job().delta,
          .accountant = job().accountant,
          .insiders = job().insiders()};
}

std::string TransferJob::Split(const SplitTarget& target) const {
  const auto source = FindDataFolder(job().data_name, target.job_file, target.data);
  auto said = SplitTeacherLabels(teacher_labels(), source,
                                 FindLabelFile(source, {"queries.npy"}, "public queries"), target);
  if (const auto test = data::FindTestFiles(TransferSchema(job()).data, source))
    data::CopyTestFiles(*test, target.test);
  return said;
}

/// The public rows: NPY, rows x features.
Eigen::MatrixXd ReadRows(const fs::path& file, const ml::TransferSettings& settings) {
  const auto rows = static_cast<std::size_t>(settings.rows);
  const auto features = static_cast<std::size_t>(settings.features);
  const auto array = data::ReadNpy(file, [&](const std::vector<std::size_t>& shape, std::size_t) {
    if (shape != std::vector<std::size_t>{rows, features})
      data::ThrowDataError(file, "", "shape " + data::ShapeText(shape),
                           fmt::format("{} queries x {} features", rows, features));
  });
  const auto values = data::NpyToDoubles(array, file);
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!(std::abs(values[k]) <= 1e9))
      data::ThrowDataError(file, fmt::format("query {}, feature {}", k / features + 1, k % features + 1),
                           data::NumberText(values[k]), "a finite number of magnitude at most 1e9");
  }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(values.data(), settings.rows, settings.features);
}

std::string TransferJob::Load(const PartyFile& party, const std::string& party_file,
                              const Resources& /*resources*/) {
  labels_ = LoadTeacherLabels(teacher_labels(), party, party_file);
  const auto& queries = party.inputs["pate.queries"];
  query_hash_ = data::PathSha256(
      queries, [&] { x_ = ml::EncodeTransferRows(plan_, ReadRows(queries, job().settings)); });
  return fmt::format("{} classifiers' labels of {} queries, whose file has SHA-256 {}", labels_.size(),
                     job().settings.rows, query_hash_);
}

/// How many of this party's classifiers vote for class 1 of each row.
RingMatrix TransferJob::OwnVotes() const {
  RingMatrix votes = RingMatrix::Zero(job().settings.rows, 1);
  for (const auto& owner : labels_) {
    for (Index row = 0; row < votes.rows(); ++row)
      votes(row, 0) += static_cast<mpc::Word>(owner[static_cast<std::size_t>(row)]);
  }
  return votes;
}

ml::Model TransferJob::ModelOf(const RingMatrix& opened) const {
  const Eigen::MatrixXd weights = mpc::Decode(opened, job().settings.fraction_bits);
  return {.weights = weights.topRows(job().settings.features), .bias = weights.bottomRows(1)};
}

nlohmann::ordered_json TransferJob::Summary() const {
  const auto& settings = job().settings;
  nlohmann::ordered_json summary{{"owners", settings.owners},
                                 {"queries", settings.rows},
                                 {"labels", settings.majority ? "majority" : "votes"},
                                 {"lambda", settings.lambda},
                                 {"steps", settings.steps},
                                 {"noise", radial_ ? "published" : "gaussian"}};
  if (radial_) {
    summary["noise_scale"] = std::ldexp(radial_->scale(), -settings.fraction_bits);
    summary["failure"] = radial_->failure();
  } else {
    summary["sigma"] = sigma_;
  }
  summary["sensitivity"] = plan_.shift_of_owner + 2 * plan_.gap;
  summary["gap"] = plan_.gap;
  return summary;
}

ml::StepNoise TransferJob::OwnNoise() const {
  if (radial_) return ml::RadialLaplaceParts(RandomStream::FromSystem(), *radial_, plan_.weights());
  return ml::CountNoise(RandomStream::FromSystem(), sigma_, plan_.sensitivity, plan_.weights());
}

/// What the noise is drawn by, and the steps are made by, beside what is charged: the bound on the gap is of
/// roots and logarithms, too, and a step of what follows from it.
std::vector<std::uint64_t> TransferJob::NoiseNumbers() const {
  std::vector<std::uint64_t> numbers{plan_.sensitivity, plan_.a, plan_.b, plan_.c};
  if (radial_)
    numbers.insert(numbers.end(),
                   {radial_->rate().numerator, radial_->rate().denominator, radial_->step_bits()});
  return numbers;
}

JobResult TransferJob::Run(mpc::Context& party, Output& output) {
  RequireSameNoise(party, Events(), NoiseNumbers());
  output.Reserve(Events(), {});
  protocols::RequireSameEverywhere(party, query_hash_, "pate.queries");
  const mpc::FixedShare weights = ml::MinimiseTransferRisk(party, plan_, x_, OwnVotes());
  const auto noise = OwnNoise();
  const mpc::ArithShare noisy =
      protocols::Reshare(party, ml::AddNoise(ToAdditive(weights.ring()), noise.values()));
  output.Settle(Events());
  JobResult result;
  result.summary = Summary();
  if (job().to.empty()) {
    result.share = {noisy, job().settings.fraction_bits};
    return result;
  }
  protocols::Barrier(party);  // as Output::Settle wants
  const auto opened =
      protocols::RevealToEach(party, job().to, noisy, protocols::ReleaseReason::kTransferredModel);
  if (opened) result.model = ModelOf(*opened);
  return result;
}

std::unique_ptr<Job> ReadTransfer(const toml::table& root, const std::string& file) {
  return std::make_unique<TransferJob>(ReadTransferSettings(root, file));
}

}  // namespace

const JobType kTransferType{"ensemble-transfer", ReadTransfer, SchemaOf<TransferSettings>, VoteInputs};

}  // namespace trefoil::jobs
