#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/secure_memory.h"
#include "deposit/read_deposit.h"
#include "deposit/store/database.h"

namespace trefoil::deposit {

/// What a store says of a deposit.
struct StoredDeposit {
  Hash id{};
  Header header;
  std::string owner;           ///< by this party's name for it, when the deposit was taken
  std::string study;           ///< as JSON
  std::uint64_t accepted = 0;  ///< seconds since 1970, by this party's clock
};

/// What a party took: a folder with `deposits.sqlite`, and a sealed file for each body. A deposit is in it whole or not at all,
/// after a crash at any time: its body is on disk, under its final name, before one transaction enters it. Bodies are sealed
/// each under a key of its own, which lies in the database, itself sealed under the party's storage key.
class Store {
 public:
  /// Opens party `party`'s store, or makes it (mode 0700). `key` is what bodies' keys are sealed under. Throws ConfigError
  /// where the folder holds something else.
  Store(const std::filesystem::path& folder, int party, SecretKey key);

  /// Enters a deposit of a study that came as `file`. Throws RefusedDeposit where it, its nonce or one of its commitments came before
  /// (kRepeated), or where another stands for its owner, population and purpose, and it does not say that it adds (kLive);
  /// std::system_error where it cannot be written: then nothing of it is in the store.
  void Accept(const OpenedDeposit& deposit, const Study& study, const std::filesystem::path& file,
              std::uint64_t now);

  /// All, in the order in which they were taken.
  [[nodiscard]] std::vector<StoredDeposit> List();

  /// Reads a deposit again, with all that a store can check: its header is what its id says, its body opens, its components
  /// are those that the header commits to. Throws DataError naming the file that is not so, ConfigError where it is not there.
  void Verify(const StoredDeposit& deposit);

  /// Bodies that belong to no deposit: what acceptances left that were killed.
  [[nodiscard]] std::vector<std::filesystem::path> Strays();

 private:
  [[nodiscard]] std::filesystem::path BodyFile(const Hash& id) const;
  [[nodiscard]] std::vector<StoredDeposit> ListInTransaction();
  [[nodiscard]] SecretKey BodyKey(const StoredDeposit& deposit);
  void RefuseKnown(const OpenedDeposit& deposit, const std::filesystem::path& file);
  void Enter(const OpenedDeposit& deposit, const Study& study, const SecretKey& body_key, std::uint64_t now);

  std::filesystem::path folder_;
  int party_;
  SecretKey key_;
  Database database_;
};

}  // namespace trefoil::deposit
