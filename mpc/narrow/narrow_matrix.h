#pragma once
#include "mpc/narrow/narrow_columns.h"
#include "mpc/narrow/packed_matrix.h"
#include "mpc/ring.h"
#include "mpc/rows.h"

namespace trefoil::mpc {

/// A matrix with narrow columns as it is held: the packed ones in as many bytes as they need, the others in
/// words.
struct NarrowMatrix {
  NarrowMatrix() = default;
  /// Nothing is packed.
  explicit NarrowMatrix(RingMatrix words) : whole(std::move(words)) {}
  /// Not initialised: for those who write every row. Pre: as Reduce.
  NarrowMatrix(Index rows, Index cols, const NarrowColumns& narrow);

  /// Writes rows [first, first + count), of all columns. Pre: there are such rows.
  void PutRows(Index first, Index count, ConstRows words);

  PackedMatrix packed;
  RingMatrix whole;
};

/// All columns as words.
[[nodiscard]] RingMatrix Widened(NarrowMatrix x);

/// So many rows at a time are made of words and of planes: planes of whatever number of columns then begin
/// with a word, and no matrix of words is there beside the packed one.
inline constexpr Index kRowsAtOnce = 64;

}  // namespace trefoil::mpc
