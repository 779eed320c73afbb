#include "protocols/arithmetic/lift.h"

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Signed;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

Word LowBits(Word word, int bits) { return word & ((Word{1} << bits) - 1); }

/// A sharing modulo 2^bits, as an owner deposits it: each component is below 2^bits.
mpc::ArithShare DealModulo(mpc::Context& party, const RingMatrix& x, int bits) {
  const auto low = [bits](const RingMatrix& words) {
    return RingMatrix(words.unaryExpr([bits](Word word) { return LowBits(word, bits); }));
  };
  const mpc::ArithShare share = InsecureDeal(party, x);
  return {low(share.own()), low(share.next())};
}

class LiftTest : public testing::TestWithParam<int> {
 protected:
  /// At a turn of the roles; from words of the whole ring, or from what is modulo 2^bits.
  static Outcome Lifted(const RingMatrix& x, int turn, bool modulo) {
    return RunOn(
        Seed{3},
        [&](mpc::Context& party) {
          for (int k = 0; k < turn; ++k) (void)party.NextRoles();
          return modulo ? DealModulo(party, x, GetParam()) : InsecureDeal(party, x);
        },
        [](mpc::Context& party, const mpc::ArithShare& share) { return Lift(party, share, GetParam()); });
  }
};

/// Small numbers, the ends of the range, and whatever stands above the bits.
TEST_P(LiftTest, GivesNumbersWithinAQuarterOfTheModulusThemselves) {
  const int bits = GetParam();
  const std::int64_t end = std::int64_t{1} << (bits - 2);
  RingMatrix numbers = RandomWords(1, 400, 1).unaryExpr([end](Word word) {
    return static_cast<Word>(static_cast<std::int64_t>(word % static_cast<Word>(2 * end + 1)) - end);
  });
  numbers.topRows(4) = Column({0, 1, end, -end});
  const RingMatrix above = RandomWords(2, numbers.rows(), 1);
  const RingMatrix x =
      numbers + above.unaryExpr([bits](Word word) { return static_cast<Word>(word << bits); });
  for (int turn = 0; turn < 3; ++turn) {
    for (const bool modulo : {false, true}) {
      const Outcome outcome = Lifted(x, turn, modulo);
      EXPECT_TRUE((outcome.value == numbers).all()) << "turn " << turn;
      if (turn == 0) {
        EXPECT_EQ(outcome.cost, Figures(LiftCost(x.size())));
      }
    }
  }
}

/// An owner may send any words: none becomes larger than the bound on which the squared norms' range rests,
/// and none that another lifting could give another value becomes as small as those of a row that passes.
TEST_P(LiftTest, BoundsEveryRingElement) {
  const int bits = GetParam();
  RingMatrix x = RandomWords(4, 2000, 1);
  const Word half = Word{1} << (bits - 1);
  const std::array<Word, 6> edges{half,          half - 1, half + 1, half / 2 + 1, ~Word{0} << (bits - 2),
                                  3 * (half / 2)};
  for (std::size_t k = 0; k < edges.size(); ++k) {
    for (Index copy = 0; copy < 20; ++copy) x(static_cast<Index>(k) * 20 + copy, 0) = edges[k];
  }
  const RingMatrix y = Lifted(x, 1, true).value;
  const std::int64_t end = std::int64_t{1} << (bits - 2);
  for (Index k = 0; k < x.size(); ++k) {
    const std::int64_t found = Signed(y(k, 0));
    ASSERT_EQ(LowBits(y(k, 0), bits), LowBits(x(k, 0), bits)) << "element " << k;
    // |found| < 2^bits = 4 end, without leaving the type at 63 bits.
    ASSERT_TRUE(found / 4 < end && found / 4 > -end) << "element " << k << ": " << found;
    const Word from_low_end = LowBits(x(k, 0) + static_cast<Word>(end), bits);
    ASSERT_EQ(found <= end && found >= -end, from_low_end <= static_cast<Word>(2 * end)) << "element " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, LiftTest, testing::Values(2, 3, 19, 31, 61));

/// Its square is zero modulo 2^64, so that it would weigh nothing in a norm, and much in a product.
TEST(Lift, LeavesNothingOfTwoToThe32) {
  const Outcome outcome = RunOn(
      Seed{1}, [](mpc::Context& party) { return InsecureDeal(party, Column({std::int64_t{1} << 32})); },
      [](mpc::Context& party, const mpc::ArithShare& x) { return Lift(party, x, 20); });
  EXPECT_EQ(outcome.value(0, 0), 0U);
}

TEST(Lift, RefusesOtherModuli) {
  (void)RunParties(Seed{1}, [](mpc::Context& party) {
    for (const int bits : {1, 64}) {
      EXPECT_THROW((void)Lift(party, mpc::ArithShare::Zero(1, 1), bits), ContractError);
    }
    EXPECT_EQ(party.transport().counters().messages, 0U);
    return true;
  });
}

}  // namespace
}  // namespace trefoil::protocols
