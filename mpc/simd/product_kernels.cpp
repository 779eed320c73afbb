#include "mpc/simd/product_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

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

/// Lanes are words, or half words where a sum is wanted modulo 2^32.
template <class Lane>
using TagOf = hn::ScalableTag<Lane>;
template <class Lane>
using VectorOf = hn::Vec<TagOf<Lane>>;
using Tag = TagOf<Word>;
using Vector = VectorOf<Word>;

template <class Lane>
HWY_INLINE Index LanesOf() {
  return static_cast<Index>(hn::Lanes(TagOf<Lane>()));
}

// With 32 registers the accumulators of 4 x 5 results stay in them, and nine loads serve twenty
// multiplications. With 16 those of 2 x 5 do; where 64-bit products are emulated the multiplications need
// registers of their own.
constexpr bool kWide = hn::MaxLanes(Tag()) >= 8;
constexpr Index kRowsAtOnce = kWide ? 4 : 2;
template <class Lane>
constexpr Index kColumnsAtOnce = kWide || sizeof(Lane) < sizeof(Word) ? 5 : 2;
/// So much of the sum at a time that a block's operands stay in the first-level cache, and so many columns of
/// it in the second.
constexpr Index kInnerAtOnce = 512;
constexpr Index kColumnsInCache = 60;

/// The sum of a vector's lanes modulo 2^64 or 2^32. Highway's own is, for AVX-512, a function of the
/// compiler's header that adds signed words, whose overflow is undefined.
template <class Lane>
HWY_INLINE Lane SumOf(VectorOf<Lane> lanes) {
  HWY_ALIGN std::array<Lane, hn::MaxLanes(TagOf<Lane>())> words;
  hn::Store(lanes, TagOf<Lane>(), words.data());
  Lane sum = 0;
  for (Index i = 0; i < LanesOf<Lane>(); ++i) sum += words[static_cast<std::size_t>(i)];
  return sum;
}

/// How kernels read a left operand of words, and what they read as the right one.
class WordsOfRows {
 public:
  using Lane = Word;
  using Right = ConstRows;

  HWY_INLINE explicit WordsOfRows(ConstRows rows) : rows_(rows) {}

  HWY_INLINE const Word* At(Index row, Index col) const { return rows_.data + row * rows_.stride + col; }
  HWY_INLINE Word Get(Index row, Index col) const { return *At(row, col); }
  /// A vector of them.
  HWY_INLINE Vector Load(Index row, Index col) const { return hn::LoadU(Tag(), At(row, col)); }

 private:
  ConstRows rows_;
};

/// The same of packed numbers, each of which becomes a word.
class NumbersOfRows {
 public:
  using Lane = Word;
  using Right = ConstRows;

  HWY_INLINE explicit NumbersOfRows(PackedRows rows) : rows_(rows) {
#if HWY_TARGET != HWY_SCALAR
    // A block is what bytes can be moved within: two words. Its numbers lie within four half words, the first
    // of which begins no more than two bytes before them.
    constexpr Index kHalvesOfBlock = 4;
    HWY_ALIGN std::array<std::int32_t, hn::MaxLanes(Halves())> halves;
    HWY_ALIGN std::array<std::uint8_t, hn::MaxLanes(Bytes())> bytes;
    for (Index block = 0; 2 * block < LanesOf<Word>(); ++block) {
      const Index first = 2 * block * rows.bytes;
      for (Index half = 0; half < kHalvesOfBlock; ++half)
        halves[static_cast<std::size_t>(kHalvesOfBlock * block + half)] =
            static_cast<std::int32_t>(first / 4 + half);
      for (Index byte = 0; byte < 16; ++byte) {
        const Index in_word = byte % 8;
        const Index from = first % 4 + byte / 8 * rows.bytes + in_word;
        bytes[static_cast<std::size_t>(16 * block + byte)] =
            in_word < rows.bytes ? static_cast<std::uint8_t>(from) : std::uint8_t{0x80};
      }
    }
    halves_ = hn::SetTableIndices(Halves(), halves.data());
    bytes_ = hn::Load(Bytes(), bytes.data());
#endif
  }

