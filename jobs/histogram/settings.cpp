#include "jobs/histogram/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "jobs/config/common_fields.h"

namespace trefoil::jobs {
namespace {

constexpr std::size_t kMostValues = 10'000;
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
  if (values.empty() || values.size() > kMostValues ||
      std::set<std::string>(values.begin(), values.end()).size() != values.size())
    table.Refuse("values", "1 to " + std::to_string(kMostValues) + " different texts");
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
             "Rounded down to a multiple of 2^−32. Local: for a record replaced by another; Gaussian: the "
             "target, or `sigma`.");
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

}  // namespace

void Fields(FieldVisitor& v, HistogramSettings& s) {
  HeaderFields(v, "histogram", s.name);
  v.Table("data", "The owners' records.", [&] { DataFields(v, s); });
  v.Table("histogram", "What is counted, and how.", [&] { CountFields(v, s); });
  v.Table("privacy", "What the counts may tell.", [&] { PrivacyFields(v, s); });
  ReleaseFields(v, "Who gets the counts.", s.to, false);
  v.Table("local", "How `local` cuts the data; `sorted` by the counted value. Not hashed.", s.local);
}

HistogramSettings ReadHistogramSettings(const toml::table& root, const std::string& file) {
  HistogramSettings job;
  ReadFields(root, file, job);
  return job;
}

std::string HistogramJson(const HistogramSettings& job) { return HashedJson(job); }

}  // namespace trefoil::jobs
