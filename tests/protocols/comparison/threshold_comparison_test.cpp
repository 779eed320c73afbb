#include "protocols/comparison/threshold_comparison.h"

#include <array>
#include <cmath>

#include "base/error.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/functions/piecewise_polynomial.h"
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

/// Pieces 0, 1, ... between the numbers from `first` to `last`: what LookUp gives tells what was compared.
PiecewisePolynomial Staircase(std::int64_t first, std::int64_t last, int width, int dropped) {
  PiecewisePolynomial table;
  for (std::int64_t t = first; t <= last; ++t) {
    table.thresholds.push_back(t);
    table.coefficients.push_back({t - first});
  }
  table.coefficients.push_back({last - first + 1});
  table.width = width;
  table.blur.dropped = dropped;
  return table;
}

RingMatrix LookUpInLatencyForm(std::uint8_t seed, const PiecewisePolynomial& table, const RingMatrix& x) {
  const Outcome outcome = RunOn(
      Seed{seed}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return LookUp(party, table, ToAdditive(share));
      });
  EXPECT_EQ(outcome.cost, Figures(LookUpOfSumCost(table, x.size())));
  return outcome.value;
}

/// Of how many of the 64 pairs of low bits of two parts the three parts' low bits carry 0, 1 and 2 times,
/// where the number's own are `low`.
std::array<double, 3> Carries(std::int64_t low) {
  std::array<double, 3> pairs{};
  for (std::int64_t a = 0; a < 8; ++a) {
    for (std::int64_t b = 0; b < 8; ++b) {
      const std::int64_t c = (low - a - b) & 7;
      pairs.at(static_cast<std::size_t>((a + b + c - low) / 8)) += 1;
    }
  }
  return pairs;
}

// Every number of a small ring, 200 times. How often y is one and two less is that of uniform low bits of two
// parts; each sum over all numbers is within 5 standard deviations but for 6e-7 of the seeds, and what cannot
// be is not.
TEST(LookUp, ComparesTheQuotientOrUpToTwoLessWhereBitsAreDropped) {
  constexpr int kDropped = 3;
  constexpr Index kTimes = 200;
  const PiecewisePolynomial table = Staircase(-10, 10, 6, kDropped);
  std::vector<std::int64_t> values;
  for (std::int64_t v = -64; v < 64; ++v) values.push_back(v);
  const RingMatrix x = Column(values).replicate(kTimes, 1);
  const RingMatrix found = LookUpInLatencyForm(6, table, x);
  std::array<double, 3> times{};
  std::array<double, 3> expected{};
  std::array<double, 3> variance{};
  for (Index k = 0; k < x.size(); ++k) {
    const std::int64_t value = mpc::Signed(x(k, 0));
    const std::int64_t quotient = (value - (value & 7)) / 8;
    const std::int64_t less = quotient - (mpc::Signed(found(0, k)) - 11);
    const std::array<double, 3> pairs = Carries(value & 7);
    ASSERT_TRUE(less >= 0 && less <= 2 && pairs.at(static_cast<std::size_t>(less)) > 0)
        << value << ": " << less;
    times.at(static_cast<std::size_t>(less)) += 1;
    for (std::size_t carry = 0; carry < 3; ++carry) {
      const double p = pairs.at(carry) / 64;
      expected.at(carry) += p;
      variance.at(carry) += p * (1 - p);
    }
  }
  for (std::size_t carry = 0; carry < 3; ++carry)
    EXPECT_NEAR(times.at(carry), expected.at(carry), 5 * std::sqrt(variance.at(carry))) << carry;
}

TEST(LookUp, DropsBitsOfWideNumbersToo) {
  for (const int dropped : {1, 10, 44, 60}) {
    const int width = 64 - dropped;
    // Of a few units around 0 and around the largest number that the width allows.
    for (const std::int64_t at : {std::int64_t{0}, (std::int64_t{1} << (width - 2)) - 3}) {
      const PiecewisePolynomial table = Staircase(at - 2, at + 2, width, dropped);
      RingMatrix x = RandomWords(static_cast<std::uint64_t>(dropped), 300, 1);
      for (Index k = 0; k < x.size(); ++k) {
        const mpc::Word low = x(k, 0) >> (64 - dropped);
        x(k, 0) = (static_cast<mpc::Word>(at + k % 3) << dropped) + low;
      }
      const RingMatrix found = LookUpInLatencyForm(7, table, x);
      for (Index k = 0; k < x.size(); ++k) {
        const std::int64_t compared = mpc::Signed(found(0, k)) - 3;
        ASSERT_TRUE(compared <= k % 3 && compared >= k % 3 - 2) << dropped << " dropped: " << compared;
      }
    }
  }
}

