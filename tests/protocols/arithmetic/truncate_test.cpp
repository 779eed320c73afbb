#include "protocols/arithmetic/truncate.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "mpc/dealing/preprocessing.h"
#include "protocols/arithmetic/multiply.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Signed;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct TruncateCase {
  std::string name;
  int bits;
  std::int64_t value;
};

void PrintTo(const TruncateCase& c, std::ostream* out) { *out << c.name; }

class TruncateTest : public testing::TestWithParam<TruncateCase> {};

/// How far the number of coins that fall up may be from the sum of their fractions, where it has this
/// variance: for each call a right build fails for at most one seed in a million. By Bernstein's inequality
/// it is more than t off with probability at most 2 exp(-t^2 / (2 (variance + t / 3))), and by a union bound
/// any coin falls the less likely way with probability at most twice the variance.
double CoinTolerance(double variance) { return variance < 5e-7 ? 2e-6 : 5.5 * std::sqrt(variance) + 10; }

/// Checks that every result is floor(x / 2^bits) or one above, exactly, and that as many coins fell up as
/// their fractions say.
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
  EXPECT_NEAR(ups, expected, CoinTolerance(variance));
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

constexpr std::int64_t kMax = (std::int64_t{1} << 62) - 1;

INSTANTIATE_TEST_SUITE_P(
    Edges, TruncateTest,
    testing::Values(TruncateCase{"zero", 16, 0}, TruncateCase{"smallest_negative", 1, -1},
                    TruncateCase{"fraction", 16, 12345}, TruncateCase{"negative_fraction", 16, -12345},
                    TruncateCase{"large", 16, (std::int64_t{1} << 61) + 20000},
                    TruncateCase{"greatest", 16, kMax}, TruncateCase{"near_greatest", 16, kMax - 20000},
                    TruncateCase{"least", 16, -kMax}, TruncateCase{"near_least", 16, -kMax + 20000},
                    TruncateCase{"shift_1", 1, kMax}, TruncateCase{"shift_62", 62, kMax},
                    TruncateCase{"shift_62_negative", 62, -kMax}),
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

/// floor(x / 2^bits) of signed numbers: the shift of a negative number rounds down in C++20.
RingMatrix Floor(const RingMatrix& x, int bits) {
  return x.unaryExpr([bits](Word word) { return static_cast<Word>(Signed(word) >> bits); });
}

Outcome TruncateExactly(const RingMatrix& x, int bits, Range range = Range::kSigned, Seed seed = Seed{21}) {
  return RunOn(
      seed, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [bits, range](mpc::Context& party, const mpc::ArithShare& share) {
        return Truncate(party, share, bits, range, Rounding::kExact);
      });
}

TEST(TruncateExact, RoundsEveryResidueDownUnderRandomHighBits) {
  for (int bits = 1; bits <= 12; ++bits) {
    RingMatrix x = RandomSigned(static_cast<std::uint64_t>(bits), Index{1} << bits, 3, 61);
    for (Index residue = 0; residue < x.rows(); ++residue) {
      for (Index col = 0; col < x.cols(); ++col)
        x(residue, col) = (x(residue, col) >> bits << bits) + static_cast<Word>(residue);
    }
    const Outcome outcome = TruncateExactly(x, bits);
    EXPECT_EQ(outcome.cost, Figures(TruncateCost(x.size(), bits, Rounding::kExact)));
    ASSERT_TRUE((outcome.value == Floor(x, bits)).all()) << bits << " bits";
  }
}

/// The carry depends on the residues of x and of the mask: many masks for the residues at the ends.
TEST(TruncateExact, RoundsTheOutermostResiduesDownUnderManyMasks) {
  constexpr int kBits = 3;
  RingMatrix x(1 << 12, 4);
  for (Index k = 0; k < x.rows(); ++k) x.row(k) << 0, 1, (Word{1} << kBits) - 1, Word{0} - 1;
  EXPECT_TRUE((TruncateExactly(x, kBits).value == Floor(x, kBits)).all());
}

class EveryShiftTest : public testing::TestWithParam<Range> {};

TEST_P(EveryShiftTest, RoundsEdgeAndRandomValuesDown) {
  const bool is_signed = GetParam() == Range::kSigned;
  for (int bits = 1; bits <= 62; ++bits) {
    const std::int64_t unit = std::int64_t{1} << bits;
    std::vector<std::int64_t> values{0, 1, unit / 2, unit - 1, kMax, kMax - 1, kMax / unit * unit};
    if (unit <= kMax) values.insert(values.end(), {unit, unit + 1});
    if (is_signed) {
      for (const std::int64_t value : std::vector(values)) values.push_back(-value);
    } else {
      constexpr std::int64_t kTop = std::numeric_limits<std::int64_t>::max();
      values.insert(values.end(), {kTop, kTop - unit + 1, kTop - unit});
    }
    RingMatrix random = RandomSigned(static_cast<std::uint64_t>(bits), 40, 1, 62);
    if (!is_signed) random = random.unaryExpr([](Word word) { return word & (~Word{0} >> 1); });
    const RingMatrix x = mpc::Stacked(Column(values), random);
    const Outcome outcome = TruncateExactly(x, bits, GetParam());
    ASSERT_EQ(outcome.cost, Figures(TruncateCost(x.size(), bits, Rounding::kExact))) << bits << " bits";
    ASSERT_TRUE((outcome.value == Floor(x, bits)).all()) << bits << " bits";
  }
}

INSTANTIATE_TEST_SUITE_P(Ranges, EveryShiftTest, testing::Values(Range::kSigned, Range::kNonNegative));

TEST(TruncateExact, IsTheSameWhateverTheKeys) {
  const RingMatrix x = RandomSigned(31, 500, 2, 61);
  const RingMatrix first = TruncateExactly(x, 20, Range::kSigned, Seed{31}).value;
  const RingMatrix second = TruncateExactly(x, 20, Range::kSigned, Seed{32}).value;
  EXPECT_TRUE((first == second).all());
}

TEST(TruncateCost, IsTwoRoundsAndKeysOfThreeWordsABitWhenExact) {
  const mpc::Cost stochastic = TruncateCost(10);
  const mpc::Cost exact = TruncateCost(10, 16, Rounding::kExact);
  EXPECT_EQ(exact.rounds(), 2);
  EXPECT_EQ(exact.bytes_sent(), stochastic.bytes_sent());
  EXPECT_EQ(exact.bytes_of_all() - stochastic.bytes_of_all(), 2U * 10 * 8 * (3 * 16 + 1));
  EXPECT_EQ(Figures(TruncateCost(10, 16, Rounding::kStochastic)), Figures(stochastic));
}

TEST(MultiplyTruncate, RoundsDownWhenExactAtTheDeclaredCost) {
  const RingMatrix x = RandomSigned(33, 300, 7, 30);
  const RingMatrix y = RandomSigned(34, 300, 7, 30);
  const Outcome outcome = RunOn(
      Seed{23},
      [&](mpc::Context& party) {
        return std::pair{InsecureDeal(party, x), InsecureDeal(party, y)};
      },
      [](mpc::Context& party, const auto& in) {
        return MultiplyTruncate(party, in.first, in.second, 20, Range::kSigned, Rounding::kExact);
      });
  EXPECT_EQ(outcome.cost, Figures(TruncateProductCost(x.size(), 20, Rounding::kExact)));
  EXPECT_TRUE((outcome.value == Floor(x * y, 20)).all());
}

TEST(MatMulTruncate, RoundsDownWhenExactAtTheDeclaredCost) {
  const RingMatrix x = RandomSigned(35, 13, 40, 26);
  const RingMatrix y = RandomSigned(36, 40, 5, 26);
  const Outcome outcome = RunOn(
      Seed{24},
      [&](mpc::Context& party) {
        return std::pair{InsecureDeal(party, x), InsecureDeal(party, y)};
      },
      [](mpc::Context& party, const auto& in) {
        return MatMulTruncate(party, in.first, in.second, 16, Rounding::kExact);
      });
  EXPECT_EQ(outcome.cost, Figures(TruncateProductCost(13 * 5, 16, Rounding::kExact)));
  EXPECT_TRUE((outcome.value == Floor((x.matrix() * y.matrix()).array(), 16)).all());
}

/// A and B hold halves of x, as after an opening of their own.
TEST(TruncatePair, RoundsDownWhenExactWithTheSameRolesAtTheCostOfATruncation) {
  constexpr int kBits = 24;
  const RingMatrix x = RandomSigned(37, 200, 3, 61);
  const RingMatrix of_a = RandomWords(38, 200, 3);
  const Outcome outcome = RunOn(
      Seed{25}, [](mpc::Context& party) { return &party; },
      [&](mpc::Context& party, mpc::Context*) {
        const MaskedOpening opening(party);
        RingMatrix half;
        if (!opening.dealer()) half = opening.first() ? of_a : RingMatrix(x - of_a);
        return TruncatePair(opening, half, x.rows(), x.cols(), kBits, Rounding::kExact);
      });
  EXPECT_EQ(outcome.cost, Figures(TruncateCost(x.size(), kBits, Rounding::kExact)));
  EXPECT_TRUE((outcome.value == Floor(x, kBits)).all());
}

/// A truncation of what A and B hold modulo 2^width; the upper bits of their halves are anything.
Outcome TruncateNarrowPair(const RingMatrix& x, int width, int bits, Rounding rounding) {
  const RingMatrix of_a = RandomWords(39, x.rows(), x.cols());
  const RingMatrix above = RandomWords(40, x.rows(), x.cols()).unaryExpr([width](Word word) {
    return width == 64 ? Word{0} : word << width;
  });
  return RunOn(
      Seed{27}, [](mpc::Context& party) { return &party; },
      [&](mpc::Context& party, mpc::Context*) {
        const MaskedOpening opening(party);
        RingMatrix half;
        if (!opening.dealer()) half = opening.first() ? of_a : RingMatrix(x - of_a + above);
        return TruncatePair(opening, half, x.rows(), x.cols(), bits, rounding, width);
      });
}

class NarrowPairTest : public testing::TestWithParam<int> {};

TEST_P(NarrowPairTest, IsTruncatedToTheRingUpToTheEdgesOfItsRangeAtTheDeclaredCost) {
  const int width = GetParam();
  const std::int64_t edge = (std::int64_t{1} << (width - 2)) - 1;
  for (const int bits : {1, width / 2, width - 2}) {
    const RingMatrix x = mpc::Stacked(RandomSigned(41, 400, 3, width - 2),
                                      mpc::Reshaped(Column(std::vector<std::int64_t>(600, edge)), 200, 3));
    for (const RingMatrix& numbers : {x, RingMatrix(-x)}) {
      const Outcome coins = TruncateNarrowPair(numbers, width, bits, Rounding::kStochastic);
      EXPECT_EQ(coins.cost, Figures(TruncatePairCost(x.size(), bits, Rounding::kStochastic, width)));
      CheckRounding(numbers, coins.value, bits);
      const Outcome exact = TruncateNarrowPair(numbers, width, bits, Rounding::kExact);
      EXPECT_EQ(exact.cost, Figures(TruncatePairCost(x.size(), bits, Rounding::kExact, width)));
      EXPECT_TRUE((exact.value == Floor(numbers, bits)).all()) << width << " bits, by " << bits;
    }
  }
}

/// One bit short: of the numbers between the edge and twice the edge, masks decide which come out wrong.
TEST_P(NarrowPairTest, IsWrongBeyondItsRange) {
  const int width = GetParam();
  const RingMatrix x = RingMatrix::Constant(1000, 1, Word{3} << (width - 3));
  for (const RingMatrix& numbers : {x, RingMatrix(-x)}) {
    const Outcome exact = TruncateNarrowPair(numbers, width, 1, Rounding::kExact);
    EXPECT_FALSE((exact.value == Floor(numbers, 1)).all());
  }
}

TEST_P(NarrowPairTest, RejectsAShiftThatLeavesNoRoomForTheOffsetBeforeSending) {
  const int width = GetParam();
  const auto sent = RunParties(Seed{28}, [width](mpc::Context& party) {
    const MaskedOpening opening(party);
    const RingMatrix half = RingMatrix::Zero(4, 1);
    for (const int bits : {0, width - 1})
      EXPECT_THROW((void)TruncatePair(opening, half, 4, 1, bits, Rounding::kStochastic, width),
                   ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(Widths, NarrowPairTest, testing::Values(8, 31, 32, 40, 63, 64));

TEST(TruncatePairCost, OpensNoMoreThanTheWidth) {
  const mpc::Cost whole = TruncatePairCost(10, 14, Rounding::kStochastic, 64);
  const mpc::Cost half = TruncatePairCost(10, 14, Rounding::kStochastic, 32);
  EXPECT_EQ(Figures(whole), Figures(TruncateCost(10, 14, Rounding::kStochastic)));
  EXPECT_EQ(whole.bytes_of_all() - half.bytes_of_all(), 2U * 4 * 10);
}

struct NarrowCase {
  int width;
  Word factor;
};

void PrintTo(const NarrowCase& c, std::ostream* out) { *out << c.width << " bits times " << c.factor; }

/// A truncation of what is shared modulo 2^width; the upper bits of its parts are anything.
Outcome TruncateProductOf(const NarrowCase& c, const RingMatrix& x, int bits, Rounding rounding) {
  const RingMatrix above = RandomWords(43, x.rows(), x.cols()).unaryExpr([&c](Word word) {
    return c.width == 64 ? Word{0} : word << c.width;
  });
  return RunOn(
      Seed{29}, [&](mpc::Context& party) { return ToAdditive(InsecureDeal(party, x + above)); },
      [&](mpc::Context& party, const mpc::AdditiveShare& share) {
        return TruncateNarrow(party, share, bits, {.width = c.width, .factor = c.factor}, rounding);
      });
}

class TruncateNarrowTest : public testing::TestWithParam<NarrowCase> {};

// The product with the factor is below 2^62, so that words tell what it is divided by 2^bits.
TEST_P(TruncateNarrowTest, TruncatesTheProductUpToTheEdgesOfItsRangeAtTheDeclaredCost) {
  const auto [width, factor] = GetParam();
  const std::int64_t edge = (std::int64_t{1} << (width - 2)) - 1;
  for (const int bits : {1, width / 2, width - 2}) {
    const RingMatrix x = mpc::Stacked(RandomSigned(44, 400, 3, width - 2),
                                      mpc::Reshaped(Column(std::vector<std::int64_t>(600, edge)), 200, 3));
    for (const RingMatrix& numbers : {x, RingMatrix(-x)}) {
      const RingMatrix product = factor * numbers;
      const Outcome coins = TruncateProductOf(GetParam(), numbers, bits, Rounding::kStochastic);
      EXPECT_EQ(coins.cost, Figures(TruncateNarrowCost(x.size(), bits, Rounding::kStochastic, width)));
      CheckRounding(product, coins.value, bits);
      const Outcome exact = TruncateProductOf(GetParam(), numbers, bits, Rounding::kExact);
      EXPECT_EQ(exact.cost, Figures(TruncateNarrowCost(x.size(), bits, Rounding::kExact, width)));
      EXPECT_TRUE((exact.value == Floor(product, bits)).all()) << "by " << bits;
    }
  }
}

/// One bit short, as of pairs.
TEST_P(TruncateNarrowTest, IsWrongBeyondItsRange) {
  const auto [width, factor] = GetParam();
  const RingMatrix x = RingMatrix::Constant(1000, 1, Word{3} << (width - 3));
  for (const RingMatrix& numbers : {x, RingMatrix(-x)}) {
    const Outcome exact = TruncateProductOf(GetParam(), numbers, width - 2, Rounding::kExact);
    EXPECT_FALSE((exact.value == Floor(factor * numbers, width - 2)).all());
  }
}

// Of 2^(width - 1) masks one is too large for 2^(width - 2) + 1, and one too small for what is as far below
// zero; at 2^(width - 2) itself all still are right.
TEST(TruncateNarrow, IsWrongFromTheNextNumbersOn) {
  constexpr int kWidth = 8;
  constexpr std::int64_t kEdge = std::int64_t{1} << (kWidth - 2);
  constexpr Index kNumbers = 4000;  // all right by chance with probability (127/128)^4000 < 1e-13
  const auto all_right = [](std::int64_t number) {
    const RingMatrix x = RingMatrix::Constant(kNumbers, 1, static_cast<Word>(number));
    const Outcome exact = TruncateProductOf({kWidth, 1}, x, 1, Rounding::kExact);
    return (exact.value == Floor(x, 1)).all();
  };
  EXPECT_TRUE(all_right(kEdge));
  EXPECT_FALSE(all_right(kEdge + 1));
  EXPECT_TRUE(all_right(-kEdge));
  EXPECT_FALSE(all_right(-kEdge - 1));
}

TEST_P(TruncateNarrowTest, RejectsALargerShiftOrFactorBeforeSending) {
  const auto [width, factor] = GetParam();
  const auto sent = RunParties(Seed{30}, [width = width](mpc::Context& party) {
    const mpc::AdditiveShare x(RingMatrix::Zero(4, 1));
    const auto refused = [&](int bits, Word by) {
      EXPECT_THROW((void)TruncateNarrow(party, x, bits, {.width = width, .factor = by}), ContractError);
    };
    refused(0, 1);
    refused(width - 1, 1);
    refused(1, 0);
    refused(1, (Word{1} << (64 - width)) + 1);
    for (const int of_result : {0, 65})
      EXPECT_THROW((void)TruncateNarrow(party, x, 1, {.width = width, .of_result = of_result}),
                   ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

/// Runs by factors that fall as `factors` says, dealt so many runs ahead, of x modulo 2^40.
std::vector<RingMatrix> TruncateByFactorsAhead(const RingMatrix& x, const std::vector<Word>& factors,
                                               std::int64_t ahead, Rounding rounding) {
  std::vector<RingMatrix> opened(factors.size(), RingMatrix::Zero(x.rows(), x.cols()));
  const auto of_parties = RunParties(Seed{31}, [&](mpc::Context& party) {
    const mpc::AdditiveShare shared = ToAdditive(InsecureDeal(party, x));
    mpc::Preprocessing runs(party, {.runs = std::ssize(factors), .ahead = ahead, .rotate = true});
    std::vector<RingMatrix> own;
    for (std::size_t k = 0; k < factors.size(); ++k) {
      const auto later = [factors, k](std::int64_t runs_later) {
        return factors.at(k + static_cast<std::size_t>(runs_later));
      };
      runs.Run([&](mpc::Context& run) {
        own.push_back(
            TruncateNarrow(run, shared, 20, {.width = 40, .factor = factors[k], .later = later}, rounding)
                .own());
      });
    }
    return own;
  });
  for (const auto& own : of_parties) {
    for (std::size_t k = 0; k < own.size(); ++k) opened[k] += own[k];
  }
  return opened;
}

TEST(TruncateNarrow, TruncatesByTheFactorOfEachRunHoweverFarAheadItIsDealt) {
  const RingMatrix x =
      mpc::Stacked(RandomSigned(46, 400, 3, 38), RingMatrix::Constant(5, 3, (Word{1} << 38) - 1));
  const std::vector<Word> factors{Word{1} << 24, 4095, 4001, 700, 1, 1};
  for (const std::int64_t ahead : {0, 1, 3}) {
    const auto exact = TruncateByFactorsAhead(x, factors, ahead, Rounding::kExact);
    const auto coins = TruncateByFactorsAhead(x, factors, ahead, Rounding::kStochastic);
    for (std::size_t k = 0; k < factors.size(); ++k) {
      EXPECT_TRUE((exact[k] == Floor(factors[k] * x, 20)).all()) << ahead << " ahead, run " << k;
      CheckRounding(factors[k] * x, coins[k], 20);
    }
  }
}

TEST(TruncateNarrow, DealsNothingByALaterFactorThatHasNoRoom) {
  const auto later = [](std::int64_t runs) { return (Word{1} << 24) + static_cast<Word>(runs); };
  (void)RunParties(Seed{32}, [&](mpc::Context& party) {
    mpc::Preprocessing runs(party, {.runs = 2, .ahead = 1, .rotate = false});
    const auto truncate = [&](mpc::Context& run) {
      (void)TruncateNarrow(run, mpc::AdditiveShare(RingMatrix::Zero(4, 1)), 1,
                           {.width = 40, .factor = Word{1} << 24, .later = later});
    };
    runs.Run(truncate);
    if (party.self() == 2) {  // who deals, and waits for nobody
      EXPECT_THROW(runs.Run(truncate), ContractError);
    }
    return 0;
  });
}

INSTANTIATE_TEST_SUITE_P(Widths, TruncateNarrowTest,
                         testing::Values(NarrowCase{8, 1}, NarrowCase{8, 3}, NarrowCase{8, Word{1} << 56},
                                         NarrowCase{40, 1}, NarrowCase{40, 2731}, NarrowCase{48, 4095},
                                         NarrowCase{56, 200}, NarrowCase{63, 2}, NarrowCase{64, 1}));

TEST(TruncateNarrowCost, OpensNoMoreThanTheWidth) {
  const mpc::Cost whole = TruncateNarrowCost(10, 14, Rounding::kStochastic, 64);
  const mpc::Cost narrow = TruncateNarrowCost(10, 14, Rounding::kStochastic, 40);
  EXPECT_EQ(Figures(whole), Figures(TruncateProductCost(10, 14, Rounding::kStochastic)));
  EXPECT_EQ(whole.bytes_of_all() - narrow.bytes_of_all(), 4U * 3 * 10);
  EXPECT_EQ(whole.rounds(), narrow.rounds());
}

TEST(TruncateNarrowCost, DealsAndResharesNoMoreThanTheResultsWidth) {
  const mpc::Cost whole = TruncateNarrowCost(10, 14, Rounding::kStochastic, 64);
  const mpc::Cost narrow = TruncateNarrowCost(10, 14, Rounding::kStochastic, 64, 40);
  EXPECT_EQ(whole.bytes_of_all() - narrow.bytes_of_all(), 4U * 3 * 10);
  EXPECT_EQ(whole.rounds(), narrow.rounds());
}

class TruncateToNarrowTest : public testing::TestWithParam<int> {};

// Of the numbers some have quotients of up to 48 bits, of either sign.
TEST_P(TruncateToNarrowTest, GivesTheQuotientModuloTheResultsWidthAtTheDeclaredCost) {
  const int of_result = GetParam();
  constexpr int kBits = 14;
  const RingMatrix x = mpc::Stacked(RandomSigned(47, 300, 3, 62), RandomSigned(48, 301, 3, 20));
  for (const Rounding rounding : {Rounding::kExact, Rounding::kStochastic}) {
    const auto truncated = [&](int width) {
      return RunOn(
          Seed{33}, [&](mpc::Context& party) { return ToAdditive(InsecureDeal(party, x)); },
          [&](mpc::Context& party, const mpc::AdditiveShare& share) {
            return TruncateNarrow(party, share, kBits, {.of_result = width}, rounding);
          });
    };
    const Outcome narrow = truncated(of_result);
    EXPECT_EQ(narrow.cost, Figures(TruncateNarrowCost(x.size(), kBits, rounding, 64, of_result)));
    // The masks are those of words, and with them the coins.
    EXPECT_TRUE(
        (mpc::LowBits(narrow.value, of_result) == mpc::LowBits(truncated(64).value, of_result)).all());
  }
}

TEST_P(TruncateToNarrowTest, GivesBothHoldersOfAComponentTheSameWordsBelowTheWidth) {
  const RingMatrix x = RandomSigned(49, 100, 3, 40);
  const auto shares = RunParties(Seed{34}, [&](mpc::Context& party) {
    return TruncateNarrow(party, ToAdditive(InsecureDeal(party, x)), 14, {.of_result = GetParam()});
  });
  for (std::size_t party = 0; party < shares.size(); ++party) {
    const RingMatrix& own = shares.at(party).own();
    EXPECT_TRUE((own == shares.at((party + 2) % 3).next()).all());
    EXPECT_TRUE((own == mpc::LowBits(own, GetParam())).all());
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, TruncateToNarrowTest, testing::Values(8, 32, 40, 63));

/// A truncation of a multiple of what is shared modulo 2^width and of y; the upper bits of its parts are
/// anything.
Outcome TruncateLiftedOf(const NarrowCase& c, const RingMatrix& x, const RingMatrix& y, int bits,
                         Rounding rounding) {
  const RingMatrix above =
      RandomWords(47, x.rows(), x.cols()).unaryExpr([&c](Word word) { return word << c.width; });
  return RunOn(
      Seed{33},
      [&](mpc::Context& party) {
        return std::pair{ToAdditive(InsecureDeal(party, x + above)), InsecureDeal(party, y)};
      },
      [&](mpc::Context& party, const auto& in) {
        return TruncateLifted(party, in.first, c.width, c.factor, in.second, bits, rounding);
      });
}

class TruncateLiftedTest : public testing::TestWithParam<NarrowCase> {};

TEST_P(TruncateLiftedTest, TruncatesTheSumUpToTheEdgesOfItsRangesAtTheDeclaredCost) {
  const auto [width, factor] = GetParam();
  const std::int64_t edge = (std::int64_t{1} << (width - 2)) - 1;
  const RingMatrix x = mpc::Stacked(RandomSigned(48, 400, 3, width - 2),
                                    mpc::Reshaped(Column(std::vector<std::int64_t>(600, edge)), 200, 3));
  const RingMatrix random = RandomSigned(49, x.rows(), x.cols(), 61);
  // All that the largest multiple leaves of the range.
  const Word rest = (Word{1} << 62) - 1 - factor * static_cast<Word>(edge);
  const RingMatrix most = RingMatrix::Constant(x.rows(), x.cols(), rest);
  for (const int bits : {1, 30, 62}) {
    for (const RingMatrix& numbers : {x, RingMatrix(-x)}) {
      for (const RingMatrix& y :
           {RingMatrix(random.unaryExpr([rest](Word word) { return Word{0} + word % (rest + 1); })), most,
            RingMatrix(-most)}) {
        const RingMatrix sum = factor * numbers + y;
        const Outcome coins = TruncateLiftedOf(GetParam(), numbers, y, bits, Rounding::kStochastic);
        EXPECT_EQ(coins.cost, Figures(TruncateLiftedCost(x.size(), bits, Rounding::kStochastic, width)));
        CheckRounding(sum, coins.value, bits);
        const Outcome exact = TruncateLiftedOf(GetParam(), numbers, y, bits, Rounding::kExact);
        EXPECT_EQ(exact.cost, Figures(TruncateLiftedCost(x.size(), bits, Rounding::kExact, width)));
        EXPECT_TRUE((exact.value == Floor(sum, bits)).all()) << "by " << bits;
      }
    }
  }
}

/// One bit short, as of pairs.
TEST_P(TruncateLiftedTest, IsWrongBeyondItsRange) {
  const auto [width, factor] = GetParam();
  const RingMatrix x = RingMatrix::Constant(1000, 1, Word{3} << (width - 3));
  const RingMatrix zero = RingMatrix::Zero(1000, 1);
  for (const RingMatrix& numbers : {x, RingMatrix(-x)}) {
    const Outcome exact = TruncateLiftedOf({width, 1}, numbers, zero, 1, Rounding::kExact);
    EXPECT_FALSE((exact.value == Floor(numbers, 1)).all());
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, TruncateLiftedTest,
                         testing::Values(NarrowCase{8, 1}, NarrowCase{8, (Word{1} << 55) + 1},
                                         NarrowCase{32, 262'143}, NarrowCase{40, 4095}, NarrowCase{48, 8191},
                                         NarrowCase{63, 1}));

TEST(TruncateLifted, RejectsWordsAndAShiftOf63BeforeSending) {
  const auto sent = RunParties(Seed{34}, [](mpc::Context& party) {
    const mpc::AdditiveShare x(RingMatrix::Zero(4, 1));
    const auto y = mpc::ArithShare::Zero(4, 1);
    EXPECT_THROW((void)TruncateLifted(party, x, 64, 1, y, 1), ContractError);
    EXPECT_THROW((void)TruncateLifted(party, x, 1, 1, y, 1), ContractError);
    EXPECT_THROW((void)TruncateLifted(party, x, 40, 1, y, 63), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

TEST(TruncateLiftedCost, IsARoundAndFourWordsMoreThanOfAFactorThatIsDealt) {
  const mpc::Cost dealt = TruncateNarrowCost(10, 14, Rounding::kStochastic, 40);
  const mpc::Cost lifted = TruncateLiftedCost(10, 14, Rounding::kStochastic, 40);
  EXPECT_EQ(lifted.rounds(), dealt.rounds() + 1);
  EXPECT_EQ(lifted.bytes_of_all() - dealt.bytes_of_all(), 4U * 8 * 10);
}

TEST(TruncateExact, RejectsAShiftOf63BeforeSending) {
  const auto sent = RunParties(Seed{26}, [](mpc::Context& party) {
    const auto x = InsecureDeal(party, RingMatrix::Constant(4, 1, 5));
    EXPECT_THROW((void)Truncate(party, x, 63, Range::kSigned, Rounding::kExact), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
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
