#include "jobs/histogram/job.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/outward_text.h"
#include "data/columns/category_column.h"
#include "data/formats/csv.h"
#include "dp/mechanisms/laplace_part.h"
#include "dp/mechanisms/local_randomiser.h"
#include "jobs/config/common_fields.h"
#include "jobs/gaussian_target.h"
#include "jobs/job_of.h"
#include "jobs/records/local_data.h"
#include "jobs/records/owner_warnings.h"
#include "jobs/statement/bound_text.h"
#include "ml/noise/noisy_counts.h"
#include "ml/on_shares/correct_counts.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;
using mpc::Index;
using mpc::RingMatrix;

// Gaussian noise is drawn on a lattice of 2^-16, so that it may be small beside one record.
constexpr int kCountBits = 16;
constexpr double kBytesOfALine = 40;  // of histogram.csv: a value and three numbers
constexpr std::uint64_t kOne = std::uint64_t{1} << kCountBits;

/// A job of type "histogram", checked, with every default filled in. Which keys it has depends on mode and
/// noise.
struct HistogramSettings {
  std::string name;
  std::string data_name;
  std::array<std::int64_t, 3> rows{};  ///< public, declared sizes
  data::CategoryColumn column;
  std::optional<dp::Randomiser> randomiser{};  ///< mode "local"; none: "central"
  bool gaussian = false;                       ///< central: else discrete Laplace
  double confidence = 0.95;
  std::optional<double>
      epsilon{};  ///< all but two coins; exactly one of epsilon and sigma with Gaussian noise
  std::optional<double> sigma{};
  double delta = 0;
  dp::AccountantKind accountant = dp::AccountantKind::kPld;
  ml::Adversary against = ml::Adversary::kInsider;  ///< Gaussian: whose epsilon the target is
  std::vector<int> to{0, 1, 2};
  LocalSpec local;

  [[nodiscard]] std::int64_t records() const { return rows[0] + rows[1] + rows[2]; }
  [[nodiscard]] bool two_coins() const { return randomiser == dp::Randomiser::kTwoCoins; }
};

constexpr std::size_t kMaxValues = 10'000;
// Pure epsilons do not depend on it.
constexpr double kDeltaOfPure = 1e-9;

const OneOf<dp::Randomiser>& Randomisers() {
  using dp::Randomiser;
  static const OneOf<Randomiser> randomisers{{Randomiser::kTwoCoins, "two-coins"},
                                             {Randomiser::kKary, "k-ary"},
                                             {Randomiser::kSymmetricUnary, "symmetric-unary"},
                                             {Randomiser::kOptimisedUnary, "optimised-unary"}};
  return randomisers;
}

void DataFields(FieldVisitor& v, HistogramSettings& s) {
  v("name", s.data_name, Name{}, "A name; where `local` looks.");
  int csv = 0;
  v("format", csv, OneOf<int>{{0, "csv"}}, "The format of the files.");
  RowsField(v, s.rows);
  v("header", s.column.header, Flag{}, Default(true), "Whether the file's first line names its columns.");
  v.When(
      {!s.column.header, "`data.header = false`", "found names, expected none: the file's header has them"},
      [&] { v("columns", s.column.columns, Texts{}, "The names of the file's columns in order."); });
}

void CheckCounted(const HistogramSettings& s, const Section& table) {
  const auto& values = s.column.values;
  if (values.empty() || values.size() > kMaxValues ||
      std::set<std::string>(values.begin(), values.end()).size() != values.size())
    table.Refuse("values", "1 to " + std::to_string(kMaxValues) + " different texts");
  if (s.two_coins() && values.size() != 1)
    table.Fail("values", "found several, expected one: two coins answer yes or no");
  const auto& names = s.column.columns;
  if (!s.column.header && std::count(names.begin(), names.end(), s.column.column) != 1)
    table.Refuse("column", "one of data.columns, which has it once");
}

