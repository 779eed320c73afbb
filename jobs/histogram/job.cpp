#include "jobs/histogram/job.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/outward_text.h"
#include "data/columns/category_column.h"
#include "data/formats/csv.h"
#include "dp/mechanisms/laplace_part.h"
#include "jobs/config/common_fields.h"
#include "jobs/gaussian_target.h"
#include "jobs/histogram/settings.h"
#include "jobs/histogram/shared_counts.h"
#include "jobs/ranks/ranked_job_of.h"
#include "jobs/records/local_data.h"
#include "jobs/records/owner_warnings.h"
#include "jobs/same_noise.h"
#include "jobs/statement/bound_text.h"
#include "ml/noise/noisy_counts.h"
#include "ml/on_deposits/deposited_counts.h"
#include "ml/on_shares/correct_counts.h"

namespace trefoil::jobs {
namespace {

using mpc::Index;
using mpc::RingMatrix;

// Gaussian noise is drawn on a lattice of 2^-16, so that it may be small beside one record.
constexpr int kCountBits = 16;
constexpr double kBytesOfRow = 16;  // of a table of files, one of which is held while it is read: short ones
constexpr double kSecondsPerCoin = 50e-9;  // of a report, on the machine of docs/reference/performance.md
constexpr double kBytesOfALine = 40;       // of histogram.csv: a value and three numbers
constexpr std::uint64_t kOne = std::uint64_t{1} << kCountBits;

class HistogramJob : public RankedJobOf<HistogramSettings> {
 public:
  explicit HistogramJob(HistogramSettings job) : RankedJobOf(std::move(job)) {
    if (this->job().gaussian) sigma_ = SigmaOf(Target());
  }

  [[nodiscard]] const char* type() const override { return "histogram"; }
  [[nodiscard]] std::string Json() const override { return HashedJson(job()); }
  [[nodiscard]] std::string LocalJson() const override { return LocalJsonOf(job()); }
  [[nodiscard]] std::string Title() const override;
  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override;
  [[nodiscard]] std::int64_t DeclaredRows() const override { return job().records(); }
  [[nodiscard]] const RecordSchema* Records() const override { return OnDeposits() ? &job() : nullptr; }
  [[nodiscard]] std::optional<CountedColumn> Counted() const override {
    if (OnDeposits()) return {};
    return CountedColumn{.name = job().column.column, .values = job().column.values};
  }
  void TakeRecordsOf(SharedRecords& records) override { SetDeposits(records); }
  [[nodiscard]] JobCost Cost() const override;
  [[nodiscard]] std::string Split(const SplitTarget& target) const override;
  std::string Load(const PartyFile& party, const std::string& party_file,
                   const Resources& resources) override;
  [[nodiscard]] JobResult Run(mpc::Context& party, Output& output) override;
  void Serve(mpc::Context& party) override;

 private:
  [[nodiscard]] bool OnDeposits() const { return job().store.on; }
  [[nodiscard]] Index values() const { return static_cast<Index>(job().column.values.size()); }
  [[nodiscard]] dp::LocalRandomiser Randomiser() const {
    return {*job().randomiser, job().column.values.size(), job().epsilon};
  }
  [[nodiscard]] GaussianTarget Target() const;
  /// The lattice of counts and noise.
  [[nodiscard]] int CountBits() const { return job().gaussian ? kCountBits : 0; }
  [[nodiscard]] RingMatrix CountsToShare(const OwnValueCounts& found) const;
  [[nodiscard]] std::optional<RingMatrix> Open(mpc::Context& party, const RingMatrix& slice,
                                               const ml::StepNoise& noise) const;
  [[nodiscard]] mpc::AdditiveShare DepositedCounts(SharedRecords::Checked& deposits) const;
  void CompareNoise(mpc::Context& party) const;
  [[nodiscard]] ml::StepNoise OwnNoise() const;
  [[nodiscard]] double Reach() const;
  [[nodiscard]] dp::CountEstimate EstimateOf(mpc::Word opened, double reach) const;
  [[nodiscard]] std::string Csv(const RingMatrix& opened) const;
  [[nodiscard]] nlohmann::ordered_json Summary() const;

