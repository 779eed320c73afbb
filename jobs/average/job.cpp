#include "jobs/average/job.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/ceil_log2.h"
#include "base/error.h"
#include "base/outward_text.h"
#include "dp/mechanisms/discrete_laplace.h"
#include "jobs/average/owners.h"
#include "jobs/average/settings.h"
#include "jobs/config/common_fields.h"
#include "jobs/job_of.h"
#include "jobs/records/owner_warnings.h"
#include "jobs/same_noise.h"
#include "jobs/statement/bound_text.h"
#include "ml/clear/logistic_regression.h"
#include "ml/noise/average_noise.h"
#include "ml/on_shares/average_plan.h"
#include "mpc/fixed_point.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/reveal.h"

namespace trefoil::jobs {
namespace {

using mpc::Index;
using mpc::RingMatrix;

class AverageJob : public JobOf<AverageSettings> {
 public:
  explicit AverageJob(AverageSettings job)
      : JobOf(std::move(job)), plan_(ml::MakeAveragePlan(AverageSettingsOf(this->job()))) {
    if (release_to().empty()) RequireClassifiable();
  }

  [[nodiscard]] const char* type() const override { return "classifier-average"; }
  [[nodiscard]] std::string Json() const override { return AverageJson(job()); }
  [[nodiscard]] std::string LocalJson() const override { return LocalJsonOf(job()); }
  [[nodiscard]] std::string Title() const override;
  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override { return plan_.events; }
  [[nodiscard]] JobCost Cost() const override;
  [[nodiscard]] const RecordSchema* Records() const override { return &job().schema; }
  [[nodiscard]] std::optional<ModelSchema> Model() const override {
    return LinearModelSchema(job().schema, kAverageType.logits);
  }
  [[nodiscard]] std::vector<std::string> Warnings() const override;
  [[nodiscard]] dp::Neighbours Neighbours() const override {
    return job().size_epsilon ? dp::Neighbours::kAdded : dp::Neighbours::kReplaced;
  }
  [[nodiscard]] std::string Uncovered() const override;
  [[nodiscard]] std::string Split(const SplitTarget& target) const override {
    return DealToOwners(job().schema, job().owners, target);
  }
  std::string Load(const PartyFile& party, const std::string& party_file,
                   const Resources& resources) override;
  [[nodiscard]] JobResult Run(mpc::Context& party, Output& output) override;

 private:
  [[nodiscard]] ml::OwnAverage OwnPart() const;
  void AddPublishedNoise(ml::OwnAverage& own) const;
  void RequireClassifiable() const;
  [[nodiscard]] int SumBits() const { return CeilLog2(plan_.largest_sum); }
  [[nodiscard]] mpc::FixedShare ShareOf(mpc::Context& party, const mpc::ArithShare& sum) const;
  [[nodiscard]] ml::Model ModelOf(const RingMatrix& opened) const;
  [[nodiscard]] std::vector<std::uint64_t> NoiseNumbers() const;
  [[nodiscard]] nlohmann::ordered_json Summary() const;

