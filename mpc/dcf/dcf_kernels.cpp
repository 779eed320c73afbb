#include "mpc/dcf/dcf_kernels.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/secrets/constant_time.h"

// This file is compiled once for each instruction set, also for the one with four AES blocks an instruction.
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/dcf/dcf_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mpc/dcf/seed_hash-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trefoil::mpc {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

#if HWY_TARGET == HWY_SCALAR

void Descend(const SeedHash& hash, const Word* corrections, int shift, const DcfPaths& paths) {
  std::vector<Block> asked(2 * paths.count);  // of each path its child, then its values
  std::vector<Block> answered(asked.size());
  for (std::size_t k = 0; k < paths.count; ++k) {
    const Block state = paths.states[k];
    const Word low = state.low & ~Word{1};
    asked[2 * k] = {.low = low | ((paths.points[k].low >> shift) & 1), .high = state.high};
    asked[2 * k + 1] = {.low = low | kDcfValues, .high = state.high};
  }
  hash.HashByLibrary(asked, answered);
  for (std::size_t k = 0; k < paths.count; ++k) {
    const Block state = paths.states[k];
    const Word right = (paths.points[k].low >> shift) & 1;
    const Block& child = answered[2 * k];
    const Block& values = answered[2 * k + 1];
    const Word* correction = corrections + std::size_t{3} * paths.keys[k];
    const Word active = Word{0} - (state.low & 1);
    const Word corrected = (correction[0] & ~Word{3}) | ((correction[0] >> right) & 1);
    paths.sums[k].low += trefoil::Select(MaskOf(right), values.high, values.low) + (active & correction[2]);
    paths.states[k] = {.low = (child.low & ~kDcfValues) ^ (active & corrected),
                       .high = child.high ^ (active & correction[1])};
  }
}

#else

using WordsTag = hn::Repartition<Word, BlocksTag>;
using Words = hn::Vec<WordsTag>;

HWY_INLINE std::size_t BlocksAtOnce() { return hn::Lanes(WordsTag()) / 2; }

HWY_INLINE Words Load(const Block* blocks) {
  return hn::LoadU(WordsTag(), reinterpret_cast<const Word*>(blocks));
}

HWY_INLINE void Store(Words words, Block* blocks) {
  hn::StoreU(words, WordsTag(), reinterpret_cast<Word*>(blocks));
}

/// Two words for each block, from where its key's corrections are.
template <class Tag>
HWY_INLINE hn::Vec<Tag> Gather(Tag tag, const Word* from, const std::uint32_t* keys) {
  if constexpr (hn::MaxLanes(tag) == 2) {
    return hn::LoadU(tag, from + std::size_t{3} * *keys);
  } else {
    const hn::Half<Tag> half;
    return hn::Combine(tag, Gather(half, from, keys + hn::Lanes(half) / 2), Gather(half, from, keys));
  }
}

/// The low word of each block as `low`, the high one as `high`.
HWY_INLINE Words Pair(Word low, Word high) {
  const WordsTag tag;
  return hn::OddEven(hn::Set(tag, high), hn::Set(tag, low));
}

template <std::size_t N>
HWY_INLINE void DescendVectors(const RoundKeys& keys, const Word* corrections, int shift,
                               const DcfPaths& paths, std::size_t from) {
  const WordsTag tag;
  const BlocksTag bytes;
  const Words low_bit = Pair(1, 0);
  const Words values_bit = Pair(kDcfValues, 0);
  const Words one = hn::Set(tag, 1);
  Words active[N];  // NOLINT(modernize-avoid-c-arrays): a vector of unknown size is no array's element
  Words right[N];   // NOLINT(modernize-avoid-c-arrays)
  BlocksVector hash[2 * N];  // NOLINT(modernize-avoid-c-arrays): the children on the paths, then the values
  for (std::size_t v = 0; v < N; ++v) {
    const std::size_t at = from + v * BlocksAtOnce();
    const Words state = Load(paths.states + at);
    const Words seed = hn::AndNot(low_bit, state);
    right[v] = hn::And(hn::ShiftRightSame(Load(paths.points + at), shift), one);
    active[v] = hn::Sub(hn::Zero(tag), hn::DupEven(hn::And(state, low_bit)));
    hash[v] = hn::BitCast(bytes, hn::Or(seed, hn::And(right[v], low_bit)));
    hash[N + v] = hn::BitCast(bytes, hn::Or(seed, values_bit));
  }
  HashVectors(keys, hash);
  for (std::size_t v = 0; v < N; ++v) {
    const std::size_t at = from + v * BlocksAtOnce();
    const Words child = hn::BitCast(tag, hash[v]);
    const Words values = hn::BitCast(tag, hash[N + v]);
    const Words correction = Gather(tag, corrections, paths.keys + at);
    const Words control = hn::And(hn::Shr(correction, right[v]), low_bit);
    const Words corrected = hn::Or(hn::AndNot(Pair(3, 0), correction), control);
    Store(hn::Xor(hn::AndNot(values_bit, child), hn::And(active[v], corrected)), paths.states + at);
    const Words value = hn::IfThenElse(hn::Eq(right[v], one), hn::DupOdd(values), values);
    const Words value_correction = hn::DupOdd(Gather(tag, corrections + 1, paths.keys + at));
    Store(hn::Add(Load(paths.sums + at), hn::Add(value, hn::And(active[v], value_correction))),
          paths.sums + at);
  }
}

void Descend(const SeedHash& hash, const Word* corrections, int shift, const DcfPaths& paths) {
  const RoundKeys& round_keys = hash.round_keys();
  constexpr std::size_t kVectorsAtOnce = 4;
  const std::size_t lanes = BlocksAtOnce();
  std::size_t at = 0;
  for (; at + kVectorsAtOnce * lanes <= paths.count; at += kVectorsAtOnce * lanes)
    DescendVectors<kVectorsAtOnce>(round_keys, corrections, shift, paths, at);
  for (; at + lanes <= paths.count; at += lanes) DescendVectors<1>(round_keys, corrections, shift, paths, at);
  const std::size_t rest = paths.count - at;
  if (rest == 0) return;
  constexpr std::size_t kMax = hn::MaxLanes(WordsTag()) / 2;
  std::array<Block, kMax> states{};
  std::array<Block, kMax> sums{};
  std::array<Block, kMax> points{};
  std::array<std::uint32_t, kMax> whose{};
  std::copy_n(paths.states + at, rest, states.data());
  std::copy_n(paths.sums + at, rest, sums.data());
  std::copy_n(paths.points + at, rest, points.data());
  std::copy_n(paths.keys + at, rest, whose.data());
  const DcfPaths padded{states.data(), sums.data(), points.data(), whose.data(), kMax};
  DescendVectors<1>(round_keys, corrections, shift, padded, 0);
  std::copy_n(states.data(), rest, paths.states + at);
  std::copy_n(sums.data(), rest, paths.sums + at);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace trefoil::mpc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trefoil::mpc {

HWY_EXPORT(Descend);

void DcfDescend(const SeedHash& hash, const Word* corrections, int shift, const DcfPaths& paths) {
  HWY_DYNAMIC_DISPATCH(Descend)(hash, corrections, shift, paths);
}

}  // namespace trefoil::mpc
#endif
