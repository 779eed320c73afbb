#include "mpc/simd/elementwise_kernels.h"

#include <utility>

#include "base/error.h"

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/simd/elementwise_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mpc/simd/word_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trefoil::mpc {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

void Sum(const Word* a, const Word* b, Index count, Word* out) {
  Combine(a, b, count, out, [](auto x, auto y) HWY_ATTR { return hn::Add(x, y); });
}

void Difference(const Word* a, const Word* b, Index count, Word* out) {
  Combine(a, b, count, out, [](auto x, auto y) HWY_ATTR { return hn::Sub(x, y); });
}

void SumOfThree(const Word* a, const Word* b, const Word* c, Word offset, Index count, Word* out) {
  ByVectors(0, count, [&](auto tag, Index k) HWY_ATTR {
    const auto ab = hn::Add(hn::LoadU(tag, a + k), hn::LoadU(tag, b + k));
    hn::StoreU(hn::Add(ab, hn::Add(hn::LoadU(tag, c + k), hn::Set(tag, offset))), tag, out + k);
  });
}

void Multiple(Word factor, const Word* a, Index count, Word* out) {
  ByVectors(0, count, [&](auto tag, Index k) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::Set(tag, factor), hn::LoadU(tag, a + k)), tag, out + k);
  });
}

void SumWithMessage(const std::byte* from, Index count, Word* sum) {
  ByVectors(0, count, [&](auto tag, Index k) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(tag, sum + k), LoadBytes(tag, WordAt(from, k))), tag, sum + k);
  });
}

void Product(ShareWords x, ShareWords y, Index count, Word* out) {
  ByVectors(0, count, [&](auto tag, Index k) HWY_ATTR {
    const auto y_own = hn::LoadU(tag, y.own + k);
    const auto left = hn::Mul(hn::LoadU(tag, x.own + k), hn::Add(y_own, hn::LoadU(tag, y.next + k)));
    const auto right = hn::Mul(hn::LoadU(tag, x.next + k), y_own);
    hn::StoreU(hn::Add(left, right), tag, out + k);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace trefoil::mpc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trefoil::mpc {

HWY_EXPORT(Sum);
HWY_EXPORT(Difference);
HWY_EXPORT(SumOfThree);
HWY_EXPORT(Multiple);
HWY_EXPORT(SumWithMessage);
HWY_EXPORT(Product);

void AddWords(const Word* a, const Word* b, Index count, Word* out) {
  HWY_DYNAMIC_DISPATCH(Sum)(a, b, count, out);
}

void SubtractWords(const Word* a, const Word* b, Index count, Word* out) {
  HWY_DYNAMIC_DISPATCH(Difference)(a, b, count, out);
}

void AddThreeWords(const Word* a, const Word* b, const Word* c, Word offset, Index count, Word* out) {
  HWY_DYNAMIC_DISPATCH(SumOfThree)(a, b, c, offset, count, out);
}

void ScaleWords(Word factor, const Word* a, Index count, Word* out) {
  HWY_DYNAMIC_DISPATCH(Multiple)(factor, a, count, out);
}

void AddWordsFrom(const std::byte* from, Index count, Word* sum) {
  HWY_DYNAMIC_DISPATCH(SumWithMessage)(from, count, sum);
}

void LocalProductOfWords(ShareWords x, ShareWords y, Index count, Word* out) {
  HWY_DYNAMIC_DISPATCH(Product)(x, y, count, out);
}

namespace {

void RequireSameShape(const RingMatrix& a, const RingMatrix& b) {
  Require(a.rows() == b.rows() && a.cols() == b.cols(), "element-wise: matrices of different shapes");
}

RingMatrix ToBeWrittenLike(const RingMatrix& a, const RingMatrix& b) {
  RequireSameShape(a, b);
  return {a.rows(), a.cols()};
}

}  // namespace

RingMatrix SumOf(const RingMatrix& a, const RingMatrix& b) {
  RingMatrix out = ToBeWrittenLike(a, b);
  AddWords(a.data(), b.data(), out.size(), out.data());
  return out;
}

RingMatrix SumOf(RingMatrix&& a, const RingMatrix& b) {
  RequireSameShape(a, b);
  AddWords(a.data(), b.data(), a.size(), a.data());
  return std::move(a);
}

RingMatrix DifferenceOf(const RingMatrix& a, const RingMatrix& b) {
  RingMatrix out = ToBeWrittenLike(a, b);
  SubtractWords(a.data(), b.data(), out.size(), out.data());
  return out;
}

RingMatrix DifferenceOf(RingMatrix&& a, const RingMatrix& b) {
  RequireSameShape(a, b);
  SubtractWords(a.data(), b.data(), a.size(), a.data());
  return std::move(a);
}

RingMatrix SumOf(const RingMatrix& a, const RingMatrix& b, const RingMatrix& c, Word offset) {
  RingMatrix out = ToBeWrittenLike(a, b);
  RequireSameShape(a, c);
  AddThreeWords(a.data(), b.data(), c.data(), offset, out.size(), out.data());
  return out;
}

RingMatrix SumOf(RingMatrix&& a, const RingMatrix& b, const RingMatrix& c, Word offset) {
  RequireSameShape(a, b);
  RequireSameShape(a, c);
  AddThreeWords(a.data(), b.data(), c.data(), offset, a.size(), a.data());
  return std::move(a);
}

}  // namespace trefoil::mpc
#endif
