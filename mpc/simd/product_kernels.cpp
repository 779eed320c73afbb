#include "mpc/simd/product_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/simd/product_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trefoil::mpc {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<Word>;
using Vector = hn::Vec<Tag>;

HWY_INLINE Index LanesOf() { return static_cast<Index>(hn::Lanes(Tag())); }

// With 32 registers the accumulators of 4 x 5 results stay in them, and nine loads serve twenty
// multiplications. Where 64-bit products are emulated the multiplications need registers of their own.
constexpr bool kWide = hn::MaxLanes(Tag()) >= 8;
constexpr Index kRowsAtOnce = kWide ? 4 : 2;
constexpr Index kColumnsAtOnce = kWide ? 5 : 2;
/// So much of the sum at a time that a block's operands stay in the first-level cache, and so many columns of
/// it in the second.
constexpr Index kInnerAtOnce = 512;
constexpr Index kColumnsInCache = 60;

/// The sum of a vector's lanes modulo 2^64. Highway's own is, for AVX-512, a function of the compiler's header that adds
/// signed words, whose overflow is undefined.
HWY_INLINE Word SumOf(Vector lanes) {
  HWY_ALIGN std::array<Word, hn::MaxLanes(Tag())> words;
  hn::Store(lanes, Tag(), words.data());
  Word sum = 0;
  for (Index i = 0; i < LanesOf(); ++i) sum += words[static_cast<std::size_t>(i)];
  return sum;
}

/// Adds the part of the sum from `first` to `last` for R x C results.
template <Index R, Index C>
HWY_INLINE void AddDots(Index first, Index last, ConstRows a, ConstRows b, MutableRows c) {
  const Tag tag;
  const Index lanes = LanesOf();
  Vector sums[R][C];  // NOLINT(modernize-avoid-c-arrays): a vector of unknown size is no array's element
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(tag);
  }
  Index k = first;
  for (; k + lanes <= last; k += lanes) {
    Vector left[R];  // NOLINT(modernize-avoid-c-arrays)
    for (Index i = 0; i < R; ++i) left[i] = hn::LoadU(tag, a.data + i * a.stride + k);
    for (Index j = 0; j < C; ++j) {
      const Vector right = hn::LoadU(tag, b.data + j * b.stride + k);
      for (Index i = 0; i < R; ++i) sums[i][j] = hn::Add(sums[i][j], hn::Mul(left[i], right));
    }
  }
  for (Index i = 0; i < R; ++i) {
    const Word* row = a.data + i * a.stride;
    for (Index j = 0; j < C; ++j) {
      const Word* column = b.data + j * b.stride;
      Word sum = SumOf(sums[i][j]);
      for (Index rest = k; rest < last; ++rest) sum += row[rest] * column[rest];
      c.data[i * c.stride + j] += sum;
    }
  }
}

/// The same for R rows and any number of columns.
template <Index R>
HWY_INLINE void AddDotsOfRows(Index cols, Index first, Index last, ConstRows a, ConstRows b, MutableRows c) {
  Index j = 0;
  for (; j + kColumnsAtOnce <= cols; j += kColumnsAtOnce)
    AddDots<R, kColumnsAtOnce>(first, last, a, {b.data + j * b.stride, b.stride}, {c.data + j, c.stride});
  for (; j < cols; ++j)
    AddDots<R, 1>(first, last, a, {b.data + j * b.stride, b.stride}, {c.data + j, c.stride});
}

void RowByRow(const ProductSizes& sizes, ConstRows a, ConstRows b, MutableRows c) {
  for (Index i = 0; i < sizes.rows; ++i) std::fill_n(c.data + i * c.stride, sizes.cols, Word{0});
  for (Index first = 0; first < sizes.inner; first += kInnerAtOnce) {
    const Index last = std::min(sizes.inner, first + kInnerAtOnce);
    for (Index j = 0; j < sizes.cols; j += kColumnsInCache) {
      const Index cols = std::min(sizes.cols - j, kColumnsInCache);
      const ConstRows columns{b.data + j * b.stride, b.stride};
      const auto row = [&](Index i) { return ConstRows{a.data + i * a.stride, a.stride}; };
      const auto result = [&](Index i) { return MutableRows{c.data + i * c.stride + j, c.stride}; };
      Index i = 0;
      for (; i + kRowsAtOnce <= sizes.rows; i += kRowsAtOnce)
        AddDotsOfRows<kRowsAtOnce>(cols, first, last, row(i), columns, result(i));
      for (; i < sizes.rows; ++i) AddDotsOfRows<1>(cols, first, last, row(i), columns, result(i));
    }
  }
}

