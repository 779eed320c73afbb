#include "protocols/truncate.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "protocols/multiply.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Signed;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct Case {
  std::string name;
  int bits;
  std::int64_t value;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class TruncateTest : public testing::TestWithParam<Case> {};

/// Runs one truncation of `x` and checks that every result is floor(x / 2^bits) or one above, exactly, and
/// that the mean of the coins is within five standard deviations of the mean fraction: for each call a right
/// build fails for about one seed in 1.7 million (normal approximation of a sum of independent coins).
void CheckRounding(const RingMatrix& x, const RingMatrix& y, int bits) {
  double expected = 0;
  double variance = 0;
  double ups = 0;
  for (Index k = 0; k < x.size(); ++k) {
    const std::int64_t floor = Signed(x.data()[k]) >> bits;
    const std::int64_t coin = Signed(y.data()[k]) - floor;
    ASSERT_TRUE(coin == 0 || coin == 1)
        << "element " << k << ": " << Signed(x.data()[k]) << " became " << Signed(y.data()[k]);
    const double fraction = std::ldexp(static_cast<double>(x.data()[k] & ((Word{1} << bits) - 1)), -bits);
    ASSERT_FALSE(fraction == 0 && coin == 1) << "an exact quotient must not be rounded";
    expected += fraction;
    variance += fraction * (1 - fraction);
    ups += static_cast<double>(coin);
  }
  EXPECT_NEAR(ups, expected, 5 * std::sqrt(variance) + 1e-9);
}

TEST_P(TruncateTest, RoundsStochasticallyAtTheDeclaredCost) {
  const auto& [name, bits, value] = GetParam();
  constexpr Index kCount = 1 << 14;
  const RingMatrix x = RingMatrix::Constant(kCount, 1, static_cast<Word>(value));

  const Outcome outcome = RunOn(
      Seed{7}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [bits = bits](mpc::Context& party, const mpc::ArithShare& share) {
        return Truncate(party, share, bits);
      });

  EXPECT_EQ(outcome.cost, Figures(TruncateCost(kCount)));
  CheckRounding(x, outcome.value, bits);
}

constexpr std::int64_t kMost = (std::int64_t{1} << 62) - 1;

INSTANTIATE_TEST_SUITE_P(Edges, TruncateTest,
                         testing::Values(Case{"zero", 16, 0}, Case{"smallest_negative", 1, -1},
                                         Case{"fraction", 16, 12345}, Case{"negative_fraction", 16, -12345},
                                         Case{"large", 16, (std::int64_t{1} << 61) + 5},
                                         Case{"greatest", 16, kMost}, Case{"least", 16, -kMost},
                                         Case{"shift_1", 1, kMost}, Case{"shift_62", 62, kMost},
                                         Case{"shift_62_negative", 62, -kMost}),
                         [](const auto& info) { return info.param.name; });

TEST(Truncate, NeverErrsByAUnitOnRandomValuesUpTo2To61) {
  const RingMatrix x = RandomSigned(1, 1 << 18, 1, 61);
  for (const int bits : {8, 16, 24}) {
    const Outcome outcome = RunOn(
        Seed{8}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
        [bits](mpc::Context& party, const mpc::ArithShare& share) { return Truncate(party, share, bits); });
    CheckRounding(x, outcome.value, bits);
  }
}

TEST(Truncate, TakesTheUpperHalfOfTheRingWhenNotNegative) {
  const RingMatrix x = RandomWords(2, 1 << 14, 1).unaryExpr([](Word word) { return word >> 1; });
  const Outcome outcome = RunOn(
      Seed{9}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [](mpc::Context& party, const mpc::ArithShare& share) {
        return Truncate(party, share, 46, Range::kNonNegative);
      });
  EXPECT_EQ(outcome.cost, Figures(TruncateCost(x.size())));
  CheckRounding(x, outcome.value, 46);
}

TEST(MultiplyTruncate, TruncatesTheExactProductAtTheDeclaredCost) {
  const RingMatrix x = RandomSigned(3, 300, 7, 30);
  const RingMatrix y = RandomSigned(4, 300, 7, 30);
  const Outcome outcome = RunOn(
      Seed{10},
      [&](mpc::Context& party) {
        return std::pair{InsecureDeal(party, x), InsecureDeal(party, y)};
      },
      [](mpc::Context& party, const auto& in) { return MultiplyTruncate(party, in.first, in.second, 20); });
  EXPECT_EQ(outcome.cost, Figures(TruncateProductCost(x.size())));
  CheckRounding(x * y, outcome.value, 20);
}

TEST(MatMulTruncate, TruncatesTheExactProductAtTheDeclaredCost) {
  const RingMatrix x = RandomSigned(5, 13, 40, 26);
  const RingMatrix y = RandomSigned(6, 40, 5, 26);
  const Outcome outcome = RunOn(
      Seed{11},
      [&](mpc::Context& party) {
        return std::pair{InsecureDeal(party, x), InsecureDeal(party, y)};
      },
      [](mpc::Context& party, const auto& in) { return MatMulTruncate(party, in.first, in.second, 16); });
  EXPECT_EQ(outcome.cost, Figures(TruncateProductCost(13 * 5)));
  CheckRounding((x.matrix() * y.matrix()).array(), outcome.value, 16);
}

TEST(Truncate, RejectsAShiftOf63BeforeSending) {
  const auto sent = RunParties(Seed{12}, [](mpc::Context& party) {
    const auto x = InsecureDeal(party, RingMatrix::Constant(4, 1, 5));
    EXPECT_THROW((void)Truncate(party, x, 63), ContractError);
    EXPECT_THROW((void)Truncate(party, x, 0), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