void CountFields(FieldVisitor& v, HistogramSettings& s) {
  v("column", s.column.column, Text{}, "The column whose values are counted.");
  v("values", s.column.values, Texts{},
    "1 … 10,000 different ones, public. A record with another value, or none, counts for none of them.");
  v("confidence", s.confidence, Interval{.above = 0.0, .below = 0.9991}, Default(0.95),
    "Of each value's interval by itself; at most 0.999.");
  bool local = s.randomiser.has_value();
  v("mode", local, OneOf<bool>{{false, "central"}, {true, "local"}},
    "`central`: exact counts on shares, one noise; `local`: each owner perturbs its records one by one.");
  v.When({!local, "histogram.mode \"central\""}, [&] {
    v("noise", s.gaussian, OneOf<bool>{{false, "laplace"}, {true, "gaussian"}}, Default(false),
      "`laplace`, discrete Laplace; `gaussian`, discrete Gaussian.");
  });
  v.When({local, "histogram.mode \"local\""}, [&] {
    v("randomiser", s.randomiser, Randomisers(), Required{},
      "`two-coins`: one value, yes or no; the others: any number of values.");
  });
  v.Check([&](const Section& table) { CheckCounted(s, table); });
}

void PrivacyFields(FieldVisitor& v, HistogramSettings& s) {
  AccountantField(v, s.accountant);
  if (s.gaussian) CheckOneOfEpsilonAndSigma(v);
  v.When({!s.two_coins(), "another histogram.randomiser than \"two-coins\"",
          "found a number, expected none: two coins have epsilon ln 3"},
         [&] {
           v("epsilon", s.epsilon, kEpsilons, Required{!s.gaussian},
             "Rounded down to a multiple of 2^−32; two coins have ln 3. Local: for a record replaced by "
             "another; Gaussian: the target, or `sigma`.");
         });
  const Condition gaussian{s.gaussian, "histogram.noise \"gaussian\""};
  v.When(gaussian, [&] {
    v("sigma", s.sigma, kSigmas,
      "The noise multiplier of any two parties' noise together; one record changes one count by 1.");
  });
  v("delta", s.delta, kDeltas, Default(kDeltaOfPure).Unless(s.gaussian),
    "Required with Gaussian noise; with the others ε holds at δ = 0, and an outsider's of Laplace noise is "
    "less at this.");
  v.When(gaussian, [&] {
    v("against", s.against, Adversaries(), Default(ml::Adversary::kInsider), "Whose ε the target is.");
  });
}

void Fields(FieldVisitor& v, HistogramSettings& s) {
  HeaderFields(v, "histogram", s.name);
  v.Table("data", "The owners' records.", [&] { DataFields(v, s); });
  v.Table("histogram", "What is counted, and how.", [&] { CountFields(v, s); });
  v.Table("privacy", "What the counts may tell.", [&] { PrivacyFields(v, s); });
  ReleaseFields(v, "Who gets the counts.", s.to, false);
  v.Table("local", "How `local` cuts the data; `sorted` by the counted value. Not hashed.", s.local);
}

class HistogramJob : public JobOf<HistogramSettings> {
 public:
  explicit HistogramJob(HistogramSettings job) : JobOf(std::move(job)) {
    if (this->job().gaussian) sigma_ = SigmaOf(Target());
  }

  [[nodiscard]] const char* type() const override { return "histogram"; }
  [[nodiscard]] std::string Json() const override { return HashedJson(job()); }
  [[nodiscard]] std::string LocalJson() const override { return LocalJsonOf(job()); }
  [[nodiscard]] std::string Title() const override;
  [[nodiscard]] std::vector<dp::RecordedEvent> Events() const override;
  [[nodiscard]] std::int64_t DeclaredRows() const override { return job().records(); }
  [[nodiscard]] JobCost Cost() const override;
  [[nodiscard]] std::string Split(const SplitTarget& target) const override;
  std::string Load(const PartyFile& party, const std::string& party_file,
                   const Resources& resources) override;
  [[nodiscard]] JobResult Run(mpc::Context& party, Output& output) override;

 private:
  [[nodiscard]] Index values() const { return static_cast<Index>(job().column.values.size()); }
  [[nodiscard]] dp::LocalRandomiser Randomiser() const {
    return {*job().randomiser, job().column.values.size(), job().epsilon};
  }
  [[nodiscard]] GaussianTarget Target() const;
  [[nodiscard]] RingMatrix OwnCounts(std::int64_t declared) const;
  [[nodiscard]] ml::StepNoise OwnNoise() const;
  [[nodiscard]] double Reach() const;
  [[nodiscard]] dp::CountEstimate EstimateOf(mpc::Word opened, double reach) const;
  [[nodiscard]] std::string Csv(const RingMatrix& opened) const;
  [[nodiscard]] nlohmann::ordered_json Summary() const;

  double sigma_ = 0;                                 ///< noise multiplier, with Gaussian noise
  std::vector<std::optional<std::size_t>> records_;  ///< this party's, after Load
};

