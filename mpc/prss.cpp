#include "mpc/prss.h"

#include <openssl/evp.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/secrets/check_openssl.h"
#include "base/secrets/random.h"
#include "mpc/simd/bit_kernels.h"
#include "mpc/simd/elementwise_kernels.h"

namespace trefoil::mpc {
namespace {

constexpr std::size_t kBlockBytes = 16;

/// The plain text, as much of it as stays in the cache: output need not be cleared first, nor read.
constexpr std::array<unsigned char, std::size_t{1} << 14> kZeros{};

/// So many words of two streams stay in the cache until they are put together.
constexpr std::size_t kWordsAtOnce = 1024;

/// Of the parties' public keys, in their order.
SessionTag TagOf(const std::array<net::Bytes, net::kParties>& publics) {
  static constexpr std::string_view kUse = "trefoil session tag";
  crypto_generichash_state state;
  SessionTag tag{};
  crypto_generichash_init(&state, reinterpret_cast<const unsigned char*>(kUse.data()), kUse.size(),
                          tag.size());
  for (const net::Bytes& key : publics)
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(key.data()), key.size());
  crypto_generichash_final(&state, tag.data(), tag.size());
  return tag;
}

void CheckAes(int result) { CheckOpenSsl(result, "AES-128-CTR failed in OpenSSL"); }

}  // namespace

class Prss::Cipher {
 public:
  explicit Cipher(const SecretKey& key) : context_(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free) {
    if (!context_) throw std::bad_alloc();
    CheckAes(EVP_EncryptInit_ex(context_.get(), EVP_aes_128_ctr(), nullptr, key.bytes().data(), nullptr));
  }

  void Start(Purpose purpose, OperationId operation) {
    std::array<unsigned char, kBlockBytes> block{};
    block[0] = static_cast<unsigned char>(purpose);
    for (std::size_t i = 0; i < 8; ++i) block[1 + i] = static_cast<unsigned char>(operation >> (8 * i));
    CheckAes(EVP_EncryptInit_ex(context_.get(), nullptr, nullptr, nullptr, block.data()));
  }

  /// The next words of the stream that was started last.
  template <typename Element>
  void Continue(std::span<Element> out) {
    auto* bytes = reinterpret_cast<unsigned char*>(out.data());
    for (std::size_t left = out.size_bytes(); left > 0;) {
      const auto chunk = static_cast<int>(std::min(left, kZeros.size()));
      int written = 0;
      CheckAes(EVP_EncryptUpdate(context_.get(), bytes, &written, kZeros.data(), chunk));
      bytes += written;
      left -= static_cast<std::size_t>(written);
    }
  }

 private:
  std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context_;
};

Prss::Prss(int self, SecretKey own, SecretKey next, const SessionTag& tag)
    : Prss(self, std::make_shared<const SecretKey>(std::move(own)),
           std::make_shared<const SecretKey>(std::move(next)), tag) {}

Prss::Prss(int self, std::shared_ptr<const SecretKey> own, std::shared_ptr<const SecretKey> next,
           const SessionTag& tag)
    : self_(self),
      tag_(tag),
      keys_{std::move(own), std::move(next)},
      ciphers_{std::make_unique<Cipher>(*keys_[0]), std::make_unique<Cipher>(*keys_[1])} {}

Prss Prss::Twin() const { return {self_, keys_[0], keys_[1], tag_}; }

Prss::~Prss() = default;
Prss::Prss(Prss&&) noexcept = default;

Prss::Cipher& Prss::CipherOf(int component) {
  const int offset = (component - self_ + net::kParties) % net::kParties;
  Require(offset == 0 || offset == 1, "Prss: this party does not hold that component");
  return *ciphers_[static_cast<std::size_t>(offset)];
}

void Prss::Start(int component, Purpose purpose, OperationId operation) {
  CipherOf(component).Start(purpose, operation);
}

void Prss::Fill(int component, Purpose purpose, OperationId operation, std::span<Word> out) {
  Start(component, purpose, operation);
  Continue(component, out);
}

