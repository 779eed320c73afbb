#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/secrets/random.h"
#include "dp/mechanisms/geometric.h"

namespace trefoil::dp {

/// How an owner perturbs a record's value before anything of it leaves the owner. A report is a set of the
/// declared values; a record that has none of them, or that is missing, takes part as well.
enum class Randomiser {
  kTwoCoins,  ///< one value, yes or no: the truth on heads, else a second coin. Epsilon ln 3 (Warner 1965)
  kKary,      ///< one of the values or none of them, k = values + 1: the truth, or any other alike
  // Of the unary ones a record with another value differs in two bits, one without any in one.
  kSymmetricUnary,  ///< each value's bit by itself, a one and a zero alike with epsilon / 2 (RAPPOR)
  kOptimisedUnary,  ///< each value's bit by itself, a one by a fair coin, a zero with all of epsilon
};

/// "two-coins", "k-ary", "symmetric-unary" or "optimised-unary".
[[nodiscard]] std::string_view NameOf(Randomiser randomiser);

/// What a report says of one value: that value with probability p where the record has it, else with
/// probability q.
struct ReportLaw {
  double p = 0;
  double q = 0;
  double epsilon = 0;  ///< of one report against everybody: one record replaced by another
  double added = 0;    ///< one record added or removed: its report for that of one without a value
};

/// A randomiser of reports over `values` values.
class LocalRandomiser {
 public:
  /// Two coins have an epsilon of their own, and one value; the others need one, which is rounded as
  /// EpsilonBelow. Throws ConfigError on the epsilon; ContractError without values, or with several of them
  /// and two coins.
  LocalRandomiser(Randomiser randomiser, std::size_t values, std::optional<double> epsilon);

  /// Source: Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency estimation"
  /// (2017), section 4: direct encoding, and symmetric and optimised unary encoding.
  [[nodiscard]] const ReportLaw& law() const { return law_; }

  /// Draws the report of one record, whose value is number `value`, or none of them, and adds 1 to the count
  /// of every value in it. Exact: the probabilities are those of law() with exp(epsilon) exactly, integer
  /// arithmetic only. Not constant-time. Pre: as many counts as values.
  void Report(RandomStream& stream, std::optional<std::size_t> value, std::span<std::int64_t> counts) const;

 private:
  [[nodiscard]] bool ReportsBit(RandomStream& stream, bool bit) const;

  Randomiser randomiser_;
  std::size_t values_;
  Ratio epsilon_;
  ReportLaw law_;
};

/// An unbiased estimate of how many records have a value, with the ends of a confidence interval: rounding to
/// 0 or to the number of records is left to the reader.
struct CountEstimate {
  double count = 0;
  double low = 0;
  double high = 0;
};

/// What `observed` of `reports` independent reports with a value say of how many records have it:
/// (observed - reports q) / (p - q), with the normal interval of the variance at that estimate. Missing
/// records, which report as well, do not count for any value. Pre: 0 < confidence < 1. Source:
/// Wang et al. (2017), equations 1 and 2.
[[nodiscard]] CountEstimate Debias(const ReportLaw& law, std::int64_t reports, std::int64_t observed,
                                   double confidence);

/// The number of deviations that hold a normal number with this probability, on both sides.
[[nodiscard]] double NormalDeviations(double confidence);

}  // namespace trefoil::dp
