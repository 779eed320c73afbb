// Compiled once for each instruction set, by files that Highway compiles so (hwy/foreach_target.h).
#if defined(TREFOIL_MPC_SEED_HASH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TREFOIL_MPC_SEED_HASH_INL
#undef TREFOIL_MPC_SEED_HASH_INL
#else
#define TREFOIL_MPC_SEED_HASH_INL
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mpc/dcf/seed_hash.h"

HWY_BEFORE_NAMESPACE();
namespace trefoil::mpc {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

#if HWY_TARGET != HWY_SCALAR  // which has no AES

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3_DL
using BlocksTag = hn::ScalableTag<std::uint8_t>;
#else  // one block an instruction
using BlocksTag = hn::Full128<std::uint8_t>;
#endif
using BlocksVector = hn::Vec<BlocksTag>;

constexpr std::size_t kBlockBytes = 16;
constexpr std::size_t kRounds = SeedHash::kRounds;
using RoundKeys = SeedHash::RoundKeys;

/// The S-box on each byte of a word, by AES's last round under the key 0: on a block of four equal columns
/// the round's shift of rows changes nothing.
inline std::uint32_t SubWord(std::uint32_t word) {
  const hn::Full128<std::uint8_t> tag;
  std::array<std::uint32_t, 4> columns{word, word, word, word};
  std::array<std::uint8_t, kBlockBytes> bytes{};
  std::memcpy(bytes.data(), columns.data(), kBlockBytes);
  hn::StoreU(hn::AESLastRound(hn::LoadU(tag, bytes.data()), hn::Zero(tag)), tag, bytes.data());
  std::memcpy(columns.data(), bytes.data(), kBlockBytes);
  return columns[0];
}

/// The round keys: FIPS 197, section 5.2, on little-endian words.
inline RoundKeys ExpandKey(const HashKey& key) {
  std::array<std::uint32_t, 4 * (kRounds + 1)> words{};
  std::memcpy(words.data(), key.data(), key.size());
  std::uint32_t constant = 1;
  for (std::size_t k = 4; k < words.size(); ++k) {
    std::uint32_t word = words[k - 1];
    if (k % 4 == 0) {
      word = SubWord((word >> 8) | (word << 24)) ^ constant;
      constant = (constant << 1) ^ ((constant >> 7) * 0x11B);
    }
    words[k] = words[k - 4] ^ word;
  }
  RoundKeys keys{};
  std::memcpy(keys.data(), words.data(), keys.size());
  return keys;
}

/// SeedHash of N vectors in place. With about eight of them the processor need not wait for any one's round
/// to end.
template <std::size_t N>
HWY_INLINE void HashVectors(const RoundKeys& keys, BlocksVector (&blocks)[N]) {
  const BlocksTag tag;
  const auto key = [&](std::size_t round) { return hn::LoadDup128(tag, keys.data() + round * kBlockBytes); };
  BlocksVector states[N];  // NOLINT(modernize-avoid-c-arrays): std::array takes no vectors of unknown size
  for (std::size_t v = 0; v < N; ++v) states[v] = hn::Xor(blocks[v], key(0));
  for (std::size_t round = 1; round < kRounds; ++round) {
    const BlocksVector round_key = key(round);
    for (BlocksVector& state : states) state = hn::AESRound(state, round_key);
  }
  for (std::size_t v = 0; v < N; ++v)
    blocks[v] = hn::Xor(hn::AESLastRound(states[v], key(kRounds)), blocks[v]);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace trefoil::mpc
HWY_AFTER_NAMESPACE();

#endif
