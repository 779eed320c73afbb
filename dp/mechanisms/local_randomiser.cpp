#include "dp/mechanisms/local_randomiser.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace trefoil::dp {
namespace {

/// Among `count` things the true one with probability e^epsilon / (e^epsilon + count - 1), each other one
/// alike: any of them is proposed, and one that is not true is kept with probability exp(-epsilon).
std::uint64_t PerturbedAmong(RandomStream& stream, std::uint64_t count, std::uint64_t truth,
                             const Ratio& epsilon) {
  for (;;) {
    const auto proposed = UniformBelow(stream, count);
    if (proposed == truth || BernoulliExp(stream, epsilon.numerator, epsilon.denominator)) return proposed;
  }
}

/// ln((e^epsilon + 1) / 2), rounded up: of a bit that is 1 by a fair coin, or with probability 1 / (e^epsilon
/// + 1). The other bit's ratio, 2 e^epsilon / (e^epsilon + 1), is not above it.
double EpsilonOfOneBit(double epsilon) {
  const double exact = epsilon < 1 ? std::log1p(std::expm1(epsilon) / 2)
                                   : epsilon + std::log1p(std::exp(-epsilon)) - std::log(2.0);
  return std::min(epsilon, exact * (1 + 1e-15));
}

ReportLaw LawOf(Randomiser randomiser, std::size_t values, double epsilon) {
  const double against = std::exp(-epsilon);
  switch (randomiser) {
    case Randomiser::kTwoCoins: {
      const double three = std::nextafter(std::log(3.0), std::numeric_limits<double>::infinity());
      return {.p = 0.75, .q = 0.25, .epsilon = three, .added = three};
    }
    case Randomiser::kKary: {
      const double all = 1 + static_cast<double>(values) * against;
      return {.p = 1 / all, .q = against / all, .epsilon = epsilon, .added = epsilon};
    }
    case Randomiser::kSymmetricUnary: {
      const double root = std::exp(-epsilon / 2);
      // Of a single value all records but those with it are alike: only one bit is ever another.
      return {.p = 1 / (1 + root),
              .q = root / (1 + root),
              .epsilon = values == 1 ? epsilon / 2 : epsilon,
              .added = epsilon / 2};
    }
    case Randomiser::kOptimisedUnary: {
      const double one_bit = EpsilonOfOneBit(epsilon);
      return {.p = 0.5,
              .q = against / (1 + against),
              .epsilon = values == 1 ? one_bit : epsilon,
              .added = one_bit};
    }
  }
  throw ContractError("LawOf: unknown randomiser");
}

Ratio RateOf(Randomiser randomiser, std::optional<double> epsilon) {
  if (randomiser == Randomiser::kTwoCoins) return {};
  Require(epsilon.has_value(), "LocalRandomiser: an epsilon");
  return EpsilonBelow(*epsilon);
}

}  // namespace

std::string_view NameOf(Randomiser randomiser) {
  switch (randomiser) {
    case Randomiser::kTwoCoins:
      return "two-coins";
    case Randomiser::kKary:
      return "k-ary";
    case Randomiser::kSymmetricUnary:
      return "symmetric-unary";
    case Randomiser::kOptimisedUnary:
      return "optimised-unary";
  }
  throw ContractError("NameOf: unknown randomiser");
}

LocalRandomiser::LocalRandomiser(Randomiser randomiser, std::size_t values, std::optional<double> epsilon)
    : randomiser_(randomiser),
      values_(values),
      epsilon_(RateOf(randomiser, epsilon)),
      law_(LawOf(randomiser, values, epsilon_.value())) {
  Require(values >= 1 && (values == 1 || randomiser != Randomiser::kTwoCoins),
          "LocalRandomiser: at least one value, and one only with two coins");
}

bool LocalRandomiser::ReportsBit(RandomStream& stream, bool bit) const {
  const auto fair = [&] { return RandomBits<std::uint64_t>(stream, 1) == 1; };
  switch (randomiser_) {
    case Randomiser::kTwoCoins:
      return fair() ? bit : fair();
    case Randomiser::kSymmetricUnary:
      return PerturbedAmong(stream, 2, bit ? 1 : 0, {epsilon_.numerator, 2 * epsilon_.denominator}) == 1;
    case Randomiser::kOptimisedUnary:
      return bit ? fair() : PerturbedAmong(stream, 2, 0, epsilon_) == 1;
    case Randomiser::kKary:
      break;
  }
  throw ContractError("ReportsBit: a randomiser of bits");
}

void LocalRandomiser::Report(RandomStream& stream, std::optional<std::size_t> value,
                             std::span<std::int64_t> counts) const {
  Require(counts.size() == values_ && value.value_or(0) < values_,
          "Report: as many counts as values, one of them");
  if (randomiser_ == Randomiser::kKary) {
    const auto reported = PerturbedAmong(stream, values_ + 1, value.value_or(values_), epsilon_);
    if (reported < values_) ++counts[reported];
    return;
  }
  for (std::size_t v = 0; v < values_; ++v) counts[v] += ReportsBit(stream, value == v) ? 1 : 0;
}

double NormalDeviations(double confidence) {
  Require(confidence > 0 && confidence < 1, "NormalDeviations: a confidence above 0 and below 1");
  return std::sqrt(2.0) * boost::math::erf_inv(confidence);
}

CountEstimate Debias(const ReportLaw& law, std::int64_t reports, std::int64_t observed, double confidence) {
  const auto n = static_cast<double>(reports);
  const double count = (static_cast<double>(observed) - n * law.q) / (law.p - law.q);
  const double with = std::clamp(count, 0.0, n);
  const double variance = with * law.p * (1 - law.p) + (n - with) * law.q * (1 - law.q);
  const double reach = NormalDeviations(confidence) * std::sqrt(variance) / (law.p - law.q);
  return {.count = count, .low = count - reach, .high = count + reach};
}

}  // namespace trefoil::dp
