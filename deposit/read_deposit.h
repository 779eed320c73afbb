#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files/regular_file.h"
#include "deposit/format/header.h"
#include "deposit/keys.h"
#include "deposit/refusal.h"
#include "deposit/study.h"
#include "deposit/trusted_owners.h"
#include "jobs/files/sealed_file.h"

namespace trefoil::deposit {

/// A deposit that its owner signed and that this party could open and check alone.
struct OpenedDeposit {
  Hash id{};
  Header header;
  std::string owner;  ///< by this party's name for it
  std::array<std::uint8_t, kPrefixBytes> prefix{};
  jobs::SecretBytes body{};  ///< what was sealed
  /// In it: this party's own and the next (deposit/format/components.h).
  std::array<std::span<const std::uint8_t>, 2> components{};
};

/// Who reads a deposit, for what.
struct DepositReader {
  Study study;
  int party = 0;
  KeyPair key;  ///< the party's deposit key
  std::vector<TrustedOwner> owners;
};

/// The bytes of the prefix that a file begins with; nothing where it is shorter, or there is no such file.
[[nodiscard]] std::optional<std::array<std::uint8_t, kPrefixBytes>> PrefixIn(const RegularFile& file);

/// What a file for `party` begins with: its owner is listed and signed it. `file_bytes`: of all of the file,
/// where that is known. Allocates nothing. Throws RefusedDeposit, naming `file`: kSize to kOwner.
[[nodiscard]] Prefix CheckedPrefix(std::span<const std::uint8_t, kPrefixBytes> bytes,
                                   std::optional<std::uint64_t> file_bytes, int party,
                                   const std::vector<TrustedOwner>& owners,
                                   const std::filesystem::path& file);

/// The two components that a party's body holds, behind their salts. Throws RefusedDeposit, naming `file`,
/// where they are not those that the header commits to, or have numbers beyond the modulus. Pre: of BodyBytes
/// bytes.
[[nodiscard]] std::array<std::span<const std::uint8_t>, 2> CheckedComponents(
    const Header& header, const RowLayout& layout, int party, std::span<const std::uint8_t> body,
    const std::filesystem::path& file);

/// Reads a party's file, and checks all that one party can check: in the order of Reason, and nothing but a
/// prefix of fixed length, without allocation, before its signature holds. What the numbers are is not looked
/// at but for their length: that wants all three parties. Time and memory: in proportion to the size that
/// study and capacity give. Throws RefusedDeposit; ConfigError where the file cannot be read.
[[nodiscard]] OpenedDeposit ReadDeposit(const std::filesystem::path& file, const DepositReader& reader);

}  // namespace trefoil::deposit