/// As many summands at a time for columns of results, so that what is read of `a` stays in the cache until
/// the next ones want the rest of its lines.
constexpr Index kSummandsAtOnce = 32;

/// Adds `inner` summands to V vectors of result rows times C result columns.
template <Index V, Index C>
HWY_INLINE void AddOuter(Index inner, ConstRows a, ConstRows b, MutableRows c) {
  const Tag tag;
  const Index lanes = LanesOf();
  Vector sums[C][V];  // NOLINT(modernize-avoid-c-arrays)
  for (auto& column : sums) {
    for (auto& sum : column) sum = hn::Zero(tag);
  }
  for (Index k = 0; k < inner; ++k) {
    Vector left[V];                                    // NOLINT(modernize-avoid-c-arrays)
    hwy::Prefetch(a.data + k * a.stride + V * lanes);  // the next rows of results, a line or two of each
    if constexpr (V > 1) hwy::Prefetch(a.data + k * a.stride + (V + 1) * lanes);
    for (Index v = 0; v < V; ++v) left[v] = hn::LoadU(tag, a.data + k * a.stride + v * lanes);
    for (Index j = 0; j < C; ++j) {
      const Vector right = hn::Set(tag, b.data[k * b.stride + j]);
      for (Index v = 0; v < V; ++v) sums[j][v] = hn::Add(sums[j][v], hn::Mul(left[v], right));
    }
  }
  std::array<Word, hn::MaxLanes(Tag())> lane{};
  for (Index j = 0; j < C; ++j) {
    for (Index v = 0; v < V; ++v) {
      hn::StoreU(sums[j][v], tag, lane.data());
      for (Index i = 0; i < lanes; ++i)
        c.data[(v * lanes + i) * c.stride + j] += lane[static_cast<std::size_t>(i)];
    }
  }
}

template <Index C>
HWY_INLINE void AddOuterOfColumns(const ProductSizes& sizes, ConstRows a, ConstRows b, MutableRows c) {
  const Index lanes = LanesOf();
  Index i = 0;
  for (; i + 2 * lanes <= sizes.rows; i += 2 * lanes)
    AddOuter<2, C>(sizes.inner, {a.data + i, a.stride}, b, {c.data + i * c.stride, c.stride});
  for (; i + lanes <= sizes.rows; i += lanes)
    AddOuter<1, C>(sizes.inner, {a.data + i, a.stride}, b, {c.data + i * c.stride, c.stride});
  for (; i < sizes.rows; ++i) {
    for (Index j = 0; j < C; ++j) {
      Word sum = 0;
      for (Index k = 0; k < sizes.inner; ++k) sum += a.data[k * a.stride + i] * b.data[k * b.stride + j];
      c.data[i * c.stride + j] += sum;
    }
  }
}

void ColumnByColumn(const ProductSizes& sizes, ConstRows a, ConstRows b, MutableRows c) {
  constexpr Index kMany = kWide ? 10 : 4;
  for (Index i = 0; i < sizes.rows; ++i) std::fill_n(c.data + i * c.stride, sizes.cols, Word{0});
  for (Index k = 0; k < sizes.inner; k += kSummandsAtOnce) {
    const ProductSizes part{sizes.rows, sizes.cols, std::min(sizes.inner - k, kSummandsAtOnce)};
    const ConstRows left{a.data + k * a.stride, a.stride};
    const auto right = [&](Index j) { return ConstRows{b.data + k * b.stride + j, b.stride}; };
    Index j = 0;
    for (; j + kMany <= sizes.cols; j += kMany)
      AddOuterOfColumns<kMany>(part, left, right(j), {c.data + j, c.stride});
    for (; j < sizes.cols; ++j) AddOuterOfColumns<1>(part, left, right(j), {c.data + j, c.stride});
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trefoil::mpc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trefoil::mpc {

HWY_EXPORT(RowByRow);
HWY_EXPORT(ColumnByColumn);

void RowByRowProduct(const ProductSizes& sizes, ConstRows a, ConstRows b, MutableRows c) {
  HWY_DYNAMIC_DISPATCH(RowByRow)(sizes, a, b, c);
}

void ColumnByColumnProduct(const ProductSizes& sizes, ConstRows a, ConstRows b, MutableRows c) {
  HWY_DYNAMIC_DISPATCH(ColumnByColumn)(sizes, a, b, c);
}

}  // namespace trefoil::mpc
#endif
