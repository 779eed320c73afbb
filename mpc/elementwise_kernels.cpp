#include "mpc/elementwise_kernels.h"

#include <cstring>

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/elementwise_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trefoil::mpc {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

namespace hn = hwy::HWY_NAMESPACE;

using NumberTag = hn::ScalableTag<Word>;

HWY_INLINE Index NumbersAtOnce() { return static_cast<Index>(hn::Lanes(NumberTag())); }

void Sum(const Word* a, const Word* b, Index count, Word* out) {
  const NumberTag tag;
  const Index lanes = NumbersAtOnce();
  Index k = 0;
  for (; k + lanes <= count; k += lanes)
    hn::StoreU(hn::Add(hn::LoadU(tag, a + k), hn::LoadU(tag, b + k)), tag, out + k);
  for (; k < count; ++k) out[k] = a[k] + b[k];
}

void Difference(const Word* a, const Word* b, Index count, Word* out) {
  const NumberTag tag;
  const Index lanes = NumbersAtOnce();
  Index k = 0;
  for (; k + lanes <= count; k += lanes)
    hn::StoreU(hn::Sub(hn::LoadU(tag, a + k), hn::LoadU(tag, b + k)), tag, out + k);
  for (; k < count; ++k) out[k] = a[k] - b[k];
}

void Multiple(Word factor, const Word* a, Index count, Word* out) {
  const NumberTag tag;
  const Index lanes = NumbersAtOnce();
  const auto factors = hn::Set(tag, factor);
  Index k = 0;
  for (; k + lanes <= count; k += lanes) hn::StoreU(hn::Mul(factors, hn::LoadU(tag, a + k)), tag, out + k);
  for (; k < count; ++k) out[k] = factor * a[k];
}

void SumWithMessage(const std::byte* from, Index count, Word* sum) {
  const NumberTag tag;
  const Index lanes = NumbersAtOnce();
  const auto at = [from](Index word) { return from + word * static_cast<Index>(sizeof(Word)); };
  Index k = 0;
  for (; k + lanes <= count; k += lanes) {
    hn::Vec<NumberTag> words;
    std::memcpy(&words, at(k), sizeof(words));
    hn::StoreU(hn::Add(hn::LoadU(tag, sum + k), words), tag, sum + k);
  }
  for (; k < count; ++k) {
    Word word = 0;
    std::memcpy(&word, at(k), sizeof(word));
    sum[k] += word;
  }
}

void Product(WordComponents x, WordComponents y, Index count, Word* out) {
  const NumberTag tag;
  const Index lanes = NumbersAtOnce();
  Index k = 0;
  for (; k + lanes <= count; k += lanes) {
    const auto y_own = hn::LoadU(tag, y.own + k);
    const auto left = hn::Mul(hn::LoadU(tag, x.own + k), hn::Add(y_own, hn::LoadU(tag, y.next + k)));
    const auto right = hn::Mul(hn::LoadU(tag, x.next + k), y_own);
    hn::StoreU(hn::Add(left, right), tag, out + k);
  }
  for (; k < count; ++k) out[k] = x.own[k] * (y.own[k] + y.next[k]) + x.next[k] * y.own[k];
}

}  // namespace HWY_NAMESPACE
}  // namespace trefoil::mpc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trefoil::mpc {

HWY_EXPORT(Sum);
HWY_EXPORT(Difference);
HWY_EXPORT(Multiple);
HWY_EXPORT(SumWithMessage);
HWY_EXPORT(Product);

void AddWords(const Word* a, const Word* b, Index count, Word* out) {
  HWY_DYNAMIC_DISPATCH(Sum)(a, b, count, out);
}

void SubtractWords(const Word* a, const Word* b, Index count, Word* out) {
  HWY_DYNAMIC_DISPATCH(Difference)(a, b, count, out);
}

void ScaleWords(Word factor, const Word* a, Index count, Word* out) {
  HWY_DYNAMIC_DISPATCH(Multiple)(factor, a, count, out);
}

void AddWordsFrom(const std::byte* from, Index count, Word* sum) {
  HWY_DYNAMIC_DISPATCH(SumWithMessage)(from, count, sum);
}

void LocalProductOfWords(WordComponents x, WordComponents y, Index count, Word* out) {
  HWY_DYNAMIC_DISPATCH(Product)(x, y, count, out);
}

}  // namespace trefoil::mpc
#endif
