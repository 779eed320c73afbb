#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "deposit/format/header.h"
#include "deposit/keys.h"

namespace trefoil::deposit {

/// An owner's signed word that a deposit of its own is to be deleted, and never to be used.
struct Withdrawal {
  Hash deposit{};          ///< its id
  PublicKey owner{};       ///< who signed
  std::uint64_t time = 0;  ///< seconds since 1970, by the owner's clock
  std::string content;     ///< all of the file
};

inline constexpr std::size_t kWithdrawalBytes = 159;

/// The file that says so, byte by byte: docs/reference/deposits.md, "A withdrawal". It is the same for all
/// parties. Pre: the pair is an owner's.
[[nodiscard]] std::string SignWithdrawal(const Hash& deposit, std::uint64_t time, const KeyPair& owner);

/// What such a file says, whose signature holds. Whose deposit it is, and whether it is known, is the store's
/// to say (deposit/store/store.h). Throws RefusedDeposit, naming `file`, for anything else.
[[nodiscard]] Withdrawal ParseWithdrawal(std::string_view content, const std::filesystem::path& file);

}  // namespace trefoil::deposit
