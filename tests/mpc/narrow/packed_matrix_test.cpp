#include "mpc/narrow/packed_matrix.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "mpc/narrow/narrow_matrix.h"
#include "mpc/narrow/packed_share.h"
#include "tests/support/packed.h"
#include "tests/support/protocol_test.h"

namespace trefoil::mpc {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

// Rows shorter than a word's eight numbers, as long, and longer.
TEST(PackedMatrix, HoldsNumbersModulo2ToItsWidth) {
  for (int width = 1; width <= 64; ++width) {
    for (const Index cols : {0, 1, 7, 8, 9, 20}) {
      SCOPED_TRACE(std::to_string(width) + " bits, " + std::to_string(cols) + " columns");
      RingMatrix x = RandomWords(1, 5, cols);
      if (cols > 1) x.col(1) = ~Word{0};  // -1
      EXPECT_TRUE((Widened(Packed(x, width)) == Reduced(x, width)).all());
    }
  }
}

TEST(PackedMatrix, TakesRowsInAnyOrderAndLeavesTheOthers) {
  const RingMatrix x = RandomWords(2, 6, 11);
  PackedMatrix packed(6, 9, 40);
  for (const Index row : {5, 1, 3, 0, 4, 2})  // of a wider matrix, from its second column on
    packed.PutRows(row, 1, {.data = x.data() + row * 11 + 1, .stride = 11});
  EXPECT_TRUE((Widened(packed) == Reduced(x.middleCols(1, 9), 40)).all());
  const RingMatrix two = RandomWords(3, 2, 9);
  packed.PutRows(2, 2, {.data = two.data(), .stride = 9});
  RingMatrix expected = Reduced(x.middleCols(1, 9), 40);
  expected.middleRows(2, 2) = Reduced(two, 40);
  EXPECT_TRUE((Widened(packed) == expected).all());
}

TEST(PackedMatrix, TakesAsManyBytesAsANumberNeeds) {
  for (const auto& [width, bytes] : {std::pair{1, 1}, {8, 1}, {9, 2}, {32, 4}, {40, 5}, {57, 8}, {64, 8}}) {
    const PackedMatrix packed(3, 7, width);
    EXPECT_EQ(packed.From(0, 0).bytes, bytes);
    EXPECT_EQ(packed.From(0, 0).stride, 7 * bytes);
    EXPECT_EQ(packed.From(2, 3).data - packed.From(0, 0).data, 17 * bytes);
  }
}

TEST(PackedMatrix, RefusesOtherWidthsAndRowsThatAreNotThere) {
  EXPECT_THROW((void)PackedMatrix(2, 2, 0), ContractError);
  EXPECT_THROW((void)PackedMatrix(2, 2, 65), ContractError);
  PackedMatrix packed(2, 2, 40);
  const RingMatrix x = RandomWords(1, 2, 2);
  EXPECT_THROW(packed.PutRows(1, 2, {.data = x.data(), .stride = 2}), ContractError);
  EXPECT_THROW(packed.PutRows(-1, 1, {.data = x.data(), .stride = 2}), ContractError);
}

TEST(PackedMatrix, CopiesRowsOfAnotherOrZeros) {
  const RingMatrix x = RandomWords(2, 6, 11);
  for (const int width : {1, 32, 40, 57, 64}) {
    const PackedMatrix packed = Packed(x, width);
    PackedMatrix out = Packed(RandomWords(3, 4, 11), width);
    for (const auto& [at, row] : {std::pair{0, 5}, {1, 0}, {2, 5}}) out.CopyRow(at, packed, row);
    out.CopyRow(3, PackedMatrix(), 0);
    for (const auto& [at, row] : {std::pair{0, 5}, {1, 0}, {2, 5}})
      EXPECT_TRUE((Widened(out).row(at) == Reduced(x, width).row(row)).all())
          << width << " bits, row " << row;
    EXPECT_TRUE((Widened(out).row(3) == 0).all());
    for (const Index row : {6, -1}) EXPECT_THROW(out.CopyRow(0, packed, row), ContractError);
    for (const Index at : {4, -1}) EXPECT_THROW(out.CopyRow(at, packed, 0), ContractError);
    EXPECT_THROW(out.CopyRow(0, Packed(x.leftCols(10), width), 0), ContractError);
  }
}

TEST(NarrowMatrix, PacksItsNarrowColumnsAndLeavesTheOthersInWords) {
  const RingMatrix x = RandomWords(4, 70, 12);
  NarrowMatrix split(70, 12, {.columns = 9, .width = 40});
  split.PutRows(0, 64, {.data = x.data(), .stride = 12});
  split.PutRows(64, 6, {.data = x.data() + 64 * 12, .stride = 12});
  EXPECT_EQ(split.packed.cols(), 9);
  EXPECT_TRUE((split.whole == x.rightCols(3)).all());
  EXPECT_TRUE((Widened(split) == Reduced(x, NarrowColumns{.columns = 9, .width = 40})).all());
  EXPECT_TRUE((Widened(NarrowMatrix(x)) == x).all());
  EXPECT_EQ(NarrowMatrix(2, 3, {.columns = 3, .width = 64}).whole.cols(), 3) << "nothing is narrow";
  EXPECT_THROW((void)NarrowMatrix(2, 3, {.columns = 4, .width = 40}), ContractError);
}

TEST(PackedShare, RefusesComponentsOfOtherShapes) {
  const PackedMatrix x = Packed(RandomWords(1, 2, 3), 40);
  EXPECT_EQ(PackedShare(3, {{.rows = 2, .own = x, .next = {}}, {.rows = 4}}).rows(), 6);
  EXPECT_THROW((void)PackedShare(3, {{.rows = 3, .own = x, .next = {}}}), ContractError);
  EXPECT_THROW((void)PackedShare(4, {{.rows = 2, .own = {}, .next = x}}), ContractError);
}

TEST(PackedShare, GivesAColumnOfAllItsBlocksInWordsAndZerosWhereAComponentIsNone) {
  const RingMatrix x = RandomWords(5, 7, 3);
  const RingMatrix y = RandomWords(6, 7, 3);
  const PackedShare share(
      3, {{.rows = 4, .own = Packed(x.topRows(4), 40), .next = {}},
          {.rows = 3, .own = Packed(x.bottomRows(3), 40), .next = Packed(y.bottomRows(3), 40)}});
  const ArithShare column = WidenedColumn(share, 1);
  EXPECT_TRUE((column.own() == Reduced(x.col(1), 40)).all());
  EXPECT_TRUE((column.next().topRows(4) == 0).all());
  EXPECT_TRUE((column.next().bottomRows(3) == Reduced(y.col(1).bottomRows(3), 40)).all());
  EXPECT_THROW((void)WidenedColumn(share, 3), ContractError);
}

}  // namespace
}  // namespace trefoil::mpc
