#include "mpc/simd/truncation_kernels.h"

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/simd/truncation_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mpc/simd/word_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trefoil::mpc {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

/// The low 63 bits, shifted.
template <class Tag>
HWY_INLINE hn::Vec<Tag> LowQuotient(Tag tag, hn::Vec<Tag> word, int bits) {
  return hn::ShiftRightSame(hn::And(word, hn::Set(tag, ~Word{0} >> 1)), bits);
}

void SplitMask(const Word* r, int bits, Index count, Word* quotients, Word* tops) {
  ByVectors(0, count, [&](auto tag, Index k) HWY_ATTR {
    const auto word = hn::LoadU(tag, r + k);
    hn::StoreU(LowQuotient(tag, word, bits), tag, quotients + k);
    hn::StoreU(hn::ShiftRight<63>(word), tag, tops + k);
  });
}

/// (1 - 2 c_m) tops 2^(63 - bits) - quotients, where `top` is c_m.
template <class Tag>
HWY_INLINE hn::Vec<Tag> Dealt(Tag tag, hn::Vec<Tag> top, OpenedWords opened, Index k, int bits) {
  // Minus the word where top is 1, without a multiplication, which not every set has for vectors.
  const auto sign = hn::Sub(hn::Zero(tag), top);
  const auto signed_top = hn::Add(hn::Xor(hn::LoadU(tag, opened.tops + k), sign), top);
  return hn::Sub(hn::ShiftLeftSame(signed_top, 63 - bits), hn::LoadU(tag, opened.quotients + k));
}

void DealtPart(OpenedWords opened, int bits, Index count, Word* half) {
  ByVectors(0, count, [&](auto tag, Index k) HWY_ATTR {
    const auto top = hn::ShiftRight<63>(hn::LoadU(tag, opened.c + k));
    hn::StoreU(Dealt(tag, top, opened, k, bits), tag, half + k);
  });
}

void DealtAndPublicPart(OpenedWords opened, int bits, Word constant, Index count, Word* half) {
  ByVectors(0, count, [&](auto tag, Index k) HWY_ATTR {
    const auto word = hn::LoadU(tag, opened.c + k);
    const auto top = hn::ShiftRight<63>(word);
    const auto quotient = hn::Add(LowQuotient(tag, word, bits), hn::ShiftLeftSame(top, 63 - bits));
    const auto public_part = hn::Add(quotient, hn::Set(tag, constant));
    hn::StoreU(hn::Add(Dealt(tag, top, opened, k, bits), public_part), tag, half + k);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace trefoil::mpc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trefoil::mpc {

HWY_EXPORT(SplitMask);
HWY_EXPORT(DealtPart);
HWY_EXPORT(DealtAndPublicPart);

void QuotientsAndTops(const Word* r, int bits, Index count, Word* quotients, Word* tops) {
  HWY_DYNAMIC_DISPATCH(SplitMask)(r, bits, count, quotients, tops);
}

void DealtQuotients(OpenedWords opened, int bits, Index count, Word* half) {
  HWY_DYNAMIC_DISPATCH(DealtPart)(opened, bits, count, half);
}

void DealtAndPublicQuotients(OpenedWords opened, int bits, Word constant, Index count, Word* half) {
  HWY_DYNAMIC_DISPATCH(DealtAndPublicPart)(opened, bits, constant, count, half);
}

}  // namespace trefoil::mpc
#endif
