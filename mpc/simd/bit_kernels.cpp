#include "mpc/simd/bit_kernels.h"

#include <cstring>

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/simd/bit_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mpc/simd/word_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trefoil::mpc {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

void XorWords(const Word* a, const Word* b, Index count, Word* out) {
  Combine(a, b, count, out, [](auto x, auto y) HWY_ATTR { return hn::Xor(x, y); });
}

void AndWords(const Word* a, const Word* b, Index count, Word* out) {
  Combine(a, b, count, out, [](auto x, auto y) HWY_ATTR { return hn::And(x, y); });
}

void AddAndOfShares(ShareWords x, ShareWords y, Index count, Word* sum) {
  ByVectors(0, count, [&](auto tag, Index k) HWY_ATTR {
    const auto y_own = hn::LoadU(tag, y.own + k);
    const auto left = hn::And(hn::LoadU(tag, x.own + k), hn::Xor(y_own, hn::LoadU(tag, y.next + k)));
    const auto right = hn::And(hn::LoadU(tag, x.next + k), y_own);
    hn::StoreU(hn::Xor(hn::LoadU(tag, sum + k), hn::Xor(left, right)), tag, sum + k);
  });
}

// The byte behind a word has its highest bits: all that a shift by less than a byte takes in.
void ShiftDown(const std::byte* from, int shift, Index count, Word* out) {
  ByVectors(0, count, [&](auto tag, Index k) HWY_ATTR {
    const auto low = hn::ShiftRightSame(LoadBytes(tag, WordAt(from, k)), shift);
    const auto high = hn::ShiftLeftSame(LoadBytes(tag, WordAt(from, k) + 1), 8 - shift);
    hn::StoreU(hn::Or(low, high), tag, out + k);
  });
}

// All words but the first. Pre: at least one word, filled > 0.
void ShiftUp(const Word* from, int filled, Index count, std::byte* out) {
  ByVectors(1, count, [&](auto tag, Index k) HWY_ATTR {
    const auto low = hn::ShiftRightSame(hn::LoadU(tag, from + k - 1), 64 - filled);
    const auto high = hn::ShiftLeftSame(hn::LoadU(tag, from + k), filled);
    StoreBytes(hn::Or(low, high), tag, WordAt(out, k));
  });
}

void SpreadBits(const Word* bits, Index count, Word* out) {
  ByVectors(0, count, [&](auto tag, Index k) HWY_ATTR {
    // A multiple of the lanes never crosses a word.
    const auto word = hn::Set(tag, bits[k / 64] >> (k % 64));
    hn::StoreU(hn::And(hn::Shr(word, hn::Iota(tag, 0)), hn::Set(tag, 1)), tag, out + k);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace trefoil::mpc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trefoil::mpc {

HWY_EXPORT(XorWords);
HWY_EXPORT(AndWords);
HWY_EXPORT(AddAndOfShares);
HWY_EXPORT(ShiftDown);
HWY_EXPORT(ShiftUp);
HWY_EXPORT(SpreadBits);

void ExclusiveOr(const Word* a, const Word* b, Index count, Word* out) {
  HWY_DYNAMIC_DISPATCH(XorWords)(a, b, count, out);
}

void BitwiseAnd(const Word* a, const Word* b, Index count, Word* out) {
  HWY_DYNAMIC_DISPATCH(AndWords)(a, b, count, out);
}

void AddLocalAnd(ShareWords x, ShareWords y, Index count, Word* sum) {
  HWY_DYNAMIC_DISPATCH(AddAndOfShares)(x, y, count, sum);
}

void BitsFrom(const std::byte* from, int shift, Index count, Word* out) {
  if (count == 0) return;
  if (shift == 0) {
    std::memcpy(out, from, static_cast<std::size_t>(count) * sizeof(Word));
  } else {
    HWY_DYNAMIC_DISPATCH(ShiftDown)(from, shift, count, out);
  }
}

Word BitsBehind(Word pending, int filled, const Word* from, Index count, std::byte* out) {
  if (count == 0) return pending;
  if (filled == 0) {
    std::memcpy(out, from, static_cast<std::size_t>(count) * sizeof(Word));
    return 0;
  }
  const Word first = pending | (from[0] << filled);
  std::memcpy(out, &first, sizeof(first));
  HWY_DYNAMIC_DISPATCH(ShiftUp)(from, filled, count, out);
  return from[count - 1] >> (64 - filled);
}

void BitsToWords(const Word* bits, Index count, Word* out) {
  HWY_DYNAMIC_DISPATCH(SpreadBits)(bits, count, out);
}

}  // namespace trefoil::mpc
#endif