  HWY_INLINE const std::byte* At(Index row, Index col) const {
    return rows_.data + row * rows_.stride + col * rows_.bytes;
  }
  HWY_INLINE Word Get(Index row, Index col) const {
    Word word = 0;
    std::memcpy(&word, At(row, col), static_cast<std::size_t>(rows_.bytes));
    return word;
  }
  HWY_INLINE Vector Load(Index row, Index col) const {
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(Tag(), Get(row, col));
#else
    const auto packed = hn::LoadU(Bytes(), reinterpret_cast<const std::uint8_t*>(At(row, col)));
    const auto blocks = hn::TableLookupLanes(hn::BitCast(Halves(), packed), halves_);
    return hn::BitCast(Tag(), hn::TableLookupBytesOr0(hn::BitCast(Bytes(), blocks), bytes_));
#endif
  }

 private:
  PackedRows rows_;
#if HWY_TARGET != HWY_SCALAR
  using Bytes = hn::Repartition<std::uint8_t, Tag>;
  using Halves = hn::Repartition<std::uint32_t, Tag>;
  static_assert(hn::MaxLanes(Bytes()) <= PackedRows::kReadBeyond);

  decltype(hn::SetTableIndices(Halves(), static_cast<const std::int32_t*>(nullptr))) halves_;
  hn::Vec<Bytes> bytes_;
#endif
};

/// Packed numbers of four bytes, which are half words as they lie.
class HalvesOfRows {
 public:
  using Lane = HalfWord;
  using Right = ConstHalfRows;

  HWY_INLINE explicit HalvesOfRows(PackedRows rows) : rows_(rows) {}

  HWY_INLINE const std::byte* At(Index row, Index col) const {
    return rows_.data + row * rows_.stride + col * static_cast<Index>(sizeof(HalfWord));
  }
  HWY_INLINE HalfWord Get(Index row, Index col) const {
    HalfWord half = 0;
    std::memcpy(&half, At(row, col), sizeof half);
    return half;
  }
  HWY_INLINE VectorOf<HalfWord> Load(Index row, Index col) const {
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(TagOf<HalfWord>(), Get(row, col));
#else
    const hn::Repartition<std::uint8_t, TagOf<HalfWord>> bytes;
    return hn::BitCast(TagOf<HalfWord>(),
                       hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(At(row, col))));
#endif
  }

 private:
  PackedRows rows_;
};

/// Adds the part of the sum from `first` to `last` for results of R rows, from row `i` on, and C columns.
template <Index R, Index C, class Left>
HWY_INLINE void AddDots(Index first, Index last, const Left& a, Index i0, typename Left::Right b,
                        MutableRows c) {
  using Lane = typename Left::Lane;
  const TagOf<Lane> tag;
  const Index lanes = LanesOf<Lane>();
  // A vector of unknown size is no array's element.
  VectorOf<Lane> sums[R][C];  // NOLINT(modernize-avoid-c-arrays)
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(tag);
  }
  Index k = first;
  for (; k + lanes <= last; k += lanes) {
    VectorOf<Lane> left[R];  // NOLINT(modernize-avoid-c-arrays)
    for (Index i = 0; i < R; ++i) left[i] = a.Load(i0 + i, k);
    for (Index j = 0; j < C; ++j) {
      const VectorOf<Lane> right = hn::LoadU(tag, b.data + j * b.stride + k);
      for (Index i = 0; i < R; ++i) sums[i][j] = hn::Add(sums[i][j], hn::Mul(left[i], right));
    }
  }
  for (Index i = 0; i < R; ++i) {
    for (Index j = 0; j < C; ++j) {
      const Lane* column = b.data + j * b.stride;
      Lane sum = SumOf<Lane>(sums[i][j]);
      for (Index rest = k; rest < last; ++rest) sum += a.Get(i0 + i, rest) * column[rest];
      c.data[i * c.stride + j] += sum;
    }
  }
}

/// The same for R rows and any number of columns.
template <Index R, class Left>
HWY_INLINE void AddDotsOfRows(Index cols, Index first, Index last, const Left& a, Index i0,
                              typename Left::Right b, MutableRows c) {
  constexpr Index kMany = kColumnsAtOnce<typename Left::Lane>;
  Index j = 0;
  for (; j + kMany <= cols; j += kMany)
    AddDots<R, kMany>(first, last, a, i0, {b.data + j * b.stride, b.stride}, {c.data + j, c.stride});
  for (; j < cols; ++j)
    AddDots<R, 1>(first, last, a, i0, {b.data + j * b.stride, b.stride}, {c.data + j, c.stride});
}