/// Row k: 1 where a number is not below threshold k, of which `unread[k]` low bits are left out.
RingMatrix NotBelow(std::uint8_t seed, const RingMatrix& x, const std::vector<std::int64_t>& thresholds,
                    int width, const std::vector<int>& unread) {
  PiecewisePolynomial table;
  table.thresholds = thresholds;
  table.width = width;
  table.blur.unread = unread;
  table.coefficients.emplace_back(thresholds.size(), 0);
  for (std::size_t k = 0; k < thresholds.size(); ++k) {
    table.coefficients.push_back(table.coefficients.back());
    table.coefficients.back()[k] = 1;
  }
  return LookUpInLatencyForm(seed, table, x);
}

// Every distance from the threshold, 400 times: below it by m, a number passes for one that is not with
// probability 1 - m / 2^u. The sum is within 5 standard deviations but for 6e-7 of the seeds.
TEST(LookUp, PassesWhatIsNextToAThresholdByACoinAndNothingElse) {
  constexpr int kUnread = 4;
  constexpr std::int64_t kThreshold = 100;
  std::vector<std::int64_t> values;
  for (std::int64_t v = kThreshold - 40; v <= kThreshold + 40; ++v) values.push_back(v);
  const RingMatrix x = Column(values).replicate(400, 1);
  const RingMatrix found = NotBelow(9, x, {kThreshold, 2 * kThreshold}, 10, {kUnread, 0});
  double passed = 0;
  double expected = 0;
  double variance = 0;
  for (Index k = 0; k < x.size(); ++k) {
    const std::int64_t below_by = kThreshold - mpc::Signed(x(k, 0));
    if (below_by <= 0 || below_by >= 1 << kUnread) {
      ASSERT_EQ(found(0, k), below_by <= 0 ? 1U : 0U) << below_by;
      continue;
    }
    const double p = 1 - std::ldexp(static_cast<double>(below_by), -kUnread);
    ASSERT_LE(found(0, k), 1U);
    passed += static_cast<double>(found(0, k));
    expected += p;
    variance += p * (1 - p);
  }
  EXPECT_NEAR(passed, expected, 5 * std::sqrt(variance));
}

TEST(LookUp, LeavesOfEachThresholdItsOwnBitsUnread) {
  constexpr int kWidth = 63;
  const std::vector<std::int64_t> thresholds{-(std::int64_t{1} << 60), -5, 7, std::int64_t{1} << 30,
                                             std::int64_t{1} << 60};
  const std::vector<int> unread{58, 0, 1, 20, 50};
  std::vector<std::int64_t> values;
  for (std::size_t k = 0; k < thresholds.size(); ++k) {
    const std::int64_t blur = std::int64_t{1} << unread[k];
    for (const std::int64_t away : {-2 * blur, -blur, -blur / 2, std::int64_t{-1}, std::int64_t{0}, blur})
      values.push_back(thresholds[k] + away);
  }
  const RingMatrix x = Column(values).replicate(20, 1);
  const RingMatrix found = NotBelow(10, x, thresholds, kWidth, unread);
  for (std::size_t k = 0; k < thresholds.size(); ++k) {
    for (Index j = 0; j < x.size(); ++j) {
      const std::int64_t above_by = mpc::Signed(x(j, 0)) - thresholds[k];
      if (above_by < 0 && above_by > -(std::int64_t{1} << unread[k])) continue;
      ASSERT_EQ(found(static_cast<Index>(k), j), above_by >= 0 ? 1U : 0U)
          << mpc::Signed(x(j, 0)) << " at " << thresholds[k];
    }
  }
}

TEST(LookUp, RefusesToDropBitsThatItCannot) {
  const auto sent = RunParties(Seed{8}, [](mpc::Context& party) {
    const auto x = InsecureDeal(party, RingMatrix::Zero(3, 1));
    EXPECT_THROW((void)LookUp(party, Staircase(0, 1, 60, 5), ToAdditive(x)), ContractError);
    EXPECT_THROW((void)LookUp(party, Staircase(0, 1, 6, -1), ToAdditive(x)), ContractError);
    EXPECT_THROW((void)LookUp(party, Staircase(0, 1, 6, 3), x, Form::kLatency), ContractError);
    EXPECT_THROW((void)LookUp(party, Staircase(0, 1, 6, 3), x, Form::kBulk), ContractError);
    PiecewisePolynomial table = Staircase(0, 1, 6, 0);
    for (const auto& unread : std::vector<std::vector<int>>{{1}, {1, 5}, {-1, 0}}) {
      table.blur.unread = unread;
      EXPECT_THROW((void)LookUp(party, table, x, Form::kLatency), ContractError);
    }
    table.blur.unread = {1, 1};
    EXPECT_THROW((void)LookUp(party, table, x, Form::kBulk), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
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
