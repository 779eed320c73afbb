#include "protocols/threshold_comparison.h"

#include "base/error.h"
#include "protocols/bit_conversion.h"
#include "protocols/piecewise_polynomial.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(BelowThresholds, IsRightForEveryValueOfASmallRing) {
  constexpr int kWidth = 8;
  std::vector<std::int64_t> values;
  for (std::int64_t v = -63; v <= 63; ++v) values.push_back(v);
  const RingMatrix x = Column(values);
  const Outcome outcome = RunOn(
      Seed{1}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return BelowThresholds(party, share, values, kWidth);
      });
  EXPECT_EQ(outcome.cost, Figures(BelowThresholdsCost(x.size(), values.size(), kWidth)));
  EXPECT_EQ(outcome.cost.rounds, 2);
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      ASSERT_EQ(outcome.value(static_cast<Index>(k), static_cast<Index>(j)), values[j] < values[k] ? 1U : 0U)
          << values[j] << " < " << values[k];
    }
  }
}

class WidthTest : public testing::TestWithParam<int> {};

TEST_P(WidthTest, AgreesWithTheCarryTreeOnRandomAndEdgeValues) {
  const int width = GetParam();
  RingMatrix x = RandomSigned(static_cast<std::uint64_t>(width), 300, 1, width - 3);
  const std::int64_t most = (std::int64_t{1} << (width - 2)) - 1;
  x.topRows(6) = Column({0, 1, -1, most, -most, most / 2});
  const std::vector<std::int64_t> thresholds{
      -most, -1, 0, 1, mpc::Signed(x(100, 0)), mpc::Signed(x(101, 0)) + 1, most};
  const Outcome outcome = RunOn(
      Seed{2}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return BelowThresholds(party, share, thresholds, width);
      });
  EXPECT_EQ(outcome.cost, Figures(BelowThresholdsCost(x.size(), thresholds.size(), width)));
  const Outcome tree = RunOn(
      Seed{3}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return BitToArith(party, LessThanZero(party, share, width));
      });
  EXPECT_TRUE((outcome.value.row(2) == tree.value.row(0)).all());
  for (std::size_t k = 0; k < thresholds.size(); ++k) {
    for (Index j = 0; j < x.size(); ++j) {
      ASSERT_EQ(outcome.value(static_cast<Index>(k), j), mpc::Signed(x(j, 0)) < thresholds[k] ? 1U : 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, WidthTest, testing::Values(9, 26, 33, 54, 63, 64));

TEST(LookUp, GivesTheSameRowsInBothForms) {
  const PiecewisePolynomial table{.thresholds = {-500, 0, 77},
                                  .coefficients = {{1, 10}, {2, 20}, {3, 30}, {4, 40}},
                                  .input_bits = 0,
                                  .last_shift = 1,
                                  .width = 40};
  const RingMatrix x = mpc::Stacked(RandomSigned(4, 200, 1, 12), Column({-501, -500, -1, 0, 76, 77}));
  const auto rows = [&](Form form) {
    const Outcome outcome = RunOn(
        Seed{4}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
        [&](mpc::Context& party, const mpc::ArithShare& share) { return LookUp(party, table, share, form); });
    EXPECT_EQ(outcome.cost, Figures(LookUpCost(table, x.size(), form)));
    return outcome.value;
  };
  const RingMatrix bulk = rows(Form::kBulk);
  EXPECT_TRUE((bulk == rows(Form::kLatency)).all());
  for (Index j = 0; j < x.size(); ++j) {
    const std::int64_t v = mpc::Signed(x(j, 0));
    const mpc::Word piece = v < -500 ? 1 : v < 0 ? 2 : v < 77 ? 3 : 4;
    ASSERT_EQ(bulk(0, j), piece);
    ASSERT_EQ(bulk(1, j), 10 * piece);
  }
}

TEST(BelowThresholds, RefusesAWidthOutOfRangeBeforeSending) {
  const auto sent = RunParties(Seed{5}, [](mpc::Context& party) {
    const auto x = InsecureDeal(party, RingMatrix::Zero(3, 1));
    EXPECT_THROW((void)BelowThresholds(party, x, {0}, 65), ContractError);
    EXPECT_THROW((void)BelowThresholds(party, x, {0}, 1), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
