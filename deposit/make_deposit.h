#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/secrets/random.h"
#include "data/dataset/table.h"
#include "deposit/format/header.h"
#include "deposit/study.h"

namespace trefoil::deposit {

/// What an owner says of a deposit beside its records.
struct DepositTerms {
  std::uint64_t capacity = 0;
  std::string population = "default";
  std::string purpose = "train";
  bool adds = false;
  std::uint64_t time = 0;  ///< seconds since 1970
};

struct MadeDeposit {
  Hash id{};
  std::array<std::string, 3> files;  ///< of parties 0, 1 and 2
  std::string slots{};  ///< slots.csv, which its owner keeps, where the purpose is to predict; else empty
};

/// Shares, seals and signs records. Nonce, salts, seeds and slots come from `coins`, the keys that bodies are
/// sealed with from the system. Two of the files opened give the records; one alone gives nothing of them.
/// Pre: as ShareRows. Throws as ShareRows; ConfigError for a study's key that nothing can be sealed to.
[[nodiscard]] MadeDeposit MakeDeposit(const Study& study, const data::Table& table, const DepositTerms& terms,
                                      const KeyPair& owner, RandomStream& coins);

/// Bytes of the three files, for rows of this layout: nothing else changes them.
[[nodiscard]] std::array<std::uint64_t, 3> FileBytes(const RowLayout& layout, std::uint64_t capacity);

/// PARTY.deposit, as in party-0.deposit.
[[nodiscard]] std::string FileNameOf(int party);

/// Makes a folder with the three files, and slots.csv where there is one (mode 0600), which is there with all
/// of them, on disk, or not at all, after a crash at any time. Throws ConfigError where the folder is there,
/// std::runtime_error where it cannot be written.
void WriteDeposit(const std::filesystem::path& folder, const MadeDeposit& deposit);

/// A file's header, sealed body and signature put together by whoever has all three. Pre: bodies as SealBody
/// gives them.
[[nodiscard]] MadeDeposit SignDeposit(const Header& header, const std::array<std::string, 3>& bodies,
                                      const KeyPair& owner);

}  // namespace trefoil::deposit
