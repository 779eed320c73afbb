#include "jobs/histogram/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "dp/mechanisms/laplace_part.h"
#include "jobs/config/common_fields.h"

namespace trefoil::jobs {
namespace {

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

void ColumnNamesField(FieldVisitor& v, HistogramSettings& s) {
  v.When({!s.data.header, "`data.header = false`", "found names, expected none: the file's header has them"},
         [&] { v("columns", s.column.columns, Texts{}, "The names of the file's columns in order."); });
}

/// What is counted of deposits are classes, and what is promised is for a record.
void CheckDeposits(const HistogramSettings& s, const Section& document) {
  if (!s.store.on) return;
  const auto data = document.Table("data");
  if (s.data.target) data.Fail("target", "found it, expected data.classes, which a histogram counts");
  const bool key = std::any_of(s.data.columns.begin(), s.data.columns.end(),
                               [](const auto& one) { return one.kind == data::ColumnKind::kKey; });
  if (key)
    data.Fail(
        "column",
        "found one of kind \"key\", for which a job of this type has no use: its promise is for a record");
}

void CheckCounted(const HistogramSettings& s, const Section& table) {
  if (s.store.on) return;
  const auto& values = s.column.values;
  if (values.empty() || values.size() > kMaxValues ||
      std::set<std::string>(values.begin(), values.end()).size() != values.size())
    table.Refuse("values", "1 to " + std::to_string(kMaxValues) + " different texts");
  if (s.two_coins() && values.size() != 1)
    table.Fail("values", "found several, expected one: two coins answer yes or no");
  const auto& names = s.column.columns;
  if (!s.data.header && std::count(names.begin(), names.end(), s.column.column) != 1)
    table.Refuse("column", "one of data.columns, which has it once");
}

void CountFields(FieldVisitor& v, HistogramSettings& s) {
  v.When({!s.store.on, "data.source \"files\"",
          "found it with data.source \"store\", whose jobs count the classes of the records' label"},
         [&] {
           v("column", s.column.column, Text{}, "The column whose values are counted.");
           v("values", s.column.values, Texts{},
             "1 … 10,000 different ones, public. A record with another value, or none, counts for none of "
             "them.");
         });
  v("confidence", s.confidence, Interval{.above = 0.0, .most = dp::kMaxPartsLevel}, Default(0.95),
    "Of each value's interval by itself.");
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
  v.Check([&](const Section& table) {
    if (local && s.store.on)
      table.Refuse("mode",
                   "\"central\" with data.source \"store\": owners who deposited records are not there to "
                   "perturb them");
    CheckCounted(s, table);
  });
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
    "Required with Gaussian noise; with the others `epsilon` holds at δ = 0. Every ε that is said is at "
    "this.");
  v.When(gaussian, [&] {
    v("against", s.against, Adversaries(), Default(ml::Adversary::kInsider), "Whose ε the target is.");
  });
}

/// What lines of histogram.csv are called: the label's values, or where a format has none the numbers of the
/// classes.
std::vector<std::string> ClassNames(const data::DataSpec& data) {
  if (!data.label.values.empty()) return data.label.values;
  std::vector<std::string> names;
  for (int k = 0; k < data.classes; ++k) names.push_back(std::to_string(k));
  return names;
}

}  // namespace

void Fields(FieldVisitor& v, HistogramSettings& s) {
  TypeFields(v, "histogram");
  DepositsOrTableFields(v, s, 16, [&] { ColumnNamesField(v, s); });
  v.Check([&](const Section& document) { CheckDeposits(s, document); });
  v.Table("histogram", "What is counted, and how.", [&] { CountFields(v, s); });
  v.Table("privacy", "What the counts may tell.", [&] { PrivacyFields(v, s); });
  ReleaseFields(v, "Who gets the counts.", s.to, false);
  v.Table("local", "How `local` cuts the data; `sorted` by the counted value. Not hashed.", s.local);
}

HistogramSettings ReadHistogramSettings(const toml::table& root, const std::string& file) {
  HistogramSettings job;
  job.type = "histogram";
  ReadFields(root, file, job);
  job.column.header = job.data.header;
  if (job.store.on) job.column.values = ClassNames(job.data);
  return job;
}

}  // namespace trefoil::jobs
