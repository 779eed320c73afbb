#include "protocols/functions/piecewise_polynomial.h"

#include <cmath>

#include "base/error.h"
#include "tests/reference/plain_polynomial.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

std::int64_t Fixed(double value) { return std::llround(std::ldexp(value, 16)); }

Outcome RunFunction(const PiecewisePolynomial& function, const RingMatrix& x) {
  return RunOn(
      Seed{1}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [&](mpc::Context& party, const mpc::ArithShare& share) { return Evaluate(party, function, share); });
}

/// Clamps to [-1, 2]: three linear pieces.
PiecewisePolynomial Clamp() {
  return {.thresholds = {Fixed(-1), Fixed(2)},
          .coefficients = {{Fixed(-1), 0}, {0, Fixed(1)}, {Fixed(2), 0}},
          .input_bits = 16,
          .last_shift = 16,
          .width = 40};
}

TEST(Evaluate, TakesThePieceEachElementLiesInAtTheDeclaredCost) {
  const RingMatrix x =
      mpc::Stacked(RandomSigned(1, 2000, 1, 19),
                   Column({Fixed(-1), Fixed(-1) - 1, Fixed(-1) + 1, Fixed(2), Fixed(2) - 1, 0}));
  const Outcome outcome = RunFunction(Clamp(), x);
  const mpc::Cost declared = EvaluateCost(Clamp(), x.size());
  EXPECT_EQ(outcome.cost, Figures(declared));
  EXPECT_LE(declared.rounds(), 12);
  for (Index k = 0; k < x.size(); ++k) {
    const std::int64_t expected = std::clamp(mpc::Signed(x(k, 0)), Fixed(-1), Fixed(2));
    ASSERT_EQ(mpc::Signed(outcome.value(k, 0)),
              expected);  // all coefficients are exact, so no coin is thrown
  }
}

/// x^2 - x + 1/2 below zero, x^2 + 2 above, coefficients at scale 20.
PiecewisePolynomial TwoQuadratics() {
  const auto c = [](double value) { return std::llround(std::ldexp(value, 20)); };
  return {.thresholds = {0},
          .coefficients = {{c(0.5), c(-1), c(1)}, {c(2), c(0), c(1)}},
          .input_bits = 16,
          .last_shift = 20,
          .width = 40};
}

TEST(Evaluate, UsesHornersRuleForHigherDegrees) {
  const PiecewisePolynomial function = TwoQuadratics();
  const RingMatrix x = RandomSigned(2, 1500, 1, 18);
  const Outcome outcome = RunFunction(function, x);
  EXPECT_EQ(outcome.cost, Figures(EvaluateCost(function, x.size())));
  for (Index k = 0; k < x.size(); ++k) {
    const double v = mpc::Decode(x(k, 0), 16);
    const double expected = v < 0 ? v * v - v + 0.5 : v * v + 2;
    // One unit of 2^-20 from the inner truncation, times |x| < 4, and one of 2^-16 from the last.
    ASSERT_NEAR(mpc::Decode(outcome.value(k, 0), 16), expected,
                std::ldexp(1.0, -16) + 4 * std::ldexp(1.0, -20))
        << v;
  }
}

TEST(Evaluate, IsPlainIntegerArithmeticWhenExactAtTheDeclaredCost) {
  PiecewisePolynomial function = TwoQuadratics();
  function.rounding = Rounding::kExact;
  const RingMatrix x = mpc::Stacked(RandomSigned(2, 1500, 1, 18), Column({0, 1, -1, 77777}));
  const Outcome outcome = RunFunction(function, x);
  EXPECT_EQ(outcome.cost, Figures(EvaluateCost(function, x.size())));
  for (Index k = 0; k < x.size(); ++k) {
    ASSERT_EQ(mpc::Signed(outcome.value(k, 0)),
              reference::EvaluateRoundingDown(function, mpc::Signed(x(k, 0))));
  }
}

TEST(EvaluateCost, KeepsTheDesignsBudgetForLinearPieces) {
  for (const std::size_t pieces : {2U, 8U, 30U}) {
    PiecewisePolynomial function{
        .thresholds = {}, .coefficients = {{0, 0}}, .input_bits = 16, .last_shift = 16, .width = 64};
    for (std::size_t k = 1; k < pieces; ++k) {
      function.thresholds.push_back(static_cast<std::int64_t>(k));
      function.coefficients.push_back({0, 0});
    }
    const mpc::Cost cost = EvaluateCost(function, 1000);
    EXPECT_LE(static_cast<double>(cost.bytes_of_all()), 8000 * (17.5 * static_cast<double>(pieces) + 8));
    EXPECT_LE(cost.rounds(), 12);
  }
}

TEST(Evaluate, RefusesMalformedTablesBeforeSending) {
  const auto sent = RunParties(Seed{2}, [](mpc::Context& party) {
    const auto x = InsecureDeal(party, RingMatrix::Zero(3, 1));
    PiecewisePolynomial unsorted = Clamp();
    std::swap(unsorted.thresholds[0], unsorted.thresholds[1]);
    EXPECT_THROW((void)Evaluate(party, unsorted, x), ContractError);
    PiecewisePolynomial short_piece = Clamp();
    short_piece.coefficients[1] = {1};
    EXPECT_THROW((void)Evaluate(party, short_piece, x), ContractError);
    PiecewisePolynomial too_few = Clamp();
    too_few.coefficients.pop_back();
    EXPECT_THROW((void)Evaluate(party, too_few, x), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
