#include "deposit/keys.h"

#include <sodium.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets/random.h"
#include "base/secrets/sha256.h"
#include "jobs/config/party_file.h"
#include "net/certificates/certificate.h"

namespace trefoil::deposit {
namespace {

namespace fs = std::filesystem;

static_assert(crypto_scalarmult_BYTES == SecretKey::kBytes &&
              crypto_scalarmult_SCALARBYTES == SecretKey::kBytes);
static_assert(crypto_sign_SEEDBYTES == SecretKey::kBytes && crypto_sign_PUBLICKEYBYTES == SecretKey::kBytes);
static_assert(crypto_sign_BYTES == sizeof(Signature));

/// Ed25519's expanded key, in the guarded heap.
class SigningKey {
 public:
  explicit SigningKey(const SecretKey& seed, PublicKey& known)
      : bytes_(static_cast<unsigned char*>(AllocateSecret(crypto_sign_SECRETKEYBYTES))) {
    crypto_sign_seed_keypair(known.data(), bytes_, seed.bytes().data());
  }
  ~SigningKey() { FreeSecret(bytes_); }
  SigningKey(const SigningKey&) = delete;
  SigningKey& operator=(const SigningKey&) = delete;

  [[nodiscard]] const unsigned char* bytes() const { return bytes_; }

