#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "deposit/keys.h"
#include "deposit/study.h"

namespace trefoil::deposit {

/// What a deposit says of itself in the clear, the same in its three files; never how many records it has.
struct Header {
  Hash study{};                ///< its id
  std::uint64_t capacity = 0;  ///< rows, padding included
  PublicKey owner{};
  std::string population;  ///< whose budget it draws on, by the owner's name for it
  std::string purpose;     ///< as in "train"
  bool adds = false;  ///< whether its records are disjoint from those of the owner's other deposits of both
  Hash nonce{};
  std::uint64_t time = 0;  ///< seconds since 1970, by the owner's clock
  std::array<PublicKey, 3> recipients{};
  std::array<Hash, 3> commitments{};  ///< to the components
};

inline constexpr std::size_t kHeaderBytes = 440;

/// Byte by byte: docs/reference/deposits.md, "The header". Pre: names as jobs::IsName takes them.
[[nodiscard]] std::string EncodeHeader(const Header& header);

/// Nothing for anything that EncodeHeader would not give.
[[nodiscard]] std::optional<Header> DecodeHeader(std::string_view bytes);

/// SHA-256 of the encoded header.
[[nodiscard]] Hash DepositId(std::string_view encoded_header);

inline constexpr std::string_view kMagic = "trefoil deposit\n";
inline constexpr std::uint64_t kVersion = 1;
inline constexpr std::size_t kPrefixBytes = 264;

/// What a file begins with: all that is read before its owner's signature holds.
struct Prefix {
  std::uint64_t party = 0;  ///< whose file it is
  std::uint64_t header_bytes = kHeaderBytes;
  std::uint64_t body_bytes = 0;
  PublicKey owner{};
  Hash id{};                     ///< of the header
  std::array<Hash, 3> bodies{};  ///< SHA-256 of the three files' bodies
  Signature signature{};
};

/// Byte by byte: docs/reference/deposits.md, "The prefix".
[[nodiscard]] std::string EncodePrefix(const Prefix& prefix);

/// What its bytes behind magic and version say. Allocates nothing. Pre: the magic is there, and the version
/// is kVersion.
[[nodiscard]] Prefix DecodePrefix(std::span<const std::uint8_t, kPrefixBytes> bytes);

/// What an owner signs: the header, by its hash, and the three bodies by theirs.
[[nodiscard]] std::array<char, 146> SignedText(const Prefix& prefix);

}  // namespace trefoil::deposit
