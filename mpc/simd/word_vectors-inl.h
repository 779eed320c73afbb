// Compiled once for each instruction set, within files that are.
#if defined(TREFOIL_MPC_WORD_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TREFOIL_MPC_WORD_VECTORS_INL
#undef TREFOIL_MPC_WORD_VECTORS_INL
#else
#define TREFOIL_MPC_WORD_VECTORS_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mpc/ring.h"

HWY_BEFORE_NAMESPACE();
namespace trefoil::mpc {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

namespace hn = hwy::HWY_NAMESPACE;

/// Calls body(tag, k) for the words from k on that a vector of `tag` takes, so that every word of [first,
/// count) has its turn: with the widest vectors, and one word at a time what they leave over.
template <class Body>
HWY_INLINE void ByVectors(Index first, Index count, Body body) {
  const hn::ScalableTag<Word> widest;
  const auto lanes = static_cast<Index>(hn::Lanes(widest));
  Index k = first;
  for (; k + lanes <= count; k += lanes) body(widest, k);
  for (; k < count; ++k) body(hn::CappedTag<Word, 1>(), k);
}

/// out[k] = of(a[k], b[k]), vector by vector.
template <class Of>
HWY_INLINE void Combine(const Word* a, const Word* b, Index count, Word* out, Of of) {
  ByVectors(0, count, [&](auto tag, Index k) HWY_ATTR {
    hn::StoreU(of(hn::LoadU(tag, a + k), hn::LoadU(tag, b + k)), tag, out + k);
  });
}

/// Words of bytes that need not lie as words do.
template <class Tag>
HWY_INLINE hn::Vec<Tag> LoadBytes(Tag tag, const std::byte* from) {
  if constexpr (hn::MaxLanes(Tag()) == 1) {
    Word word = 0;
    std::memcpy(&word, from, sizeof(word));
    return hn::Set(tag, word);
  } else {
    const hn::Repartition<std::uint8_t, Tag> bytes;
    return hn::BitCast(tag, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from)));
  }
}

template <class Tag>
HWY_INLINE void StoreBytes(hn::Vec<Tag> words, Tag /*tag*/, std::byte* to) {
  if constexpr (hn::MaxLanes(Tag()) == 1) {
    const Word word = hn::GetLane(words);
    std::memcpy(to, &word, sizeof(word));
  } else {
    const hn::Repartition<std::uint8_t, Tag> bytes;
    hn::StoreU(hn::BitCast(bytes, words), bytes, reinterpret_cast<std::uint8_t*>(to));
  }
}

/// Where the k-th word lies in a message.
HWY_INLINE const std::byte* WordAt(const std::byte* message, Index k) {
  return message + k * static_cast<Index>(sizeof(Word));
}
HWY_INLINE std::byte* WordAt(std::byte* message, Index k) {
  return message + k * static_cast<Index>(sizeof(Word));
}

}  // namespace HWY_NAMESPACE
}  // namespace trefoil::mpc
HWY_AFTER_NAMESPACE();

#endif