template <class Left>
HWY_INLINE void AddRowByRow(const ProductSizes& sizes, const Left& a, typename Left::Right b, MutableRows c) {
  for (Index first = 0; first < sizes.inner; first += kInnerAtOnce) {
    const Index last = std::min(sizes.inner, first + kInnerAtOnce);
    for (Index j = 0; j < sizes.cols; j += kColumnsInCache) {
      const Index cols = std::min(sizes.cols - j, kColumnsInCache);
      const typename Left::Right columns{b.data + j * b.stride, b.stride};
      const auto result = [&](Index i) { return MutableRows{c.data + i * c.stride + j, c.stride}; };
      Index i = 0;
      for (; i + kRowsAtOnce <= sizes.rows; i += kRowsAtOnce)
        AddDotsOfRows<kRowsAtOnce>(cols, first, last, a, i, columns, result(i));
      for (; i < sizes.rows; ++i) AddDotsOfRows<1>(cols, first, last, a, i, columns, result(i));
    }
  }
}

void RowByRow(const ProductSizes& sizes, ConstRows a, ConstRows b, MutableRows c) {
  AddRowByRow(sizes, WordsOfRows(a), b, c);
}

void PackedRowByRow(const ProductSizes& sizes, PackedRows a, ConstRows b, MutableRows c) {
  AddRowByRow(sizes, NumbersOfRows(a), b, c);
}

void HalvesRowByRow(const ProductSizes& sizes, PackedRows a, ConstHalfRows b, MutableRows c) {
  AddRowByRow(sizes, HalvesOfRows(a), b, c);
}

/// As many summands at a time for columns of results, so that what is read of `a` stays in the cache until
/// the next ones want the rest of its lines.
constexpr Index kSummandsAtOnce = 32;

/// Adds `inner` summands, from row k0 of `a` on, to V vectors of result rows, from row i0 on, times C result
/// columns.
template <Index V, Index C, class Left>
HWY_INLINE void AddOuter(Index inner, const Left& a, Index k0, Index i0, typename Left::Right b,
                         MutableRows c) {
  using Lane = typename Left::Lane;
  const TagOf<Lane> tag;
  const Index lanes = LanesOf<Lane>();
  VectorOf<Lane> sums[C][V];  // NOLINT(modernize-avoid-c-arrays)
  for (auto& column : sums) {
    for (auto& sum : column) sum = hn::Zero(tag);
  }
  for (Index k = 0; k < inner; ++k) {
    VectorOf<Lane> left[V];                       // NOLINT(modernize-avoid-c-arrays)
    hwy::Prefetch(a.At(k0 + k, i0 + V * lanes));  // the next rows of results, a line or two of each
    if constexpr (V > 1) hwy::Prefetch(a.At(k0 + k, i0 + (V + 1) * lanes));
    for (Index v = 0; v < V; ++v) left[v] = a.Load(k0 + k, i0 + v * lanes);
    for (Index j = 0; j < C; ++j) {
      const VectorOf<Lane> right = hn::Set(tag, b.data[k * b.stride + j]);
      for (Index v = 0; v < V; ++v) sums[j][v] = hn::Add(sums[j][v], hn::Mul(left[v], right));
    }
  }
  std::array<Lane, hn::MaxLanes(TagOf<Lane>())> lane{};
  for (Index j = 0; j < C; ++j) {
    for (Index v = 0; v < V; ++v) {
      hn::StoreU(sums[j][v], tag, lane.data());
      for (Index i = 0; i < lanes; ++i)
        c.data[(v * lanes + i) * c.stride + j] += lane[static_cast<std::size_t>(i)];
    }
  }
}

