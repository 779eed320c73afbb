#pragma once
#include <Eigen/Core>
#include <cstdint>

#include "mpc/ring.h"
#include "mpc/rows.h"

namespace trefoil::mpc {

/// A matrix of numbers modulo 2^width, each in as few whole bytes as it needs, lowest byte first, row by row.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// Not initialised: for those who write every row. Pre: 1 <= width <= 64.
  PackedMatrix(Index rows, Index cols, int width);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index size() const { return rows_ * cols_; }
  [[nodiscard]] int width() const { return width_; }

  /// Writes rows [first, first + count), the words modulo 2^width. Rows may be written in any order, and by
  /// several threads at once. Pre: there are such rows.
  void PutRows(Index first, Index count, ConstRows words);

  /// Writes row `row` as row `of` of `from`, or as zeros where `from` has no elements. Pre: there are such
  /// rows, of as many columns and bits.
  void CopyRow(Index row, const PackedMatrix& from, Index of);

  /// What kernels read, from number (row, col) on.
  [[nodiscard]] PackedRows From(Index row, Index col) const;

 private:
  [[nodiscard]] Index bytes() const { return (width_ + 7) / 8; }

  Index rows_ = 0;
  Index cols_ = 0;
  int width_ = 64;
  Eigen::Array<std::uint8_t, Eigen::Dynamic, 1> bytes_;
};

/// The numbers as words.
[[nodiscard]] RingMatrix Widened(const PackedMatrix& x);

}  // namespace trefoil::mpc
