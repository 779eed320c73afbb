#pragma once
#include <utility>
#include <vector>

#include "mpc/narrow/packed_matrix.h"
#include "mpc/ring.h"
#include "mpc/share.h"

namespace trefoil::mpc {

/// One party's part (x_i, x_{i+1}) of a replicated sharing modulo 2^width, of rows that stand one below the
/// other in blocks. A component of a block that is zero, by the protocol and not by chance, has no elements.
/// As with ArithShare there is no way from here to a plain value.
class PackedShare {
 public:
  struct Block {
    Index rows = 0;
    PackedMatrix own{};
    PackedMatrix next{};
  };

  /// Pre: components of a block have its rows and so many columns, or no elements.
  PackedShare(Index cols, std::vector<Block> blocks);

  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  std::vector<Block> blocks_;
};

/// A column as a sharing modulo 2^width whose numbers are words below it: it is right modulo 2^width, and so
/// are products with it. Pre: there is such a column.
[[nodiscard]] ArithShare WidenedColumn(const PackedShare& x, Index col);

}  // namespace trefoil::mpc
