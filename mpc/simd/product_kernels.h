#pragma once
#include "mpc/ring.h"
#include "mpc/rows.h"

namespace trefoil::mpc {

/// As ConstRows, of half words.
struct ConstHalfRows {
  const HalfWord* data = nullptr;
  Index stride = 0;
};

struct ProductSizes {
  Index rows = 0;   ///< of the result
  Index cols = 0;   ///< of the result
  Index inner = 0;  ///< summed over
};

/// c(i, j) += sum over k of a(i, k) * b(j, k) modulo 2^64: both operands row by row. Vectors run along k, so
/// that all numbers of columns are equally fast; best where `inner` is long. All instruction sets give
/// the same result; the best one that the processor has is taken. Packed numbers become words where they are
/// multiplied; those of four bytes are multiplied by half words as they are, and the result is known modulo
/// 2^32 alone then.
void AddRowByRowProduct(const ProductSizes& sizes, ConstRows a, ConstRows b, MutableRows c);
void AddRowByRowProduct(const ProductSizes& sizes, PackedRows a, ConstRows b, MutableRows c);
void AddRowByRowProduct(const ProductSizes& sizes, PackedRows a, ConstHalfRows b, MutableRows c);

/// c(i, j) += sum over k of a(k, i) * b(k, j) modulo 2^64: both operands column by column, vectors along i.
/// With half words as above.
void AddColumnByColumnProduct(const ProductSizes& sizes, ConstRows a, ConstRows b, MutableRows c);
void AddColumnByColumnProduct(const ProductSizes& sizes, PackedRows a, ConstRows b, MutableRows c);
void AddColumnByColumnProduct(const ProductSizes& sizes, PackedRows a, ConstHalfRows b, MutableRows c);

}  // namespace trefoil::mpc
