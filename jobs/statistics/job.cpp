#include "jobs/statistics/job.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "jobs/config/at_place.h"
#include "jobs/config/common_fields.h"
#include "jobs/deposited_records.h"
#include "jobs/deposited_vectors.h"
#include "jobs/job_of.h"
#include "jobs/records/local_data.h"
#include "jobs/records/owner_warnings.h"
#include "jobs/same_noise.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statistics/own_sum.h"
#include "jobs/statistics/result_files.h"
#include "jobs/statistics/settings.h"
#include "ml/noise/noisy_sum.h"
#include "ml/on_shares/correct_counts.h"

namespace trefoil::jobs {
namespace {

constexpr double kBytesOfAResult = 60;  // of a result: names and numbers

std::optional<RecordSchema> DepositsOfJob(const StatisticsSettings& job) {
  if (!job.store.on) return {};
  auto records = VectorsOf(job);
  records.name = job.name;
  records.data.rows = job.data.rows;
  records.store = job.store;
  return records;
}

class StatisticsJob : public JobOf<StatisticsSettings> {
 public:
  explicit StatisticsJob(StatisticsSettings job)
      : JobOf(std::move(job)),
        deposited_(DepositsOfJob(this->job())),
        layout_(deposited_ ? DepositedLayoutOf(this->job()) : LayoutOf(this->job())),
        sigma_(SigmaOf(Target())) {
    // Refuses memory for too few rows, and noise that is too wide for the sampler. Sums fit the ring,
    // whatever the job: 3 * 10^9 records of 2^30, and 40 deviations of such noise, are below 2^63.
    if (deposited_) (void)BlockRows(*deposited_);
    (void)dp::DiscreteGaussian(ml::CountVariance(sigma_, Sensitivity()));
  }

  [[nodiscard]] const char* type() const override { return "statistics"; }
  [[nodiscard]] std::string Json() const override { return HashedJson(job()); }
  [[nodiscard]] std::string LocalJson() const override { return LocalJsonOf(job()); }
  [[nodiscard]] std::string Title() const override;
  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override { return {EventOf(Target(), sigma_)}; }
  [[nodiscard]] std::vector<std::string> Warnings() const override;
  [[nodiscard]] std::int64_t DeclaredRows() const override { return job().records(); }
  [[nodiscard]] const RecordSchema* Records() const override { return deposited_ ? &*deposited_ : nullptr; }
  void TakeRecordsOf(SharedRecords& records) override { SetDeposits(records); }
  [[nodiscard]] JobCost Cost() const override;
  [[nodiscard]] std::string Split(const SplitTarget& target) const override;
  std::string Load(const PartyFile& party, const std::string& party_file,
                   const Resources& resources) override;
  [[nodiscard]] JobResult Run(mpc::Context& party, Output& output) override;
  [[nodiscard]] ShownResults Shown(const std::filesystem::path& folder) const override {
    return ShownStatistics(job(), layout_, folder);
  }

 private:
  /// In units of the lattice.
  [[nodiscard]] std::uint64_t Sensitivity() const {
    return deposited_ ? SensitivityOfDeposits(*deposited_) : kStatisticsNorm;
  }
  [[nodiscard]] GaussianTarget Target() const { return TargetOf(job(), layout_.size, Sensitivity()); }
  [[nodiscard]] nlohmann::ordered_json Summary() const;

