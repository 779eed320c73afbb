#include "mpc/simd/transposition_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/simd/transposition_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trefoil::mpc {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

namespace hn = hwy::HWY_NAMESPACE;

// A block is 64 x 64 bits: 64 words, bit t of word k. Its transposition swaps, for each of the six bits of a
// number below 64, that bit of k with that bit of t, in any order. As many blocks are taken at once as a
// vector has lanes. Numbers k that differ in a high bit lie in different vectors of a block. Of those that
// differ in a low bit only, words are swapped among the blocks first, so that each lane is a block: then
// these lie in different vectors too, and what comes out is the next words of each plane.

constexpr Index kBits = 64;

template <class Tag>
constexpr Index LanesOf() {
  return static_cast<Index>(hn::MaxLanes(Tag()));
}

/// The lower of each two neighbouring runs of `run` bits.
constexpr Word LowerRuns(int run) {
  Word mask = ~Word{0};
  for (int half = 32; half >= run; half /= 2) mask ^= mask << half;
  return mask;
}

/// Swaps bits t | kRun of `low` with bits t of `high`, for t without that bit.
template <int kRun, class Tag>
HWY_INLINE void SwapRuns(Tag tag, hn::Vec<Tag>& low, hn::Vec<Tag>& high) {
  const auto swap = hn::And(hn::Xor(hn::ShiftRight<kRun>(low), high), hn::Set(tag, LowerRuns(kRun)));
  low = hn::Xor(low, hn::ShiftLeft<kRun>(swap));
  high = hn::Xor(high, swap);
}

/// The same for all pairs of `kCount` vectors that are `kApart` apart.
template <int kRun, Index kApart, Index kCount, class Tag>
HWY_INLINE void SwapAllRuns(Tag tag, hn::Vec<Tag>* rows) {
  if constexpr (kApart >= 1 && kApart < kCount) {
    for (Index v = 0; v < kCount; ++v) {
      if ((v & kApart) == 0) SwapRuns<kRun>(tag, rows[v], rows[v | kApart]);
    }
  }
}

/// The high bits of k: `rows` are the vectors of one block.
template <class Tag>
HWY_INLINE void SwapHighBits(Tag tag, hn::Vec<Tag>* rows) {
  constexpr Index kLanes = LanesOf<Tag>();
  constexpr Index kCount = kBits / kLanes;
  SwapAllRuns<32, 32 / kLanes, kCount>(tag, rows);
  SwapAllRuns<16, 16 / kLanes, kCount>(tag, rows);
  SwapAllRuns<8, 8 / kLanes, kCount>(tag, rows);
  SwapAllRuns<4, 4 / kLanes, kCount>(tag, rows);
  SwapAllRuns<2, 2 / kLanes, kCount>(tag, rows);
  SwapAllRuns<1, 1 / kLanes, kCount>(tag, rows);
}

/// The low bits of k: `rows` are vectors of neighbouring k, with a lane for each block.
template <class Tag>
HWY_INLINE void SwapLowBits(Tag tag, hn::Vec<Tag>* rows) {
  constexpr Index kLanes = LanesOf<Tag>();
  SwapAllRuns<4, 4, kLanes>(tag, rows);
  SwapAllRuns<2, 2, kLanes>(tag, rows);
  SwapAllRuns<1, 1, kLanes>(tag, rows);
}

#if HWY_TARGET == HWY_SCALAR

/// A matrix of one word.
template <class Tag>
HWY_INLINE void SwapWords(Tag, hn::Vec<Tag>*) {}

#else

/// (a0 a1 a2 ...) and (b0 b1 b2 ...) become (a0 b0 a2 ...) and (a1 b1 a3 ...), in units of kApart words.
template <Index kApart, class Tag>
HWY_INLINE void SwapNeighbours(Tag tag, hn::Vec<Tag>& low, hn::Vec<Tag>& high) {
  const auto a = low;
  const auto b = high;
  if constexpr (kApart == 1) {
    low = hn::InterleaveLower(tag, a, b);
    high = hn::InterleaveUpper(tag, a, b);
  } else if constexpr (kApart == 2) {
    low = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
    high = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
  } else {
    low = hn::ConcatLowerLower(tag, b, a);
    high = hn::ConcatUpperUpper(tag, b, a);
  }
}

