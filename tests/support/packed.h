#pragma once
#include <utility>
#include <vector>

#include "mpc/narrow/narrow_columns.h"
#include "mpc/narrow/packed_share.h"
#include "mpc/share.h"

namespace trefoil::testing_support {

/// The numbers modulo 2^width.
inline mpc::PackedMatrix Packed(const mpc::RingMatrix& words, int width) {
  mpc::PackedMatrix packed(words.rows(), words.cols(), width);
  packed.PutRows(0, words.rows(), {.data = words.data(), .stride = words.cols()});
  return packed;
}

/// The numbers modulo 2^width, in words.
inline mpc::RingMatrix Reduced(const mpc::RingMatrix& x, int width) {
  return x.unaryExpr([low = ~mpc::Word{0} >> (64 - width)](mpc::Word word) { return word & low; });
}

/// `x` with its narrow columns modulo 2^width.
inline mpc::RingMatrix Reduced(mpc::RingMatrix x, const mpc::NarrowColumns& narrow) {
  x.leftCols(narrow.packed()) = Reduced(x.leftCols(narrow.packed()), narrow.width);
  return x;
}

/// The sharing modulo 2^width, in one block.
inline mpc::PackedShare Packed(const mpc::ArithShare& x, int width) {
  return {x.cols(), {{.rows = x.rows(), .own = Packed(x.own(), width), .next = Packed(x.next(), width)}}};
}

/// A component as words: zeros where it is zero.
inline mpc::RingMatrix WidenedComponent(const mpc::PackedShare& x, bool next) {
  mpc::RingMatrix words = mpc::RingMatrix::Zero(x.rows(), x.cols());
  mpc::Index row = 0;
  for (const auto& block : x.blocks()) {
    const mpc::PackedMatrix& component = next ? block.next : block.own;
    if (component.size() > 0) words.middleRows(row, block.rows) = mpc::Widened(component);
    row += block.rows;
  }
  return words;
}

inline mpc::ArithShare Widened(const mpc::PackedShare& x) {
  return {WidenedComponent(x, false), WidenedComponent(x, true)};
}

}  // namespace trefoil::testing_support