  std::optional<RecordSchema> deposited_;  ///< what owners deposit, where that is what the job is of
  StatisticsLayout layout_;
  double sigma_;         ///< noise multiplier
  mpc::RingMatrix own_;  ///< what this party's records add, after Load
};

std::string StatisticsJob::Title() const {
  return fmt::format(
      "moments of {} columns, quantiles of {}, {} correlations and {} tables of up to {} records, sigma {}",
      layout_.moments.size(), layout_.quantiles.size(), layout_.correlations.size(), layout_.tables.size(),
      job().records(), MultiplierText(sigma_));
}

std::vector<std::string> StatisticsJob::Warnings() const {
  if (!deposited_) return {};
  return {fmt::format(
      "nobody checks that deposited vectors are some record's: an owner can move one of these numbers by up "
      "to {} records with each row of its capacity; no other owner's epsilon is less good for it",
      BoundText(LargestWeightOf(layout_)))};
}

JobCost StatisticsJob::Cost() const {
  const auto numbers = static_cast<double>(layout_.size);
  JobCost cost{.apart = deposited_ ? kSumOfRows : ""};
  cost.session.Add(RequireSameNoiseCost());
  cost.Add(checks().part);
  cost.session.AddUnturned(ml::NoisySumCost(layout_.size, job().to));
  cost.work.draws += numbers;
  cost.work.lines += numbers;
  const auto features = static_cast<double>(RecordsOf(job()).features);
  for (std::size_t party = 0; party < net::kParties; ++party) {
    const double records = deposited_
                               ? MemoryOfDeposits(*deposited_)
                               : static_cast<double>(job().data.rows.at(party)) * features * sizeof(float);
    // Records; the sum, two noises that are drawn ahead and shares of it; what was opened as numbers and as
    // files.
    cost.memory.at(party) =
        records + (4 * sizeof(mpc::Word) + 2 * kBytesOfShare + 2 * kBytesOfAResult) * numbers;
  }
  cost.results = AtReceivers(kBytesOfAResult * numbers);
  return cost;
}

std::string StatisticsJob::Split(const SplitTarget& target) const {
  RequireOwnRecords(job().store, target);
  return SplitTable(job().data, job().local, target, [this](const data::DataFiles& source) {
    return std::vector<int>(static_cast<std::size_t>(SumStatistics(job(), layout_, source).rows));
  });
}

std::string StatisticsJob::Load(const PartyFile& party, const std::string& party_file,
                                const Resources& /*resources*/) {
  if (party.data.file.empty())
    throw ConfigError(party_file + ": missing [data] file, expected this party's table");
  const auto declared = job().data.rows.at(static_cast<std::size_t>(party.id));
  auto own = SumStatistics(job(), layout_, party.data, declared);
  own_ = std::move(own.sum);
  auto warnings = RowsWarning(declared, own.rows);
  warnings.insert(warnings.end(), own.warnings.begin(), own.warnings.end());
  WarnOwner(std::move(warnings));
  return fmt::format(
      "{} records as the job declares them{}", own.rows,
      own.beyond == 0 ? "" : fmt::format(", {} numbers beyond low or high count as these", own.beyond));
}

nlohmann::ordered_json StatisticsJob::Summary() const {
  nlohmann::ordered_json summary{
      {"numbers", layout_.size},
      {"records_declared", job().records()},
      {"sigma", sigma_},
      {"sensitivity", std::ldexp(static_cast<double>(Sensitivity()), -layout_.bits)}};
  const OfEachStatistic<std::size_t> items{layout_.moments.empty() ? 0U : 1U, layout_.moments.size(),
                                           layout_.quantiles.size(), layout_.correlations.size(),
                                           layout_.tables.size()};
  auto deviations = nlohmann::ordered_json::object();
  for (const auto statistic : kStatistics) {
    if (items.at(static_cast<std::size_t>(statistic)) > 0)
      deviations[fmt::format("{}_deviation", NameOf(statistic))] = NoiseOf(layout_, statistic, sigma_);
  }
  summary["noise"] = deviations;
  return summary;
}

JobResult StatisticsJob::Run(mpc::Context& party, Output& output) {
  RequireSameNoise(party, Events(), {Sensitivity()});
  SharedRecords::Checked deposits;
  if (deposited_) deposits = TakeDeposits(party, Deposits(), output, Events());
  output.Reserve(Events(), {});
  mpc::AdditiveShare sum;
  if (deposited_) sum = SumOfDeposits(*deposited_, deposits);
  ml::NoisySums sums(
      {.coordinates = layout_.size, .sigma = sigma_, .sensitivity = Sensitivity(), .to = job().to},
      RandomStream::FromSystem());
  output.Settle(Events());
  JobResult result{.summary = Summary()};
  if (deposited_) result.summary["deposits"] = std::move(deposits.summary);
  if (const auto opened = deposited_ ? sums.Next(party, sum) : sums.Next(party, own_))
    result.files = FilesOf(job(), layout_, EstimatesOf(job(), layout_, *opened, sigma_));
  return result;
}

std::unique_ptr<Job> ReadStatistics(const toml::table& root, const std::string& file) {
  StatisticsSettings job;
  ReadFields(root, file, job);
  return AtPlace(file, [&] { return std::make_unique<StatisticsJob>(std::move(job)); });
}

}  // namespace

const JobType kStatisticsType{"statistics", ReadStatistics, SchemaOf<StatisticsSettings>};

}  // namespace trefoil::jobs
