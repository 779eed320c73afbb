#include "mpc/bit_kernels.h"

#include <cstring>

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/bit_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trefoil::mpc {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::ScalableTag<Word>;
using Vector = hn::Vec<WordTag>;

HWY_INLINE Index WordsAtOnce() { return static_cast<Index>(hn::Lanes(WordTag())); }

// Of bytes that need not lie as words do.
HWY_INLINE Vector LoadBytes(const std::byte* from) {
  Vector words;
  std::memcpy(&words, from, sizeof(words));
  return words;
}

HWY_INLINE void StoreBytes(const Vector& words, std::byte* to) { std::memcpy(to, &words, sizeof(words)); }

HWY_INLINE Word LoadWord(const std::byte* from) {
  Word word = 0;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

void XorWords(const Word* a, const Word* b, Index count, Word* out) {
  const WordTag tag;
  const Index lanes = WordsAtOnce();
  Index k = 0;
  for (; k + lanes <= count; k += lanes)
    hn::StoreU(hn::Xor(hn::LoadU(tag, a + k), hn::LoadU(tag, b + k)), tag, out + k);
  for (; k < count; ++k) out[k] = a[k] ^ b[k];
}

void AndWords(const Word* a, const Word* b, Index count, Word* out) {
  const WordTag tag;
  const Index lanes = WordsAtOnce();
  Index k = 0;
  for (; k + lanes <= count; k += lanes)
    hn::StoreU(hn::And(hn::LoadU(tag, a + k), hn::LoadU(tag, b + k)), tag, out + k);
  for (; k < count; ++k) out[k] = a[k] & b[k];
}

void AddAndOfShares(BitComponents x, BitComponents y, Index count, Word* sum) {
  const WordTag tag;
  const Index lanes = WordsAtOnce();
  Index k = 0;
  for (; k + lanes <= count; k += lanes) {
    const auto y_own = hn::LoadU(tag, y.own + k);
    const auto left = hn::And(hn::LoadU(tag, x.own + k), hn::Xor(y_own, hn::LoadU(tag, y.next + k)));
    const auto right = hn::And(hn::LoadU(tag, x.next + k), y_own);
    hn::StoreU(hn::Xor(hn::LoadU(tag, sum + k), hn::Xor(left, right)), tag, sum + k);
  }
  for (; k < count; ++k) sum[k] ^= (x.own[k] & (y.own[k] ^ y.next[k])) ^ (x.next[k] & y.own[k]);
}

// The byte behind a word has its highest bits: all that a shift by less than a byte takes in.
void ShiftDown(const std::byte* from, int shift, Index count, Word* out) {
  const Index lanes = WordsAtOnce();
  const auto at = [from](Index word) { return from + word * static_cast<Index>(sizeof(Word)); };
  Index k = 0;
  for (; k + lanes <= count; k += lanes) {
    const auto low = hn::ShiftRightSame(LoadBytes(at(k)), shift);
    const auto high = hn::ShiftLeftSame(LoadBytes(at(k) + 1), 8 - shift);
    hn::StoreU(hn::Or(low, high), WordTag(), out + k);
  }
  for (; k < count; ++k) out[k] = (LoadWord(at(k)) >> shift) | (LoadWord(at(k) + 1) << (8 - shift));
}

// Pre: at least one word, filled > 0.
void ShiftUp(const Word* from, int filled, Index count, std::byte* out) {
  const WordTag tag;
  const Index lanes = WordsAtOnce();
  const auto at = [out](Index word) { return out + word * static_cast<Index>(sizeof(Word)); };
  Index k = 1;
  for (; k + lanes <= count; k += lanes) {
    const auto low = hn::ShiftRightSame(hn::LoadU(tag, from + k - 1), 64 - filled);
    const auto high = hn::ShiftLeftSame(hn::LoadU(tag, from + k), filled);
    StoreBytes(hn::Or(low, high), at(k));
  }
  for (; k < count; ++k) {
    const Word word = (from[k - 1] >> (64 - filled)) | (from[k] << filled);
    std::memcpy(at(k), &word, sizeof(word));
  }
}

void SpreadBits(const Word* bits, Index count, Word* out) {
  const WordTag tag;
  const Index lanes = WordsAtOnce();
  const auto one = hn::Set(tag, 1);
  const auto first = hn::Iota(tag, 0);
  Index k = 0;
  for (; k + lanes <= count; k += lanes) {
    // A multiple of the lanes never crosses a word.
    const auto word = hn::Set(tag, bits[k / 64] >> (k % 64));
    hn::StoreU(hn::And(hn::Shr(word, first), one), tag, out + k);
  }
  for (; k < count; ++k) out[k] = (bits[k / 64] >> (k % 64)) & 1;
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

void AddLocalAnd(BitComponents x, BitComponents y, Index count, Word* sum) {
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
