#include "deposit/on_shares/rows_on_disk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "tests/deposit/sample_study.h"

namespace trefoil::deposit {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

constexpr Index kColumns = 3;

/// Rows numbered from `first` on, by which every entry is told.
RingMatrix Numbered(Index first, Index rows, Word component) {
  RingMatrix matrix(rows, kColumns);
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < kColumns; ++column)
      matrix(row, column) = component + static_cast<Word>(100 * (first + row) + column);
  }
  return matrix;
}

ArithShare NumberedRows(Index first, Index rows) {
  return {Numbered(first, rows, 1'000'000), Numbered(first, rows, 2'000'000)};
}

TEST(RowsOnDisk, ComeInBlocksAgainAndAgain) {
  const TemporaryFolder folder;
  RowsOnDisk on_disk(folder.path(), {.columns = kColumns, .block_rows = 4, .capacity = 14});
  on_disk.Add(NumberedRows(0, 2));
  on_disk.Add(NumberedRows(2, 7));
  on_disk.Add(NumberedRows(9, 2));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "a file without a name";
  for (int round = 0; round < 3; ++round) {
    for (Index block = 0; block < 4; ++block) {
      const auto found = on_disk.Block(4 * round + block);
      const Index rows = std::clamp<Index>(11 - 4 * block, 0, 4);
      RingMatrix own = RingMatrix::Zero(4, kColumns);
      RingMatrix next = own;
      own.topRows(rows) = Numbered(4 * block, rows, 1'000'000);
      next.topRows(rows) = Numbered(4 * block, rows, 2'000'000);
      EXPECT_TRUE((found.own() == own).all()) << block;
      EXPECT_TRUE((found.next() == next).all()) << block;
    }
  }
  (void)on_disk.Block(0);
  EXPECT_THROW((void)on_disk.Block(2), ContractError);
  EXPECT_TRUE((on_disk.Block(0).own() == Numbered(0, 4, 1'000'000)).all()) << "a first one at any time";
}

TEST(RowsOnDisk, AreTakenBack) {
  const TemporaryFolder folder;
  RowsOnDisk on_disk(folder.path(), {.columns = kColumns, .block_rows = 4, .capacity = 4});
  on_disk.Add(NumberedRows(0, 1));
  const auto before = on_disk.additions();
  on_disk.Add(NumberedRows(7, 2));
  on_disk.Add(NumberedRows(9, 2));
  on_disk.TakeBack(before);
  on_disk.Add(NumberedRows(1, 3));
  EXPECT_TRUE((on_disk.Block(0).own() == Numbered(0, 4, 1'000'000)).all());
  on_disk.Add(NumberedRows(4, 1));
  EXPECT_THROW((void)on_disk.Block(0), ContractError) << "more than the capacity";
}

TEST(RowsOnDisk, NeedAFolder) {
  const TemporaryFolder folder;
  EXPECT_THROW(RowsOnDisk(folder.path() / "none", {.columns = 1, .block_rows = 1, .capacity = 1}),
               std::runtime_error);
}

}  // namespace
}  // namespace trefoil::deposit
