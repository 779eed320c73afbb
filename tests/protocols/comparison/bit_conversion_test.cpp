#include "protocols/comparison/bit_conversion.h"

#include <algorithm>
#include <limits>

#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::BitMatrix;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct BitOutcome {
  BitMatrix value;
  CostFigures cost;
};

template <typename Operation>
BitOutcome RunBits(Seed seed, const RingMatrix& x, Operation operation) {
  const auto parts = RunParties(seed, [&](mpc::Context& party) {
    const auto share = InsecureDeal(party, x);
    mpc::BoolShare bits;
    const auto measured = Measure(party, [&] { bits = operation(party, share); });
    return std::pair{measured, RevealBits(party, bits, ReleaseReason::kTest)};
  });
  for (const auto& part : parts) {
    EXPECT_TRUE((part.second.words() == parts[0].second.words()).all())
        << "the parties opened different bits";
  }
  return {parts[0].second, Figures({parts[0].first, parts[1].first, parts[2].first})};
}

/// Numbers at every power of two, one beside it, the ends of the range, and random ones.
RingMatrix EdgesAndRandom(int bits, Index random) {
  std::vector<std::int64_t> values{0, 1, -1};
  for (int t = 1; t < bits; ++t) {
    const std::int64_t power = std::int64_t{1} << t;
    for (const std::int64_t v : {power, power - 1, power + 1, -power, -power - 1, -power + 1})
      values.push_back(v);
  }
  const RingMatrix more = RandomSigned(static_cast<std::uint64_t>(bits), random, 1, bits);
  return mpc::Stacked(Column(values), more);
}

class MsbTest : public testing::TestWithParam<int> {};

