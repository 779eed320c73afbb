#include "mpc/share.h"

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <ostream>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "mpc/fixed_point.h"
#include "tests/support/protocol_test.h"

namespace trefoil::mpc {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

template <typename A, typename B>
concept Addable = requires(const A& a, const B& b) {
  a + b;
};
template <typename A, typename B>
concept Subtractable = requires(const A& a, const B& b) {
  a - b;
};
template <typename A, typename B>
concept Multipliable = requires(const A& a, const B& b) {
  a* b;
};
template <typename A, typename B>
concept Xorable = requires(const A& a, const B& b) {
  a ^ b;
};
template <typename A>
concept Printable = requires(std::ostream& out, const A& a) {
  out << a;
};

// The concepts see what there is ...
static_assert(Addable<ArithShare, ArithShare> && Addable<AdditiveShare, AdditiveShare> &&
              Addable<FixedShare, FixedShare>);
static_assert(Xorable<BoolShare, BoolShare> && Multipliable<Word, ArithShare> && Printable<RingMatrix>);

// ... and nothing turns one kind of share into another, into a plain value, or a plain value into a share.
template <typename From, typename... To>
constexpr bool kConvertsToNone = (!std::is_convertible_v<From, To> && ...);
static_assert(kConvertsToNone<ArithShare, BoolShare, AdditiveShare, FixedShare, RingMatrix, BitMatrix, Word>);
static_assert(kConvertsToNone<BoolShare, ArithShare, AdditiveShare, FixedShare, RingMatrix, BitMatrix, Word>);
static_assert(kConvertsToNone<AdditiveShare, ArithShare, BoolShare, FixedShare, RingMatrix, BitMatrix, Word>);
static_assert(kConvertsToNone<FixedShare, ArithShare, BoolShare, AdditiveShare, RingMatrix, BitMatrix, Word>);
static_assert(kConvertsToNone<RingMatrix, ArithShare, BoolShare, AdditiveShare, FixedShare, BitMatrix>);
static_assert(kConvertsToNone<BitMatrix, ArithShare, BoolShare, AdditiveShare, FixedShare, RingMatrix>);

static_assert(!Addable<ArithShare, BoolShare> && !Addable<ArithShare, AdditiveShare> &&
              !Addable<ArithShare, FixedShare>);
static_assert(!Addable<ArithShare, RingMatrix> && !Addable<RingMatrix, ArithShare> &&
              !Addable<ArithShare, Word>);
static_assert(!Addable<AdditiveShare, BoolShare> && !Addable<AdditiveShare, RingMatrix> &&
              !Addable<AdditiveShare, FixedShare>);
static_assert(!Addable<FixedShare, double> && !Addable<FixedShare, Word> && !Addable<BoolShare, BoolShare>);
static_assert(!Subtractable<ArithShare, AdditiveShare> && !Subtractable<ArithShare, RingMatrix>);
static_assert(!Xorable<BoolShare, BitMatrix> && !Xorable<ArithShare, ArithShare> &&
              !Xorable<BoolShare, ArithShare>);
static_assert(!Multipliable<ArithShare, ArithShare> && !Multipliable<FixedShare, FixedShare>);

static_assert(!Printable<ArithShare> && !Printable<BoolShare> && !Printable<AdditiveShare> &&
              !Printable<FixedShare>);
static_assert(!std::equality_comparable<ArithShare> && !std::equality_comparable<BoolShare>);
static_assert(!std::equality_comparable<AdditiveShare> && !std::equality_comparable<FixedShare>);

template <typename Operation>
RingMatrix Opened(Operation operation) {
  return RunArith(Seed{1},
                  [&](Context& party, ArithShare& result) {
                    return std::function<void()>([&] { result = operation(party); });
                  })
      .value;
}

TEST(ArithShare, LinearOperationsAgreeWithPlain) {
  const RingMatrix x = RandomWords(1, 4, 3);
  const RingMatrix y = RandomWords(2, 4, 3);
  const Word factor = 0xFEDCBA9876543210;
  const auto deal = [](Context& party, const RingMatrix& values) { return InsecureDeal(party, values); };
  EXPECT_TRUE((Opened([&](Context& party) { return deal(party, x) + deal(party, y); }) == x + y).all());
  EXPECT_TRUE((Opened([&](Context& party) { return deal(party, x) - deal(party, y); }) == x - y).all());
  EXPECT_TRUE((Opened([&](Context& party) { return -deal(party, x); }) == RingMatrix::Zero(4, 3) - x).all());
  EXPECT_TRUE((Opened([&](Context& party) { return factor * deal(party, x); }) == x * factor).all());
  EXPECT_TRUE((Opened([&](Context& party) { return RowSums(deal(party, x)); }) == x.rowwise().sum()).all());
  EXPECT_TRUE((Opened([&](Context& party) { return Transposed(deal(party, x)); }) == x.transpose()).all());
  EXPECT_TRUE(
      (Opened([&](Context& party) { return Rows(deal(party, x), 1, 2); }) == x.middleRows(1, 2)).all());
  EXPECT_TRUE(
      (Opened([&](Context& party) { return Reshaped(deal(party, x), 2, 6); }) == Reshaped(x, 2, 6)).all());
  EXPECT_TRUE(
      (Opened([&](Context& party) { return Stacked(deal(party, x), deal(party, y)); }) == Stacked(x, y))
          .all());
  EXPECT_TRUE(
      (Opened([&](Context& party) { return Columns(deal(party, x), 1, 2); }) == x.middleCols(1, 2)).all());
  EXPECT_TRUE(
      (Opened([&](Context& party) { return SideBySide(deal(party, x), deal(party, y)); }) == SideBySide(x, y))
          .all());
}

TEST(ArithShare, AddPublicAddsOnceWhicheverTwoPartiesOpen) {
  const RingMatrix x = RandomWords(1, 4, 3);
  const RingMatrix c = RandomWords(2, 4, 3);
  EXPECT_TRUE(
      (Opened([&](Context& party) { return AddPublic(party, InsecureDeal(party, x), c); }) == x + c).all());
  EXPECT_TRUE(
      (Opened([&](Context& party) { return AddPublic(party, InsecureDeal(party, x), Word{7}); }) == x + 7)
          .all());
  // Both holders of each component have the same.
  const auto shares =
      RunParties(Seed{1}, [&](Context& party) { return AddPublic(party, InsecureDeal(party, x), c); });
  for (std::size_t self = 0; self < 3; ++self) {
    EXPECT_TRUE((shares[self].next() == shares[(self + 1) % 3].own()).all());
  }
}

TEST(ArithShare, StackedColumnsAreThoseOfEachMatrixInOrder) {
  const std::array<ArithShare, 3> parts{ArithShare(RandomWords(1, 4, 7), RandomWords(2, 4, 7)),
                                        ArithShare(RandomWords(3, 0, 7), RandomWords(4, 0, 7)),
                                        ArithShare(RandomWords(5, 2, 7), RandomWords(6, 2, 7))};
  for (const auto& [first, count] : {std::pair<Index, Index>{0, 7}, {0, 3}, {2, 5}, {6, 1}, {3, 0}}) {
    const ArithShare some = StackedColumns(parts, first, count);
    EXPECT_TRUE((some.own().topRows(4) == parts[0].own().middleCols(first, count)).all());
    EXPECT_TRUE((some.next().topRows(4) == parts[0].next().middleCols(first, count)).all());
    EXPECT_TRUE((some.own().bottomRows(2) == parts[2].own().middleCols(first, count)).all());
    EXPECT_TRUE((some.next().bottomRows(2) == parts[2].next().middleCols(first, count)).all());
    EXPECT_EQ(some.rows(), 6);
    EXPECT_EQ(some.cols(), count);
  }
  EXPECT_THROW((void)StackedColumns(parts, 3, 5), ContractError);
  EXPECT_THROW((void)StackedColumns(parts, -1, 2), ContractError);
  EXPECT_THROW((void)StackedColumns({}, 0, 0), ContractError);
}

TEST(ArithShare, RefusesShapesThatDiffer) {
  const ArithShare x = ArithShare::Zero(4, 3);
  EXPECT_THROW((void)(x + ArithShare::Zero(3, 4)), ContractError);
  EXPECT_THROW((void)(x - ArithShare::Zero(4, 2)), ContractError);
  EXPECT_THROW((void)ArithShare(RingMatrix::Zero(1, 1), RingMatrix::Zero(1, 2)), ContractError);
  EXPECT_THROW((void)Rows(x, 3, 2), ContractError);
  EXPECT_THROW((void)Rows(x, -1, 2), ContractError);
}

TEST(AdditiveShare, IsLinear) {
  const RingMatrix x = RandomWords(1, 4, 3);
  const RingMatrix y = RandomWords(2, 4, 3);
  const auto parts = RunParties(Seed{1}, [&](Context& party) {
    return (ToAdditive(InsecureDeal(party, x)) + Word{3} * ToAdditive(InsecureDeal(party, y))).part();
  });
  EXPECT_TRUE((parts[0] + parts[1] + parts[2] == x + 3 * y).all());
  EXPECT_THROW((void)(AdditiveShare(x) + AdditiveShare(RingMatrix::Zero(1, 1))), ContractError);
}

TEST(BoolShare, LinearOperationsAgreeWithPlain) {
  const BitMatrix x = ToPlanes(RandomWords(1, 70, 1), 6);
  const BitMatrix y = ToPlanes(RandomWords(2, 70, 1), 6);
  const auto opened = RunParties(Seed{1}, [&](Context& party) {
    const BoolShare a = InsecureDealBits(party, x);
    const BoolShare b = InsecureDealBits(party, y);
    const BoolShare negated = Not(party, Stacked(Planes(a ^ b, 0, 2), Planes(b, 2, 4)));
    return protocols::RevealBits(party, negated, protocols::ReleaseReason::kTest);
  });
  const BitMatrix plain = Stacked(Planes(x ^ y, 0, 2), Planes(y, 2, 4));
  for (const BitMatrix& bits : opened) {
    for (Index plane = 0; plane < 6; ++plane) {
      for (Index item = 0; item < 70; ++item) ASSERT_NE(bits.bit(plane, item), plain.bit(plane, item));
    }
    // Nothing beyond the count is set.
    EXPECT_TRUE((Unpack(Pack(bits), 6, 70).words() == bits.words()).all());
  }
  EXPECT_THROW((void)BoolShare(BitMatrix(1, 2), BitMatrix(1, 3)), ContractError);
}

}  // namespace
}  // namespace trefoil::mpc