  double sigma_ = 0;  ///< noise multiplier, with Gaussian noise
  RingMatrix own_{};  ///< after Load: what this machine shares, its slice of the party's counts or reports
};

std::string HistogramJob::Title() const {
  const auto how = job().randomiser ? fmt::format("each owner's reports by {}", dp::NameOf(*job().randomiser))
                   : job().gaussian
                       ? fmt::format("counted on shares, Gaussian noise, sigma {}", MultiplierText(sigma_))
                       : std::string("counted on shares, discrete Laplace noise");
  if (OnDeposits()) return fmt::format("{} classes of up to {} records, {}", values(), job().records(), how);
  return fmt::format("{} values of column \"{}\" in up to {} records, {}", job().column.values.size(),
                     job().column.column, job().records(), how);
}

GaussianTarget HistogramJob::Target() const {
  return {.coordinates = values(),
          .sensitivity = kOne,
          .epsilon = job().epsilon,
          .sigma = job().sigma,
          .delta = job().delta,
          .accountant = job().accountant,
          .insiders = job().against == ml::Adversary::kInsider};
}

std::vector<dp::RecordedEvent> HistogramJob::Events() const {
  if (job().gaussian) return {EventOf(Target(), sigma_)};
  if (job().randomiser) {
    const auto law = Randomiser().law();
    return {dp::PureReleases{.count = 1, .epsilon = law.added, .replaced = law.epsilon}};
  }
  const auto rate = dp::EpsilonBelow(*job().epsilon, "privacy.epsilon");
  (void)dp::LaplacePart(rate);
  return {dp::LaplaceCounts{.count = 1, .rate = rate.value()}};
}

JobCost HistogramJob::Cost() const {
  JobCost cost{.apart = OnDeposits() ? kSumOfRows : ""};
  const auto slice = SliceOf(values());
  if (!job().randomiser) cost.session.Add(RequireSameNoiseCost());
  cost.Add(checks().part);
  cost.session.AddUnturned(OnDeposits() ? ml::OpenSharedCountsCost(slice, job().to)
                                        : ml::OpenNoisyCountsCost(slice, job().to));
  const auto counts = static_cast<double>(values());
  const auto& rows = job().data.rows;
  const auto most = static_cast<double>(SliceOf(*std::max_element(rows.begin(), rows.end())));
  if (!job().randomiser) {
    cost.work.draws += static_cast<double>(slice);
  } else {
    cost.before = "the reports of all declared records";
    cost.before_seconds =
        kSecondsPerCoin * (job().randomiser == dp::Randomiser::kKary ? most : most * counts);
  }
  // Of deposits all three parties have shares of whole rows: features, mask bit and label.
  const double of_row =
      OnDeposits() ? kBytesOfShare * (static_cast<double>(TrainedFeatures(job())) + 1 + counts) : kBytesOfRow;
  for (std::size_t party = 0; party < net::kParties; ++party)
    cost.memory.at(party) =
        kBytesOfShare * counts + (job().store.memory
                                      ? RowMemory(job())
                                      : static_cast<double>(rows.at(OnDeposits() ? 0 : party)) * of_row);
  cost.results = AtReceivers(counts * kBytesOfALine);
  return cost;
}

std::string HistogramJob::Split(const SplitTarget& target) const {
  RequireOwnRecords(job().store, target);
  return SplitTable(job().data, job().local, target, [this](const data::DataFiles& source) {
    std::vector<int> labels;
    const auto read = data::ReadCategories(source, job().column);
    for (const auto& category : read)
      labels.push_back(static_cast<int>(category.value_or(job().column.values.size())));
    return labels;
  });
}

std::string HistogramJob::Load(const PartyFile& party, const std::string& party_file,
                               const Resources& /*resources*/) {
  if (party.data.file.empty())
    throw ConfigError(party_file + ": missing [data] file, expected this party's CSV file");
  if (rank_count() > 1) RequireNoQuery(party.data, party_file);
  const auto declared = job().data.rows.at(static_cast<std::size_t>(party.id));
  const bool alone = ranks() == nullptr;
  const auto found = alone
                         ? LoadValues(party.data, job().column, declared)
                         : LoadSharedValues(party.data, job().column, declared,
                                            party.ledger ? CompareBy::kWhole : CompareBy::kSample, *ranks());
  WarnOwner(OwnerWarnings(declared, job().column.values, found.of_party));
  // Here, and not when the peers have been met, who could tell by the time of it how many records there are.
  own_ = CountsToShare(found);
  if (!alone) own_ = ml::SliceOfSum(own_, *ranks());
  return fmt::format("{} records as the job declares them", found.of_party.records);
}

RingMatrix HistogramJob::CountsToShare(const OwnValueCounts& found) const {
  auto counts = found.own.of_values;
  if (job().randomiser) {
    const auto randomiser = Randomiser();
    auto stream = RandomStream::FromSystem();
    // A record that is not there reports like one without any of the values: so nobody learns how many there
    // are.
    std::int64_t without = found.own.records + found.absent;
    std::vector<std::int64_t> reports(counts.size());
    for (std::size_t value = 0; value < counts.size(); ++value) {
      for (std::int64_t k = 0; k < counts[value]; ++k) randomiser.Report(stream, value, reports);
      without -= counts[value];
    }
    for (; without > 0; --without) randomiser.Report(stream, std::nullopt, reports);
    counts = std::move(reports);
  }
  RingMatrix own(values(), 1);
  for (Index v = 0; v < values(); ++v)
    own(v, 0) = static_cast<mpc::Word>(counts[static_cast<std::size_t>(v)]) << CountBits();
  return own;
}

std::optional<RingMatrix> HistogramJob::Open(mpc::Context& party, const RingMatrix& slice,
                                             const ml::StepNoise& noise) const {
  return Joined(ml::OpenNoisyCounts(party, slice, noise.values(), job().to), values());
}

mpc::AdditiveShare HistogramJob::DepositedCounts(SharedRecords::Checked& deposits) const {
  auto counts = mpc::ArithShare::Zero(values(), 1);
  ForEachBlock(job(), deposits, [&](const std::vector<mpc::ArithShare>& rows) {
    counts = counts + ml::CountsOfDeposited(TrainedFeatures(job()), values(), rows);
  });
  return (mpc::Word{1} << CountBits()) * ToAdditive(counts);
}

/// Reports are drawn by whole numbers of the job: what is computed of it in floating point draws nothing
/// then.
void HistogramJob::CompareNoise(mpc::Context& party) const {
  if (!job().randomiser) RequireSameNoise(party, Events(), {}, ranks());
}

ml::StepNoise HistogramJob::OwnNoise() const {
  const Index slice = SliceOf(values());
  if (job().randomiser) return {slice, 1};
  if (job().gaussian) return ml::CountNoise(RandomStream::FromSystem(), sigma_, kOne, slice);
  return ml::LaplaceParts(RandomStream::FromSystem(), dp::EpsilonBelow(*job().epsilon), slice);
}

/// How far a central count's interval reaches to either side.
double HistogramJob::Reach() const {
  if (job().gaussian) return dp::NormalDeviations(job().confidence) * sigma_ * kAllOverTwo;
  return static_cast<double>(dp::LaplacePartsQuantile(dp::EpsilonBelow(*job().epsilon), 3, job().confidence));
}

/// Of a value's count or reports as opened; `reach` is Reach(), which for Laplace noise is not cheap.
dp::CountEstimate HistogramJob::EstimateOf(mpc::Word opened, double reach) const {
  const auto signed_value = mpc::Signed(opened);
  if (job().randomiser)
    return dp::Debias(Randomiser().law(), job().records(), signed_value, job().confidence);
  const double count = std::ldexp(static_cast<double>(signed_value), -CountBits());
  return {.count = count, .low = count - reach, .high = count + reach};
}

std::string HistogramJob::Csv(const RingMatrix& opened) const {
  std::string text = "value,count,low,high\n";
  const double reach = job().randomiser ? 0 : Reach();
  for (Index v = 0; v < values(); ++v) {
    const auto estimate = EstimateOf(opened(v, 0), reach);
    text +=
        fmt::format("{},{:.10g},{},{}\n", data::CsvField(job().column.values[static_cast<std::size_t>(v)]),
                    estimate.count, DigitsBelow(estimate.low, 10), DigitsAbove(estimate.high, 10));
  }
  return text;
}

nlohmann::ordered_json HistogramJob::Summary() const {
  nlohmann::ordered_json summary{{"mode", job().randomiser ? "local" : "central"},
                                 {"values", job().column.values.size()},
                                 {"records_declared", job().records()},
                                 {"confidence", job().confidence}};
  if (job().randomiser) {
    const auto law = Randomiser().law();
    summary["randomiser"] = dp::NameOf(*job().randomiser);
    summary["p"] = law.p;
    summary["q"] = law.q;
    summary["epsilon_replaced"] = law.epsilon;
  } else {
    summary["noise"] = job().gaussian ? "gaussian" : "laplace";
    if (job().gaussian) summary["sigma"] = sigma_;
  }
  return summary;
}

JobResult HistogramJob::Run(mpc::Context& party, Output& output) {
  CompareNoise(party);
  SharedRecords::Checked deposits;
  if (OnDeposits()) deposits = TakeDeposits(party, Deposits(), output, Events());
  output.Reserve(Events(), {});
  const auto noise = OwnNoise();
  JobResult result{.summary = Summary()};
  std::optional<RingMatrix> opened;
  if (OnDeposits()) {
    const auto counts = DepositedCounts(deposits);
    output.Settle(Events());
    opened = ml::OpenNoisyCounts(party, counts, noise.values(), job().to);
    result.summary["deposits"] = std::move(deposits.summary);
  } else {
    output.Settle(Events());
    WaitForSettled();
    opened = Open(party, own_, noise);
  }
  if (opened) result.files.push_back({.name = "histogram.csv", .text = Csv(*opened)});
  return result;
}

void HistogramJob::Serve(mpc::Context& party) {
  CompareNoise(party);
  const auto noise = OwnNoise();
  WaitForSettled();
  (void)Open(party, own_, noise);
}

std::unique_ptr<Job> ReadHistogram(const toml::table& root, const std::string& file) {
  return std::make_unique<HistogramJob>(ReadHistogramSettings(root, file));
}

}  // namespace

const JobType kHistogramType{"histogram", ReadHistogram, SchemaOf<HistogramSettings>};

}  // namespace trefoil::jobs