template <Index kApart, class Tag>
HWY_INLINE void SwapAllNeighbours(Tag tag, hn::Vec<Tag>* rows) {
  if constexpr (kApart < LanesOf<Tag>()) {
    for (Index v = 0; v < LanesOf<Tag>(); ++v) {
      if ((v & kApart) == 0) SwapNeighbours<kApart>(tag, rows[v], rows[v | kApart]);
    }
  }
}

/// As many vectors as they have lanes, transposed as a matrix of words.
template <class Tag>
HWY_INLINE void SwapWords(Tag tag, hn::Vec<Tag>* rows) {
  static_assert(LanesOf<Tag>() <= 8);
  SwapAllNeighbours<1>(tag, rows);
  SwapAllNeighbours<2>(tag, rows);
  SwapAllNeighbours<4>(tag, rows);
}

#endif

/// Between the two halves of the work: for each vector of a block, that of every block.
template <class Tag>
struct Halfway {
  static constexpr Index kLanes = LanesOf<Tag>();
  static constexpr Index kVectors = kBits / kLanes;  ///< of a block

  [[nodiscard]] Word* at(Index vector, Index block) {
    return words.data() + (vector * kLanes + block) * kLanes;
  }

  alignas(64) std::array<Word, static_cast<std::size_t>(kBits* kLanes)> words;
};

/// As many blocks as a vector has lanes, to the next so many words of each plane.
template <class Tag>
HWY_INLINE void BlocksToPlanes(Tag tag, const Word* x, Index width, MutableRows planes) {
  using Half = Halfway<Tag>;
  constexpr Index kLanes = Half::kLanes;
  Half halfway;
  for (Index block = 0; block < kLanes; ++block) {
    hn::Vec<Tag> rows[Half::kVectors];  // NOLINT(modernize-avoid-c-arrays): of vectors
    for (Index v = 0; v < Half::kVectors; ++v) rows[v] = hn::LoadU(tag, x + block * kBits + v * kLanes);
    SwapHighBits(tag, rows);
    for (Index v = 0; v < Half::kVectors; ++v) hn::StoreU(rows[v], tag, halfway.at(v, block));
  }
  for (Index v = 0; v * kLanes < width; ++v) {
    hn::Vec<Tag> rows[kLanes];  // NOLINT(modernize-avoid-c-arrays)
    for (Index i = 0; i < kLanes; ++i) rows[i] = hn::LoadU(tag, halfway.at(v, i));
    SwapWords(tag, rows);
    SwapLowBits(tag, rows);
    Word* out = planes.data + v * kLanes * planes.stride;
    for (Index i = 0; i < kLanes; ++i) {
      if (v * kLanes + i < width) hn::StoreU(rows[i], tag, out + i * planes.stride);
    }
  }
}

template <class Tag>
HWY_INLINE void PlanesToBlocks(Tag tag, ConstRows planes, Index width, Word* x) {
  using Half = Halfway<Tag>;
  constexpr Index kLanes = Half::kLanes;
  Half halfway;
  for (Index v = 0; v < Half::kVectors; ++v) {
    hn::Vec<Tag> rows[kLanes];  // NOLINT(modernize-avoid-c-arrays)
    const Word* in = planes.data + v * kLanes * planes.stride;
    for (Index i = 0; i < kLanes; ++i)
      rows[i] = v * kLanes + i < width ? hn::LoadU(tag, in + i * planes.stride) : hn::Zero(tag);
    SwapLowBits(tag, rows);
    SwapWords(tag, rows);
    for (Index i = 0; i < kLanes; ++i) hn::StoreU(rows[i], tag, halfway.at(v, i));
  }
  for (Index block = 0; block < kLanes; ++block) {
    hn::Vec<Tag> rows[Half::kVectors];  // NOLINT(modernize-avoid-c-arrays)
    for (Index v = 0; v < Half::kVectors; ++v) rows[v] = hn::LoadU(tag, halfway.at(v, block));
    SwapHighBits(tag, rows);
    for (Index v = 0; v < Half::kVectors; ++v) hn::StoreU(rows[v], tag, x + block * kBits + v * kLanes);
  }
}