  ml::AveragePlan plan_;
  std::vector<ml::OwnRecords> owners_;  ///< this party's, after Load
};

std::string AverageJob::Title() const {
  const auto noise =
      job().as_published()
          ? std::string("noise as published")
          : fmt::format("{} noise of {} scales to choose from{}", job().gaussian() ? "Gaussian" : "Laplace",
                        plan_.shape.min_sizes.size(),
                        job().gaussian() ? ", sigma " + MultiplierText(plan_.sigma) : "");
  return fmt::format("average of {} owners' logistic regressions of {} weights, lambda {}, {}",
                     job().owners.all(), plan_.shape.weights, job().solver.lambda, noise);
}

std::vector<std::string> AverageJob::Warnings() const {
  std::vector<std::string> warnings;
  if (job().as_published()) {
    warnings.emplace_back(
        "average.noise \"as-published\": insider epsilon none: who acts for the owner of the smallest data "
        "set drew the noise, and can subtract it");
    warnings.push_back(fmt::format(
        "average.noise \"as-published\": 2/(n lambda) bounds the L2 change of a classifier, not the L1 "
        "change that noise on each weight needs, 2 sqrt(d)/(K n lambda) of the average: an outsider's "
        "epsilon is {}, not the job's {}",
        DigitsAbove(std::get<dp::ApproximateReleases>(plan_.events.front()).epsilon, 4),
        DigitsAbove(job().epsilon, 4)));
  }
  if (!job().size_epsilon)
    warnings.emplace_back(
        "privacy.neighbours \"replaced\": epsilon is for one record replaced by another; how many records "
        "the smallest owner has is in no epsilon");
  return warnings;
}

std::string AverageJob::Uncovered() const {
  if (job().as_published()) return "average.noise: found \"as-published\"";
  return job().size_epsilon ? "" : "privacy.neighbours: found \"replaced\"";
}

JobCost AverageJob::Cost() const {
  const auto& shape = plan_.shape;
  JobCost cost;
  cost.session.Add(RequireSameNoiseCost());
  cost.session.Add(job().as_published() ? ml::PublishedClassifierSumCost(shape)
                                        : ml::NoisyClassifierSumCost(shape));
  if (job().to.empty()) {
    cost.session.Add(ml::AverageOfSumCost(shape));
  } else {
    cost.session.Add(protocols::BarrierCost());
    cost.session.AddUnturned(protocols::RevealToEachCost(job().to, shape.weights));
  }
  const auto most = *std::max_element(shape.owners.begin(), shape.owners.end());
  const auto noises =
      static_cast<double>(job().as_published() ? most : static_cast<Index>(shape.min_sizes.size()));
  const auto weights = static_cast<double>(shape.weights);
  const auto& rows = job().schema.data.rows;
  // One party's owners after one another, each as long as the solver may take.
  cost.work = {.draws = noises * weights,
               .clear_seconds = ml::FitLogisticSeconds(*std::max_element(rows.begin(), rows.end()),
                                                       TrainedFeatures(job().schema), job().solver,
                                                       job().schema.features.row_norm)};
  for (std::size_t party = 0; party < net::kParties; ++party) {
    cost.memory.at(party) = static_cast<double>(rows.at(party)) *
                                static_cast<double>(TrainedFeatures(job().schema)) * sizeof(float) +
                            kBytesOfShare * (noises + 1) * weights;
  }
  cost.results = AtReceivers(weights * sizeof(double));
  return cost;
}

std::string AverageJob::Load(const PartyFile& party, const std::string& party_file,
                             const Resources& resources) {
  owners_ = LoadOwners(job().schema, job().owners, party, party_file, resources.threads);
  std::string rows;
  bool few = false;
  std::vector<int> classes;
  for (const auto& owner : owners_) {
    classes.insert(classes.end(), owner.y.begin(), owner.y.end());
    rows += fmt::format(" {}", owner.y.size());
    few = few || static_cast<std::int64_t>(owner.y.size()) < job().owners.min_rows;
  }
  auto warnings = OwnerWarnings(job().schema, party.id, classes);
  if (few)
    warnings.push_back(
        fmt::format("an owner here has fewer than {} records: they count as that many, the missing ones as "
                    "zeros; a job with "
                    "smaller owners.least_rows would tell that somebody here has few",
                    job().owners.min_rows));
  WarnOwner(std::move(warnings));
  return fmt::format("{} owners here, records:{}", owners_.size(), rows.empty() ? " none" : rows);
}

void AverageJob::AddPublishedNoise(ml::OwnAverage& own) const {
  auto& noise = own.noise.values();
  noise.resize(static_cast<Index>(owners_.size()), plan_.shape.weights);
  auto stream = RandomStream::FromSystem();
  for (Index k = 0; k < noise.rows(); ++k) {
    const auto rate = ml::PublishedRate(AverageSettingsOf(job()), mpc::Signed(own.sizes(k, 0)));
    const dp::DiscreteLaplace law(rate.denominator, rate.numerator);
    for (Index i = 0; i < noise.cols(); ++i)
      noise(k, i) = static_cast<mpc::Word>(static_cast<std::int64_t>(law.Sample(stream)));
  }
}

/// Trains this party's owners' classifiers, and draws its noise.
ml::OwnAverage AverageJob::OwnPart() const {
  ml::OwnAverage own{.sizes = RingMatrix(static_cast<Index>(owners_.size()), 1),
                     .weights = RingMatrix::Zero(1, plan_.shape.weights)};
  for (std::size_t k = 0; k < owners_.size(); ++k) {
    const auto least = job().owners.min_rows;
    own.sizes(static_cast<Index>(k), 0) =
        std::max<mpc::Word>(owners_[k].y.size(), static_cast<mpc::Word>(least));
    const Eigen::VectorXd weights = ml::FitLogistic(owners_[k], job().solver, least);
    own.weights += mpc::Encode(weights.transpose(), job().schema.fraction_bits, plan_.largest_weight);
  }
  if (job().as_published()) {
    AddPublishedNoise(own);
  } else {
    ml::DrawNoise(plan_, RandomStream::FromSystem, own);
  }
  return own;
}

/// The average of a sum of all owners' weights.
ml::Model AverageJob::ModelOf(const RingMatrix& opened) const {
  const Eigen::MatrixXd sum = mpc::Decode(opened, job().schema.fraction_bits);
  const Eigen::VectorXd average = sum.row(0).transpose() / static_cast<double>(job().owners.all());
  const Index features = TrainedFeatures(job().schema);
  return {.weights = average.head(features),
          .bias = job().solver.bias ? Eigen::VectorXd(average.tail(1)) : Eigen::VectorXd::Zero(1)};
}

/// Shares of an average that nobody gets are for predictions, whose logits the ring must hold.
void AverageJob::RequireClassifiable() const {
  if (SumBits() > ml::kMaxSumBits)
    throw ConfigError(fmt::format(
        "release.to: found [], expected a party, or fraction_bits below {}: the noisy sum is too large to be "
        "divided in shares",
        job().schema.fraction_bits));
  const auto root = std::sqrt(static_cast<double>(plan_.shape.weights));
  RequireLogitsInRing(root * plan_.largest_sum / static_cast<double>(job().owners.all()),
                      job().schema.features.row_norm, job().schema.fraction_bits);
  RequireClassifier(*Model(), "features.row_norm");
}

/// The average as a column, with a bias in any case.
mpc::FixedShare AverageJob::ShareOf(mpc::Context& party, const mpc::ArithShare& sum) const {
  mpc::ArithShare weights = Transposed(ml::AverageOfSum(party, plan_.shape, sum, SumBits()));
  if (!job().solver.bias) weights = Stacked(weights, mpc::ArithShare::Zero(1, 1));
  return {weights, job().schema.fraction_bits};
}

nlohmann::ordered_json AverageJob::Summary() const {
  nlohmann::ordered_json summary{{"owners", job().owners.all()},
                                 {"weights", plan_.shape.weights},
                                 {"lambda", job().solver.lambda},
                                 {"noise", NameOf(job().noise)},
                                 {"neighbours", job().size_epsilon ? "added" : "replaced"}};
  if (!job().as_published()) summary["scales"] = plan_.shape.min_sizes.size();
  if (job().size_epsilon) summary["size_margin"] = plan_.shape.margin;
  if (job().gaussian()) summary["sigma"] = plan_.sigma;
  return summary;
}

/// What the sum and its noises are made by, beside what is charged, and what it is divided by in shares.
std::vector<std::uint64_t> AverageJob::NoiseNumbers() const {
  auto numbers = plan_.sensitivities;
  for (const auto& rate : plan_.rates) numbers.insert(numbers.end(), {rate.numerator, rate.denominator});
  for (const auto size : plan_.shape.min_sizes) numbers.push_back(static_cast<std::uint64_t>(size));
  numbers.insert(
      numbers.end(),
      {plan_.size_rate.numerator, plan_.size_rate.denominator, static_cast<std::uint64_t>(plan_.shape.margin),
       static_cast<std::uint64_t>(plan_.shape.width), static_cast<std::uint64_t>(SumBits())});
  return numbers;
}

JobResult AverageJob::Run(mpc::Context& party, Output& output) {
  RequireSameNoise(party, Events(), NoiseNumbers());
  output.Reserve(Events(), {});
  const auto own = OwnPart();
  const mpc::ArithShare sum = job().as_published() ? ml::PublishedClassifierSum(party, plan_.shape, own)
                                                   : ml::NoisyClassifierSum(party, plan_.shape, own);
  output.Settle(Events());
  JobResult result;
  result.summary = Summary();
  if (job().to.empty()) {
    result.share = ShareOf(party, sum);
    return result;
  }
  protocols::Barrier(party);  // as Output::Settle wants
  const auto opened = protocols::RevealToEach(party, job().to, sum, protocols::ReleaseReason::kAveragedModel);
  if (!opened) return result;
  result.model = ModelOf(*opened);
  result.owner_lines = [this, model = *result.model] {
    return OwnerLines{.warnings = OneClassWarning(job().schema, model, owners_, kTrainWithWeights)};
  };
  return result;
}

std::unique_ptr<Job> ReadAverage(const toml::table& root, const std::string& file) {
  return std::make_unique<AverageJob>(ReadAverageSettings(root, file));
}

}  // namespace

const JobType kAverageType{"classifier-average", ReadAverage, SchemaOf<AverageSettings>};

}  // namespace trefoil::jobs
