#include "mpc/fixed_key_aes.h"

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "base/error.h"

// This file is compiled once for each instruction set, also for the one with four AES blocks an instruction.
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpc/fixed_key_aes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mpc/fixed_key_aes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trefoil::mpc {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

#if HWY_TARGET == HWY_SCALAR

void Hash(std::span<const Block> in, std::span<Block> out) { FixedKeyHashByLibrary(in, out); }

#else

template <std::size_t N>
HWY_INLINE void HashBytes(const RoundKeys& keys, const std::uint8_t* in, std::uint8_t* out) {
  const BlocksTag tag;
  const std::size_t lanes = hn::Lanes(tag);
  BlocksVector blocks[N];  // NOLINT(modernize-avoid-c-arrays): a vector of unknown size is no array's element
  for (std::size_t v = 0; v < N; ++v) blocks[v] = hn::LoadU(tag, in + v * lanes);
  HashVectors(keys, blocks);
  for (std::size_t v = 0; v < N; ++v) hn::StoreU(blocks[v], tag, out + v * lanes);
}

void Hash(std::span<const Block> in, std::span<Block> out) {
  static const RoundKeys kKeys = ExpandFixedKey();
  constexpr std::size_t kVectorsAtOnce = 8;
  const auto* from = reinterpret_cast<const std::uint8_t*>(in.data());
  auto* to = reinterpret_cast<std::uint8_t*>(out.data());
  const std::size_t bytes = in.size_bytes();
  const std::size_t lanes = hn::Lanes(BlocksTag());
  std::size_t at = 0;
  for (; at + kVectorsAtOnce * lanes <= bytes; at += kVectorsAtOnce * lanes)
    HashBytes<kVectorsAtOnce>(kKeys, from + at, to + at);
  for (; at + lanes <= bytes; at += lanes) HashBytes<1>(kKeys, from + at, to + at);
  if (at == bytes) return;
  std::array<std::uint8_t, hn::MaxLanes(BlocksTag())> rest{};
  std::memcpy(rest.data(), from + at, bytes - at);
  HashBytes<1>(kKeys, rest.data(), rest.data());
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

CipherContext MakeContext() {
  CipherContext context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  if (!context ||
      EVP_EncryptInit_ex(context.get(), EVP_aes_128_ecb(), nullptr, kFixedKey.data(), nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context.get(), 0) != 1) {
    throw std::runtime_error("AES-128 cannot be set up in OpenSSL");
  }
  return context;
}

HWY_EXPORT(Hash);

}  // namespace

void FixedKeyHash(std::span<const Block> in, std::span<Block> out) {
  static_assert(sizeof(Block) == 16);
  Require(out.size() >= in.size(), "FixedKeyHash: room for every block");
  HWY_DYNAMIC_DISPATCH(Hash)(in, out);
}

void FixedKeyHashByLibrary(std::span<const Block> in, std::span<Block> out) {
  Require(out.size() >= in.size(), "FixedKeyHashByLibrary: room for every block");
  thread_local const CipherContext kContext = MakeContext();
  int written = 0;
  if (EVP_EncryptUpdate(kContext.get(), reinterpret_cast<unsigned char*>(out.data()), &written,
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