/// The last words, which are fewer than `Tag` takes: filled up with zeros.
template <class Tag>
HWY_INLINE void RestToPlanes(Tag tag, const Word* x, Index count, Index width, MutableRows planes) {
  constexpr Index kLanes = LanesOf<Tag>();
  std::array<Word, static_cast<std::size_t>(kBits * kLanes)> in{};
  std::array<Word, static_cast<std::size_t>(kBits * kLanes)> out;
  std::copy_n(x, count, in.begin());
  BlocksToPlanes(tag, in.data(), width, {.data = out.data(), .stride = kLanes});
  for (Index plane = 0; plane < width; ++plane)
    std::copy_n(out.data() + plane * kLanes, (count + kBits - 1) / kBits,
                planes.data + plane * planes.stride);
}

template <class Tag>
HWY_INLINE void PlanesToRest(Tag tag, ConstRows planes, Index width, Index count, Word* x) {
  constexpr Index kLanes = LanesOf<Tag>();
  std::array<Word, static_cast<std::size_t>(kBits * kLanes)> in{};
  std::array<Word, static_cast<std::size_t>(kBits * kLanes)> out;
  for (Index plane = 0; plane < width; ++plane)
    std::copy_n(planes.data + plane * planes.stride, (count + kBits - 1) / kBits, in.data() + plane * kLanes);
  PlanesToBlocks(tag, {.data = in.data(), .stride = kLanes}, width, out.data());
  std::copy_n(out.begin(), count, x);
}

using Widest = hn::ScalableTag<Word>;
constexpr Index kMaxLanes = LanesOf<Widest>();

/// Calls `body` with the narrowest vectors that take the `blocks` that are left.
template <class Body>
HWY_INLINE void WithTagFor(Index blocks, Body body) {
  if constexpr (kMaxLanes > 4) {
    if (blocks <= 4) return body(hn::CappedTag<Word, 4>());
  }
  body(Widest());
}

void ToPlanes(const Word* x, Index count, Index width, MutableRows planes) {
  Index done = 0;
  for (; done + kBits * kMaxLanes <= count; done += kBits * kMaxLanes)
    BlocksToPlanes(Widest(), x + done, width, {.data = planes.data + done / kBits, .stride = planes.stride});
  if (done == count) return;
  WithTagFor((count - done + kBits - 1) / kBits, [&](auto tag) HWY_ATTR {
    RestToPlanes(tag, x + done, count - done, width,
                 {.data = planes.data + done / kBits, .stride = planes.stride});
  });
}

void ToWords(ConstRows planes, Index width, Index count, Word* x) {
  Index done = 0;
  for (; done + kBits * kMaxLanes <= count; done += kBits * kMaxLanes)
    PlanesToBlocks(Widest(), {.data = planes.data + done / kBits, .stride = planes.stride}, width, x + done);
  if (done == count) return;
  WithTagFor((count - done + kBits - 1) / kBits, [&](auto tag) HWY_ATTR {
    PlanesToRest(tag, {.data = planes.data + done / kBits, .stride = planes.stride}, width, count - done,
                 x + done);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace trefoil::mpc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trefoil::mpc {

HWY_EXPORT(ToPlanes);
HWY_EXPORT(ToWords);

void WordsToPlanes(const Word* x, Index count, Index width, MutableRows planes) {
  HWY_DYNAMIC_DISPATCH(ToPlanes)(x, count, width, planes);
}

void PlanesToWords(ConstRows planes, Index width, Index count, Word* x) {
  if (width == 0) {
    std::fill_n(x, count, Word{0});
    return;
  }
  HWY_DYNAMIC_DISPATCH(ToWords)(planes, width, count, x);
}

}  // namespace trefoil::mpc
#endif