template <Index C, class Left>
HWY_INLINE void AddOuterOfColumns(const ProductSizes& sizes, const Left& a, Index k0, typename Left::Right b,
                                  MutableRows c) {
  const Index lanes = LanesOf<typename Left::Lane>();
  Index i = 0;
  for (; i + 2 * lanes <= sizes.rows; i += 2 * lanes)
    AddOuter<2, C>(sizes.inner, a, k0, i, b, {c.data + i * c.stride, c.stride});
  for (; i + lanes <= sizes.rows; i += lanes)
    AddOuter<1, C>(sizes.inner, a, k0, i, b, {c.data + i * c.stride, c.stride});
  for (; i < sizes.rows; ++i) {
    for (Index j = 0; j < C; ++j) {
      typename Left::Lane sum = 0;
      for (Index k = 0; k < sizes.inner; ++k) sum += a.Get(k0 + k, i) * b.data[k * b.stride + j];
      c.data[i * c.stride + j] += sum;
    }
  }
}

template <class Left>
HWY_INLINE void AddColumnByColumn(const ProductSizes& sizes, const Left& a, typename Left::Right b,
                                  MutableRows c) {
  constexpr Index kMany = kWide ? 10 : sizeof(typename Left::Lane) < sizeof(Word) ? 5 : 4;
  for (Index k = 0; k < sizes.inner; k += kSummandsAtOnce) {
    const ProductSizes part{sizes.rows, sizes.cols, std::min(sizes.inner - k, kSummandsAtOnce)};
    const auto right = [&](Index j) { return typename Left::Right{b.data + k * b.stride + j, b.stride}; };
    Index j = 0;
    for (; j + kMany <= sizes.cols; j += kMany)
      AddOuterOfColumns<kMany>(part, a, k, right(j), {c.data + j, c.stride});
    for (; j < sizes.cols; ++j) AddOuterOfColumns<1>(part, a, k, right(j), {c.data + j, c.stride});
  }
}

void ColumnByColumn(const ProductSizes& sizes, ConstRows a, ConstRows b, MutableRows c) {
  AddColumnByColumn(sizes, WordsOfRows(a), b, c);
}

void PackedColumnByColumn(const ProductSizes& sizes, PackedRows a, ConstRows b, MutableRows c) {
  AddColumnByColumn(sizes, NumbersOfRows(a), b, c);
}

void HalvesColumnByColumn(const ProductSizes& sizes, PackedRows a, ConstHalfRows b, MutableRows c) {
  AddColumnByColumn(sizes, HalvesOfRows(a), b, c);
}

}  // namespace HWY_NAMESPACE
}  // namespace trefoil::mpc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trefoil::mpc {

HWY_EXPORT(RowByRow);
HWY_EXPORT(PackedRowByRow);
HWY_EXPORT(HalvesRowByRow);
HWY_EXPORT(ColumnByColumn);
HWY_EXPORT(PackedColumnByColumn);
HWY_EXPORT(HalvesColumnByColumn);

void AddRowByRowProduct(const ProductSizes& sizes, ConstRows a, ConstRows b, MutableRows c) {
  HWY_DYNAMIC_DISPATCH(RowByRow)(sizes, a, b, c);
}

void AddRowByRowProduct(const ProductSizes& sizes, PackedRows a, ConstRows b, MutableRows c) {
  HWY_DYNAMIC_DISPATCH(PackedRowByRow)(sizes, a, b, c);
}

void AddRowByRowProduct(const ProductSizes& sizes, PackedRows a, ConstHalfRows b, MutableRows c) {
  HWY_DYNAMIC_DISPATCH(HalvesRowByRow)(sizes, a, b, c);
}

void AddColumnByColumnProduct(const ProductSizes& sizes, ConstRows a, ConstRows b, MutableRows c) {
  HWY_DYNAMIC_DISPATCH(ColumnByColumn)(sizes, a, b, c);
}

void AddColumnByColumnProduct(const ProductSizes& sizes, PackedRows a, ConstRows b, MutableRows c) {
  HWY_DYNAMIC_DISPATCH(PackedColumnByColumn)(sizes, a, b, c);
}

void AddColumnByColumnProduct(const ProductSizes& sizes, PackedRows a, ConstHalfRows b, MutableRows c) {
  HWY_DYNAMIC_DISPATCH(HalvesColumnByColumn)(sizes, a, b, c);
}

}  // namespace trefoil::mpc
#endif