void Prss::Continue(int component, std::span<Word> out) { CipherOf(component).Continue(out); }

void Prss::FillHalves(int component, Purpose purpose, OperationId operation, std::span<HalfWord> out) {
  Start(component, purpose, operation);
  CipherOf(component).Continue(out);
}

void Prss::FillZero(OperationId operation, std::span<Word> out) {
  FillFromBoth(operation, out, SubtractWords);
}

void Prss::FillZeroBits(OperationId operation, std::span<Word> out) {
  FillFromBoth(operation, out, ExclusiveOr);
}

void Prss::FillFromBoth(OperationId operation, std::span<Word> out,
                        void (*combine)(const Word* a, const Word* b, Index count, Word* out)) {
  std::array<Word, kWordsAtOnce> next;
  for (const auto& cipher : ciphers_) cipher->Start(Purpose::kZero, operation);
  for (std::size_t first = 0; first < out.size(); first += kWordsAtOnce) {
    const std::span<Word> part = out.subspan(first, std::min(kWordsAtOnce, out.size() - first));
    ciphers_[0]->Continue(part);
    ciphers_[1]->Continue(std::span(next).first(part.size()));
    combine(part.data(), next.data(), static_cast<Index>(part.size()), part.data());
  }
}

HashKey Prss::HashKeyOf(OperationId operation) const {
  static_assert(sizeof(HashKey) >= crypto_generichash_BYTES_MIN);
  std::array<unsigned char, sizeof operation> text{};
  for (std::size_t i = 0; i < text.size(); ++i) text.at(i) = static_cast<unsigned char>(operation >> (8 * i));
  HashKey key{};
  crypto_generichash(key.data(), key.size(), text.data(), text.size(), tag_.data(), tag_.size());
  return key;
}

Prss AgreeOnKeys(net::Transport& transport, std::string_view session) {
  static_assert(crypto_scalarmult_SCALARBYTES == SecretKey::kBytes &&
                crypto_scalarmult_BYTES == SecretKey::kBytes);
  const int self = transport.self();
  const int next = (self + 1) % net::kParties;
  const int previous = (self + 2) % net::kParties;
  const SecretKey secret = RandomKey();
  net::Bytes own_public(crypto_scalarmult_BYTES);
  crypto_scalarmult_base(reinterpret_cast<unsigned char*>(own_public.data()), secret.bytes().data());
  transport.Send(next, own_public);
  transport.Send(previous, own_public);

  std::array<net::Bytes, net::kParties> publics;
  publics.at(static_cast<std::size_t>(self)) = own_public;

  // Key j belongs to P_j and P_{j-1}; it is bound to j, to both public keys, P_{j-1}'s first, and to the
  // session.
  const auto derive = [&](int peer, int component) {
    net::Bytes& theirs = publics.at(static_cast<std::size_t>(peer));
    theirs = transport.Receive(peer, crypto_scalarmult_BYTES);
    SecretKey shared;
    if (crypto_scalarmult(shared.bytes().data(), secret.bytes().data(),
                          reinterpret_cast<const unsigned char*>(theirs.data())) != 0) {
      throw ProtocolError("party " + std::to_string(peer) + " sent an unacceptable public key", peer);
    }
    const net::Bytes& first = component == self ? theirs : own_public;
    const net::Bytes& second = component == self ? own_public : theirs;
    net::Bytes label(first);
    label.insert(label.end(), second.begin(), second.end());
    label.push_back(static_cast<std::byte>(component));
    const auto bound = std::as_bytes(std::span(session));
    label.insert(label.end(), bound.begin(), bound.end());
    SecretKey key;
    crypto_generichash(key.bytes().data(), key.bytes().size(),
                       reinterpret_cast<const unsigned char*>(label.data()), label.size(),
                       shared.bytes().data(), shared.bytes().size());
    return key;
  };
  SecretKey own_key = derive(previous, self);
  SecretKey next_key = derive(next, next);
  return Prss(self, std::move(own_key), std::move(next_key), TagOf(publics));
}

}  // namespace trefoil::mpc