std::string HistogramJob::Title() const {
  const auto how = job().randomiser ? fmt::format("each owner's reports by {}", dp::NameOf(*job().randomiser))
                   : job().gaussian
                       ? fmt::format("counted on shares, Gaussian noise, sigma {}", MultiplierText(sigma_))
                       : std::string("counted on shares, discrete Laplace noise");
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
  JobCost cost;
  cost.session.Add(ml::OpenNoisyCountsCost(values(), job().to));
  const auto counts = static_cast<double>(values());
  const auto most = static_cast<double>(*std::max_element(job().rows.begin(), job().rows.end()));
  if (!job().randomiser) {
    cost.work.draws = counts;
  } else {
    cost.work.coins = job().randomiser == dp::Randomiser::kKary ? most : most * counts;
  }
  for (std::size_t party = 0; party < net::kParties; ++party)
    cost.memory.at(party) = static_cast<double>(job().rows.at(party)) * sizeof(std::optional<std::size_t>) +
                            kBytesOfShare * counts;
  cost.results = AtReceivers(counts * kBytesOfALine);
  return cost;
}

std::string HistogramJob::Split(const SplitTarget& target) const {
  data::DataSpec spec;
  spec.name = job().data_name;
  spec.format = data::Format::kCsv;
  spec.rows = job().rows;
  spec.header = job().column.header;
  return DealTable(spec, job().local, target, [this](const data::DataFiles& source) {
    std::vector<int> labels;
    for (const auto& category : data::ReadCategories(source, job().column))
      labels.push_back(static_cast<int>(category.value_or(job().column.values.size())));
    return labels;
  });
}

std::string HistogramJob::Load(const PartyFile& party, const std::string& party_file,
                               const Resources& /*resources*/) {
  if (party.data.file.empty())
    throw ConfigError(party_file + ": missing [data] file, expected this party's CSV file");
  const auto declared = job().rows.at(static_cast<std::size_t>(party.id));
  records_ = data::ReadCategories(party.data, job().column, declared);
  WarnOwner(OwnerWarnings(declared, job().column.values, records_));
  return fmt::format("{} records as the job declares them", records_.size());
}

RingMatrix HistogramJob::OwnCounts(std::int64_t declared) const {
  std::vector<std::int64_t> counts(job().column.values.size());
  if (job().randomiser) {
    const auto randomiser = Randomiser();
    auto stream = RandomStream::FromSystem();
    // A record that is not there reports like one without any of the values: so nobody learns how many there
    // are.
    for (std::size_t record = 0; record < static_cast<std::size_t>(declared); ++record)
      randomiser.Report(stream, record < records_.size() ? records_[record] : std::nullopt, counts);
  } else {
    for (const auto& value : records_) {
      if (value) ++counts[*value];
    }
  }
  RingMatrix own(values(), 1);
  for (Index v = 0; v < values(); ++v)
    own(v, 0) = static_cast<mpc::Word>(counts[static_cast<std::size_t>(v)])
                << (job().gaussian ? kCountBits : 0);
  return own;
}

ml::StepNoise HistogramJob::OwnNoise() const {
  if (job().randomiser) return {values(), 1};
  if (job().gaussian) return ml::CountNoise(RandomStream::FromSystem(), sigma_, kOne, values());
  return ml::LaplaceParts(RandomStream::FromSystem(), dp::EpsilonBelow(*job().epsilon), values());
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
  const double count = std::ldexp(static_cast<double>(signed_value), job().gaussian ? -kCountBits : 0);
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
  output.Reserve(Events(), {});
  const auto own = OwnCounts(job().rows.at(static_cast<std::size_t>(party.self())));
  const auto noise = OwnNoise();
  output.Settle(Events());
  const auto opened = ml::OpenNoisyCounts(party, own, noise.values(), job().to);
  JobResult result{.summary = Summary()};
  if (opened) result.files.push_back({.name = "histogram.csv", .text = Csv(*opened)});
  return result;
}

std::unique_ptr<Job> ReadHistogram(const toml::table& root, const std::string& file) {
  HistogramSettings job;
  ReadFields(root, file, job);
  return std::make_unique<HistogramJob>(std::move(job));
}

}  // namespace

const JobType kHistogramType{"histogram", ReadHistogram, SchemaOf<HistogramSettings>};

}  // namespace trefoil::jobs
