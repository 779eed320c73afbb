#include "ml/on_deposits/deposited_sum.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kAdded = 3;

/// Any words: mask bits and labels must not show in the sum.
RingMatrix AnyRows(std::uint64_t seed, Index height) { return RandomSigned(seed, height, kAdded + 2, 63); }

/// What the three parties open of the sum; nothing is sent before.
std::array<MeasuredPart<RingMatrix>, 3> Summed(const std::vector<RingMatrix>& deposits) {
  return RunParties(Seed{3}, [&](mpc::Context& party) {
    std::vector<mpc::ArithShare> shares;
    for (const auto& rows : deposits) shares.push_back(InsecureDeal(party, rows));
    MeasuredPart<RingMatrix> part;
    mpc::AdditiveShare sum;
    part.measured = protocols::Measure(party, [&] { sum = SumOfDeposited(kAdded, shares); });
    part.value = protocols::Reveal(party, protocols::Reshare(party, sum), protocols::ReleaseReason::kTest);
    return part;
  });
}

TEST(DepositedSum, IsOfTheFeaturesOfAllRowsAndSendsNothing) {
  const std::vector<RingMatrix> deposits{AnyRows(1, 64), AnyRows(2, 1), RingMatrix::Zero(9, kAdded + 2),
                                         AnyRows(4, 7)};
  RingMatrix expected = RingMatrix::Zero(kAdded, 1);
  for (const auto& rows : deposits)
    for (Index row = 0; row < rows.rows(); ++row)
      for (Index k = 0; k < kAdded; ++k) expected(k, 0) += rows(row, k);
  const auto parts = Summed(deposits);
  for (const auto& part : parts) EXPECT_TRUE((part.value == expected).all());
  EXPECT_EQ(Figures(parts), Figures(mpc::Cost()));
}

TEST(DepositedSum, OfNothingIsZeros) {
  EXPECT_TRUE((Summed({})[0].value == RingMatrix::Zero(kAdded, 1)).all());
}

TEST(DepositedSum, RefusesRowsOfFeaturesAlone) {
  std::vector<mpc::ArithShare> rows{mpc::ArithShare::Zero(2, kAdded)};
  EXPECT_THROW((void)SumOfDeposited(kAdded, rows), ContractError);
}

}  // namespace
}  // namespace trefoil::ml
