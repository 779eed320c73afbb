#include "mpc/dcf/seed_hash.h"

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "base/error.h"

// This file is compiled once for each instruction set, also for the one with four AES blocks an instruction.
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/dcf/seed_hash.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mpc/dcf/seed_hash-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trefoil::mpc {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

#if HWY_TARGET == HWY_SCALAR

void Expand(const HashKey&, SeedHash::RoundKeys&) {}

void Hash(const SeedHash& hash, std::span<const Block> in, std::span<Block> out) {
  hash.HashByLibrary(in, out);
}

#else

template <std::size_t N>
HWY_INLINE void HashBytes(const RoundKeys& keys, const std::uint8_t* in, std::uint8_t* out) {
  const BlocksTag tag;
  const std::size_t lanes = hn::Lanes(tag);
  BlocksVector blocks[N];  // NOLINT(modernize-avoid-c-arrays): std::array takes no vectors of unknown size
  for (std::size_t v = 0; v < N; ++v) blocks[v] = hn::LoadU(tag, in + v * lanes);
  HashVectors(keys, blocks);
  for (std::size_t v = 0; v < N; ++v) hn::StoreU(blocks[v], tag, out + v * lanes);
}

void Expand(const HashKey& key, RoundKeys& round_keys) { round_keys = ExpandKey(key); }

void Hash(const SeedHash& hash, std::span<const Block> in, std::span<Block> out) {
  const RoundKeys& round_keys = hash.round_keys();
  constexpr std::size_t kVectorsAtOnce = 8;
  const auto* from = reinterpret_cast<const std::uint8_t*>(in.data());
  auto* to = reinterpret_cast<std::uint8_t*>(out.data());
  const std::size_t bytes = in.size_bytes();
  const std::size_t lanes = hn::Lanes(BlocksTag());
  std::size_t at = 0;
  for (; at + kVectorsAtOnce * lanes <= bytes; at += kVectorsAtOnce * lanes)
    HashBytes<kVectorsAtOnce>(round_keys, from + at, to + at);
  for (; at + lanes <= bytes; at += lanes) HashBytes<1>(round_keys, from + at, to + at);
  if (at == bytes) return;
  std::array<std::uint8_t, hn::MaxLanes(BlocksTag())> rest{};
  std::memcpy(rest.data(), from + at, bytes - at);
  HashBytes<1>(round_keys, rest.data(), rest.data());
  std::memcpy(to + at, rest.data(), bytes - at);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace trefoil::mpc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trefoil::mpc {
namespace {

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

CipherContext MakeContext(const HashKey& key) {
  CipherContext context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  if (!context || EVP_EncryptInit_ex(context.get(), EVP_aes_128_ecb(), nullptr, key.data(), nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context.get(), 0) != 1) {
    throw std::runtime_error("AES-128 cannot be set up in OpenSSL");
  }
  return context;
}

HWY_EXPORT(Expand);
HWY_EXPORT(Hash);

}  // namespace

SeedHash::SeedHash(const HashKey& key) : key_(key) { HWY_DYNAMIC_DISPATCH(Expand)(key, round_keys_); }

void SeedHash::Hash(std::span<const Block> in, std::span<Block> out) const {
  static_assert(sizeof(Block) == 16);
  Require(out.size() >= in.size(), "SeedHash: room for every block");
  HWY_DYNAMIC_DISPATCH(Hash)(*this, in, out);
}

void SeedHash::HashByLibrary(std::span<const Block> in, std::span<Block> out) const {
  Require(out.size() >= in.size(), "SeedHash: room for every block");
  const CipherContext context = MakeContext(key_);
  int written = 0;
  if (EVP_EncryptUpdate(context.get(), reinterpret_cast<unsigned char*>(out.data()), &written,
                        reinterpret_cast<const unsigned char*>(in.data()),
                        static_cast<int>(in.size_bytes())) != 1) {
    throw std::runtime_error("AES-128 failed in OpenSSL");
  }
  for (std::size_t k = 0; k < in.size(); ++k) {
    out[k].low ^= in[k].low;
    out[k].high ^= in[k].high;
  }
}

}  // namespace trefoil::mpc
#endif