 private:
  unsigned char* bytes_;
};

std::string FirstLine(KeyKind kind, bool secret) {
  return fmt::format("trefoil {} {}key 1\n", NameOf(kind), secret ? "" : "public ");
}

std::string What(KeyKind kind, bool secret) {
  const auto* made = kind == KeyKind::kParty ? "trefoil init or trefoil deposit-key" : "trefoil owner init";
  return fmt::format("{} {} key, {}.{} of {}", kind == KeyKind::kParty ? "a party's" : "an owner's",
                     kind == KeyKind::kParty ? "deposit" : "signing", NameOf(kind), secret ? "key" : "pub",
                     made);
}

/// The key on the line behind the first one. False unless the text is exactly these two lines.
template <typename Text>
bool TakeKey(const Text& text, std::string_view first, std::span<std::uint8_t, SecretKey::kBytes> key) {
  const std::string_view all(text.data(), text.size());
  const std::size_t digits = 2 * key.size();
  if (all.size() != first.size() + digits + 1 || !all.starts_with(first) || all.back() != '\n') return false;
  const auto line = all.substr(first.size(), digits);
  const bool lower = std::all_of(line.begin(), line.end(), [](char c) { return c < 'A' || c > 'Z'; });
  return lower && sodium_hex2bin(key.data(), key.size(), line.data(), digits, nullptr, nullptr, nullptr) == 0;
}

}  // namespace

const char* NameOf(KeyKind kind) { return kind == KeyKind::kParty ? "deposit" : "owner"; }

KeyPair PairOf(KeyKind kind, SecretKey secret) {
  InitialiseSodium();
  KeyPair pair{.secret = std::move(secret), .known = {}};
  if (kind == KeyKind::kParty) {
    crypto_scalarmult_base(pair.known.data(), pair.secret.bytes().data());
  } else {
    const SigningKey expanded(pair.secret, pair.known);
  }
  return pair;
}

KeyPair MakeKeyPair(KeyKind kind) { return PairOf(kind, RandomKey()); }

void WriteKeyPair(KeyKind kind, const KeyPair& pair, const fs::path& folder) {
  const auto secret_file = folder / fmt::format("{}.key", NameOf(kind));
  const auto public_file = folder / fmt::format("{}.pub", NameOf(kind));
  for (const auto& file : {secret_file, public_file}) {
    if (fs::exists(file))
      throw ConfigError(file.string() + ": exists already, and is not overwritten; choose another --out");
  }
  fs::create_directories(folder);
  const auto first = FirstLine(kind, true);
  SecretText text(first.begin(), first.end());
  const auto begin = text.size();
  text.resize(begin + 2 * SecretKey::kBytes + 1);  // sodium_bin2hex ends with a zero byte
  sodium_bin2hex(text.data() + begin, 2 * SecretKey::kBytes + 1, pair.secret.bytes().data(),
                 SecretKey::kBytes);
  text.back() = '\n';
  WriteSecretFile(secret_file, text);
  WriteTextFile(public_file, PublicKeyText(kind, pair.known));
}

KeyPair ReadKeyPair(KeyKind kind, const fs::path& file) {
  const auto what = What(kind, true);
  const auto text = ReadSecretFile(file, what);
  // A file that is the wrong one needs no other mode.
  for (const auto other : {KeyKind::kParty, KeyKind::kOwner}) {
    if (std::string_view(text.data(), text.size()).starts_with(FirstLine(other, false)))
      throw ConfigError(fmt::format("{}: found a public key, expected {}", file.string(), what));
  }
  jobs::CheckSecretMode(file, what);
  SecretKey secret;
  if (!TakeKey(text, FirstLine(kind, true), secret.bytes()))
    throw ConfigError(fmt::format("{}: found something else, expected {}", file.string(), what));
  return PairOf(kind, std::move(secret));
}

std::string PublicKeyText(KeyKind kind, const PublicKey& key) {
  return FirstLine(kind, false) + ToHex(key) + "\n";
}

PublicKey ReadPublicKey(KeyKind kind, const fs::path& file) {
  const auto text = ReadTextFile(file, What(kind, false));
  for (const auto other : {KeyKind::kParty, KeyKind::kOwner}) {
    if (text.starts_with(FirstLine(other, true)))
      throw ConfigError(fmt::format("{}: found a private key, expected {}; its owner must make a new key",
                                    file.string(), What(kind, false)));
  }
  PublicKey key{};
  if (!TakeKey(text, FirstLine(kind, false), key))
    throw ConfigError(fmt::format("{}: found something else, expected {}", file.string(), What(kind, false)));
  return key;
}

std::optional<std::array<std::uint8_t, 32>> FromHex(std::string_view text) {
  std::array<std::uint8_t, 32> bytes{};
  if (text.size() != 2 * bytes.size() ||
      sodium_hex2bin(bytes.data(), bytes.size(), text.data(), text.size(), nullptr, nullptr, nullptr) != 0)
    return {};
  return bytes;
}

std::string Fingerprint(KeyKind kind, const PublicKey& key) {
  Sha256 hash;
  hash.Update(PublicKeyText(kind, key));
  return net::ShowFingerprint(hash.Digest());
}

std::optional<PublicKey> SealingKeyOf(const PublicKey& owner) {
  InitialiseSodium();
  PublicKey key{};
  if (crypto_sign_ed25519_pk_to_curve25519(key.data(), owner.data()) != 0) return {};
  return key;
}

KeyPair SealingPairOf(const KeyPair& owner) {
  PublicKey known{};
  const SigningKey expanded(owner.secret, known);
  SecretKey scalar;
  crypto_sign_ed25519_sk_to_curve25519(scalar.bytes().data(), expanded.bytes());
  return PairOf(KeyKind::kParty, std::move(scalar));
}

Signature Sign(const KeyPair& owner, std::string_view message) {
  InitialiseSodium();
  PublicKey known{};
  const SigningKey expanded(owner.secret, known);
  Require(known == owner.known, "Sign: a pair of an owner's keys");
  Signature signature{};
  crypto_sign_detached(signature.data(), nullptr, reinterpret_cast<const unsigned char*>(message.data()),
                       message.size(), expanded.bytes());
  return signature;
}

bool Verify(const PublicKey& owner, std::string_view message, const Signature& signature) {
  InitialiseSodium();
  return crypto_sign_verify_detached(signature.data(), reinterpret_cast<const unsigned char*>(message.data()),
                                     message.size(), owner.data()) == 0;
}

}  // namespace trefoil::deposit
