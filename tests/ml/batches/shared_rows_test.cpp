#include "ml/batches/shared_rows.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(RowsAt, PicksRowsOfOneMatrixInOrderAndRepeatedly) {
  const RingMatrix x = RandomWords(3, 5, 2);
  const auto opened = RunParties(Seed{5}, [&](mpc::Context& party) {
    return protocols::Reveal(party, RowsAt(InsecureDeal(party, x), {4, 0, 4}),
                             protocols::ReleaseReason::kTest);
  });
  EXPECT_TRUE((opened[0].row(0) == x.row(4)).all());
  EXPECT_TRUE((opened[0].row(1) == x.row(0)).all());
  EXPECT_TRUE((opened[0].row(2) == x.row(4)).all());
}

TEST(RowsAt, CountsThroughSeveralMatricesOfWhichOneMayBeEmpty) {
  const RingMatrix x = RandomWords(3, 5, 2);
  const auto opened = RunParties(Seed{5}, [&](mpc::Context& party) {
    const mpc::ArithShare all = InsecureDeal(party, x);
    const std::vector<mpc::ArithShare> parts{mpc::Rows(all, 0, 2), mpc::Rows(all, 2, 0),
                                             mpc::Rows(all, 2, 3)};
    return protocols::Reveal(party, RowsAt(parts, {1, 2, 4}, 3), protocols::ReleaseReason::kTest);
  });
  EXPECT_TRUE((opened[1].row(0) == x.row(1)).all());
  EXPECT_TRUE((opened[1].row(1) == x.row(2)).all());
  EXPECT_TRUE((opened[1].row(2) == x.row(4)).all());
}

TEST(RowsAt, RefusesRowsThatAreInNoMatrix) {
  const auto x = mpc::ArithShare::Zero(3, 2);
  EXPECT_EQ(RowsAt(x, {}).rows(), 0);
  EXPECT_THROW((void)RowsAt(x, {3}), ContractError);
  EXPECT_THROW((void)RowsAt(x, {-1}), ContractError);
  EXPECT_THROW((void)RowsAt(std::span<const mpc::ArithShare>(), {}, 0), ContractError);
}

TEST(RowsAt, AddsZerosUpToTheHeight) {
  const RingMatrix x = RandomWords(3, 5, 2);
  const auto opened = RunParties(Seed{5}, [&](mpc::Context& party) {
    const std::vector<mpc::ArithShare> parts{InsecureDeal(party, x)};
    EXPECT_THROW((void)RowsAt(parts, {3, 1}, 1), ContractError);
    EXPECT_EQ(RowsAt(parts, {}, 0).rows(), 0);
    return protocols::Reveal(party, RowsAt(parts, {3, 1}, 4), protocols::ReleaseReason::kTest);
  });
  ASSERT_EQ(opened[2].rows(), 4);
  EXPECT_TRUE((opened[2].row(0) == x.row(3)).all());
  EXPECT_TRUE((opened[2].row(1) == x.row(1)).all());
  EXPECT_TRUE((opened[2].bottomRows(2) == 0).all());
}

/// As three owners input them, of whom the second has none: at a party one component of most is zero.
mpc::PackedShare ThreeBlocks(const RingMatrix& x, const RingMatrix& y) {
  return {3,
          {{.rows = 4, .own = Packed(x.topRows(4), 40), .next = {}},
           {.rows = 0},
           {.rows = 3, .own = Packed(x.bottomRows(3), 40), .next = Packed(y.bottomRows(3), 40)}}};
}

TEST(RowsAt, OfNarrowRowsTakesAsMuchWhicheverRowsThereAre) {
  const mpc::PackedShare all = ThreeBlocks(RandomWords(5, 7, 3), RandomWords(6, 7, 3));
  for (const std::vector<std::int64_t>& rows :
       {std::vector<std::int64_t>{}, {1, 3}, {4, 5, 6}, {0, 1, 2, 3, 4, 5, 6}}) {
    const mpc::PackedShare taken = RowsAt(all, rows, 7);
    ASSERT_EQ(taken.blocks().size(), 1U);
    EXPECT_EQ(taken.blocks()[0].own.size(), 7 * 3);
    EXPECT_EQ(taken.blocks()[0].next.size(), 7 * 3);
  }
}

TEST(RowsAt, OfNarrowRowsIsThatOfWholeOnes) {
  const mpc::PackedShare all = ThreeBlocks(RandomWords(5, 7, 3), RandomWords(6, 7, 3));
  const mpc::ArithShare words = Widened(all);
  const std::vector<std::vector<std::int64_t>> lists{{}, {0, 1, 5}, {6, 2, 2, 3, 4}, {4, 5, 6}};
  for (const auto& rows : lists) {
    for (const std::int64_t height : {5, 9}) {
      const mpc::ArithShare expected = RowsAt(std::span(&words, 1), rows, height);
      const mpc::PackedShare found = RowsAt(all, rows, height);
      EXPECT_EQ(found.rows(), height);
      EXPECT_TRUE((Widened(found).own() == expected.own()).all());
      EXPECT_TRUE((Widened(found).next() == expected.next()).all());
    }
  }
  EXPECT_THROW((void)RowsAt(all, {7}, 9), ContractError);
  EXPECT_THROW((void)RowsAt(all, {-1}, 9), ContractError);
  EXPECT_THROW((void)RowsAt(all, {1, 2}, 1), ContractError);
}

}  // namespace
}  // namespace trefoil::ml