TEST_P(MsbTest, IsTheSignAtTheDeclaredCost) {
  const int width = GetParam();
  const RingMatrix x = EdgesAndRandom(width - 2, 500);
  const BitOutcome outcome = RunBits(Seed{1}, x, [width](mpc::Context& party, const mpc::ArithShare& share) {
    return LessThanZero(party, share, width);
  });
  EXPECT_EQ(outcome.cost, Figures(MsbCost(x.size(), width)));
  for (Index k = 0; k < x.size(); ++k) {
    ASSERT_EQ(outcome.value.bit(0, k), mpc::Signed(x.data()[k]) < 0) << mpc::Signed(x.data()[k]);
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, MsbTest, testing::Values(5, 20, 33, 54, 63, 64));

TEST(Msb, IsBit63OfEveryWord) {
  RingMatrix x = RandomWords(11, 1000, 1);
  x(0, 0) = Word{1} << 63;
  x(1, 0) = ~(Word{1} << 63);
  const BitOutcome outcome = RunBits(
      Seed{2}, x, [](mpc::Context& party, const mpc::ArithShare& share) { return Msb(party, share); });
  for (Index k = 0; k < x.size(); ++k) ASSERT_EQ(outcome.value.bit(0, k), (x.data()[k] >> 63) != 0);
}

TEST(Msb, KeepsTheDesignsBudget) {
  for (const Index count : {1, 7, 64, 1000}) {
    const mpc::Cost cost = MsbCost(count);
    EXPECT_LE(cost.rounds(), 8);
    std::uint64_t all = 0;
    for (const auto bytes : cost.bytes_sent()) {
      EXPECT_LE(bytes, static_cast<std::uint64_t>(36 * count));  // 288 bits
      all += bytes;
    }
    EXPECT_LE(all, static_cast<std::uint64_t>(108 * count));  // 13.5 words
    const mpc::Cost decompose = BitDecomposeCost(count);
    EXPECT_LE(decompose.rounds(), 8);
    all = decompose.bytes_of_all();
    EXPECT_LE(all, static_cast<std::uint64_t>(42 * 8 * count));
  }
}

// Around the number from which on all three parties input, with each party as A.
TEST(Msb, OfManyNumbersTakesAThirdOfTheInputFromEachParty) {
  for (const Index count : {1023, 1024, 1025, 1151, 1152, 1217}) {
    const RingMatrix x = RandomWords(static_cast<std::uint64_t>(count), count, 1);
    for (int turns = 0; turns < 3; ++turns) {
      const BitOutcome outcome =
          RunBits(Seed{4}, x, [turns](mpc::Context& party, const mpc::ArithShare& share) {
            for (int k = 0; k < turns; ++k) (void)party.NextRoles();
            return Msb(party, share);
          });
      if (turns == 0) {
        EXPECT_EQ(outcome.cost, Figures(MsbCost(count)));
      }
      for (Index k = 0; k < count; ++k) ASSERT_EQ(outcome.value.bit(0, k), (x.data()[k] >> 63) != 0);
    }
  }
  const mpc::Cost cost = MsbCost(100'000);
  EXPECT_EQ(cost.rounds(), MsbCost(1).rounds());
  const auto [least, most] = std::minmax_element(cost.bytes_sent().begin(), cost.bytes_sent().end());
  EXPECT_LE(*most - *least, 2 * 64 * 95 / 8);  // two words of planes with pair products
}

TEST(BitDecompose, GivesEveryBitAtTheDeclaredCost) {
  const RingMatrix x = mpc::Stacked(EdgesAndRandom(63, 0), RandomWords(14, 300, 1));
  const BitOutcome outcome = RunBits(Seed{4}, x, [](mpc::Context& party, const mpc::ArithShare& share) {
    return BitDecompose(party, share);
  });
  EXPECT_EQ(outcome.cost, Figures(BitDecomposeCost(x.size())));
  EXPECT_TRUE((outcome.value.words() == mpc::ToPlanes(x, 64).words()).all());
}

class SuffixOrTest : public testing::TestWithParam<Index> {};

TEST_P(SuffixOrTest, OrsEverythingAbove) {
  const Index planes = GetParam();
  const BitMatrix bits = mpc::ToPlanes(
      RandomWords(15, 200, 1).unaryExpr([](Word word) { return word & (word >> 17) & (word >> 31); }),
      static_cast<int>(planes));
  const auto parts = RunParties(Seed{5}, [&](mpc::Context& party) {
    const auto share = InsecureDealBits(party, bits);
    mpc::BoolShare ors;
    const auto measured = Measure(party, [&] { ors = SuffixOr(party, share); });
    return std::pair{measured, RevealBits(party, ors, ReleaseReason::kTest)};
  });
  EXPECT_EQ(Figures({parts[0].first, parts[1].first, parts[2].first}), Figures(SuffixOrCost(planes, 200)));
  for (Index item = 0; item < 200; ++item) {
    bool expected = false;
    for (Index plane = planes - 1; plane >= 0; --plane) {
      expected = expected || bits.bit(plane, item);
      ASSERT_EQ(parts[0].second.bit(plane, item), expected) << plane << ' ' << item;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Planes, SuffixOrTest, testing::Values(1, 2, 5, 32, 63, 64));

TEST(BitToArith, IsZeroOrOneAtTheDeclaredCost) {
  const BitMatrix bits = mpc::ToPlanes(RandomWords(16, 101, 1), 6);
  const Outcome outcome = RunOn(
      Seed{6}, [&](mpc::Context& party) { return InsecureDealBits(party, bits); },
      [](mpc::Context& party, const mpc::BoolShare& share) { return BitToArith(party, share); });
  EXPECT_EQ(outcome.cost, Figures(BitToArithCost(6, 101)));
  EXPECT_TRUE((outcome.value == mpc::ToWords(bits)).all());
}

class BitTimesTest : public testing::TestWithParam<Index> {};

TEST_P(BitTimesTest, IsTheValueOrZeroAtTheDeclaredCost) {
  const Index rows = GetParam();
  for (const bool extreme : {false, true}) {
    const RingMatrix x = extreme ? RingMatrix::Constant(rows, 1, ~Word{0}) : RandomWords(17, rows, 1);
    const BitMatrix bits = mpc::ToPlanes(extreme ? x : RandomWords(18, rows, 1), 1);
    const Outcome outcome = RunOn(
        Seed{7},
        [&](mpc::Context& party) {
          return std::pair{InsecureDealBits(party, bits), InsecureDeal(party, x)};
        },
        [](mpc::Context& party, const auto& in) { return BitTimes(party, in.first, in.second); });
    EXPECT_EQ(outcome.cost, Figures(BitTimesCost(rows)));
    EXPECT_TRUE((outcome.value == x * mpc::Reshaped(mpc::ToWords(bits), rows, 1)).all());
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, BitTimesTest, testing::Values(1, 7, 64, 65, 99));

TEST(BitTimes, TakesTheBitsRowByRow) {
  const RingMatrix x = RandomWords(17, 33, 3);
  const BitMatrix bits = mpc::ToPlanes(RandomWords(18, 99, 1), 1);
  const Outcome outcome = RunOn(
      Seed{7},
      [&](mpc::Context& party) {
        return std::pair{InsecureDealBits(party, bits), InsecureDeal(party, x)};
      },
      [](mpc::Context& party, const auto& in) { return BitTimes(party, in.first, in.second); });
  EXPECT_TRUE((outcome.value == x * mpc::Reshaped(mpc::ToWords(bits), 33, 3)).all());
}

TEST(Select, TakesOneOrTheOther) {
  const RingMatrix one = RandomWords(19, 50, 1);
  const RingMatrix zero = RandomWords(20, 50, 1);
  const BitMatrix bits = mpc::ToPlanes(RandomWords(21, 50, 1), 1);
  const Outcome outcome = RunOn(
      Seed{8},
      [&](mpc::Context& party) {
        return std::tuple{InsecureDealBits(party, bits), InsecureDeal(party, one), InsecureDeal(party, zero)};
      },
      [](mpc::Context& party, const auto& in) {
        return Select(party, std::get<0>(in), std::get<1>(in), std::get<2>(in));
      });
  for (Index k = 0; k < 50; ++k) ASSERT_EQ(outcome.value(k, 0), bits.bit(0, k) ? one(k, 0) : zero(k, 0));
}

}  // namespace
}  // namespace trefoil::protocols
