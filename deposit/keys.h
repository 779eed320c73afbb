#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/secrets/secure_memory.h"

namespace trefoil::deposit {

/// What a pair of keys is for: deposits are sealed to a party's (X25519, RFC 7748), and signed with their
/// owner's (Ed25519, RFC 8032).
enum class KeyKind { kParty, kOwner };

/// The half of a pair that everybody may have.
using PublicKey = std::array<std::uint8_t, 32>;
using Signature = std::array<std::uint8_t, 64>;

/// The secret is X25519's scalar, or Ed25519's seed.
struct KeyPair {
  SecretKey secret;
  PublicKey known;
};

/// A fresh pair, from the system's randomness.
[[nodiscard]] KeyPair MakeKeyPair(KeyKind kind);

/// The pair that the secret belongs to.
[[nodiscard]] KeyPair PairOf(KeyKind kind, SecretKey secret);

/// "deposit" or "owner", as the files of a pair begin.
[[nodiscard]] const char* NameOf(KeyKind kind);

/// Makes FOLDER/deposit.key or owner.key (mode 0600), and beside it the public half, deposit.pub or
/// owner.pub. The folder is made where it is not there. Throws ConfigError if one of the files is there,
/// std::runtime_error if they cannot be written.
void WriteKeyPair(KeyKind kind, const KeyPair& pair, const std::filesystem::path& folder);

/// Reads such a private key, which is nowhere else in memory. Throws ConfigError unless that is a file that
/// its owner alone can read, and holds one of the kind.
[[nodiscard]] KeyPair ReadKeyPair(KeyKind kind, const std::filesystem::path& file);

/// The public half as its file has it: a line with the kind, a line of lower-case hexadecimal digits.
[[nodiscard]] std::string PublicKeyText(KeyKind kind, const PublicKey& key);

/// Reads such a file. Throws ConfigError naming it for anything else, a private key above all.
[[nodiscard]] PublicKey ReadPublicKey(KeyKind kind, const std::filesystem::path& file);

/// What 64 hexadecimal digits say; nothing for anything else.
[[nodiscard]] std::optional<std::array<std::uint8_t, 32>> FromHex(std::string_view text);

/// SHA-256 of that text, and so of the file, as upper-case hexadecimal pairs joined by colons: what two
/// people compare by telephone.
[[nodiscard]] std::string Fingerprint(KeyKind kind, const PublicKey& key);

/// The X25519 form of an owner's public key, to which its predictions are sealed (RFC 7748, section 4.1).
/// Nothing for a point that is not in Ed25519's prime-order group: no owner that made its key by MakeKeyPair
/// has such a one.
[[nodiscard]] std::optional<PublicKey> SealingKeyOf(const PublicKey& owner);
/// The pair of that form. Pre: the pair is an owner's.
[[nodiscard]] KeyPair SealingPairOf(const KeyPair& owner);

/// Ed25519. Pre: the pair is an owner's.
[[nodiscard]] Signature Sign(const KeyPair& owner, std::string_view message);
/// Whether `signature` is the owner's, of that message; no key or signature of small order is (libsodium's
/// strict check).
[[nodiscard]] bool Verify(const PublicKey& owner, std::string_view message, const Signature& signature);

}  // namespace trefoil::deposit
