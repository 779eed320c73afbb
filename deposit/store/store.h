#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/secrets/secure_memory.h"
#include "deposit/read_deposit.h"
#include "deposit/store/database.h"
#include "deposit/withdrawal.h"

namespace trefoil::deposit {

/// The folder in a store's own where an inbox keeps what has come of deposits that are not whole.
inline constexpr const char* kPartsFolder = "parts";

/// What a store says of a deposit.
struct StoredDeposit {
  Hash id{};
  Header header;
  std::string owner;            ///< by this party's name for it, when the deposit was taken
  std::string study;            ///< as JSON
  std::uint64_t accepted = 0;   ///< seconds since 1970, by this party's clock
  std::string spent_by{};       ///< of batches: the id of the run that they were used by; empty: none yet
  std::uint64_t set_aside = 0;  ///< since when this party uses it no more, by its clock; 0: it does
};

/// What a store says of a withdrawal.
struct StoredWithdrawal {
  Hash deposit{};               ///< its id
  std::string owner;            ///< by this party's name for it, when it withdrew
  std::uint64_t withdrawn = 0;  ///< seconds since 1970, by this party's clock
};

/// What a store knows of the file that a deposit came as.
struct TakenFile {
  std::string prefix;          ///< empty where a store of version 2 took it
  std::string receipt;         ///< empty where none was given; the last one that was
  std::uint64_t accepted = 0;  ///< as StoredDeposit
  bool withdrawn = false;
};

/// What a withdrawal did.
enum class WithdrawalResult {
  kDeleted,  ///< the deposit was in the store, and is deleted
  kAhead,    ///< it was not, and will be refused if it comes
  kAgain,    ///< it was withdrawn before
};

/// What a party took: a folder with `deposits.sqlite`, and a sealed file for each body. A deposit is in it
/// whole or not at all, after a crash at any time: its body is on disk, under its final name, before one
/// transaction enters it. Bodies are sealed each under a key of its own, which lies in the database, itself
/// sealed under the party's storage key.
class Store {
 public:
  /// Opens party `party`'s store, or makes it (mode 0700), and ends what withdrawals left that were killed,
  /// unless another process reads it all the while. `key` is what bodies' keys are sealed under.
  /// Throws ConfigError where the folder holds something else.
  Store(const std::filesystem::path& folder, int party, SecretKey key);

  /// Enters a deposit of a study that came as `file`. Throws RefusedDeposit where it, its nonce or one of its
  /// commitments came before (kRepeated), where its owner withdrew it (kWithdrawn), or where another stands
  /// for its owner, population and purpose, was not spent, and it does not say that it adds (kLive);
  /// std::system_error where it cannot be written: then nothing of it is in the store. `receipt`: what its
  /// owner is told.
  void Accept(const OpenedDeposit& deposit, const Study& study, const std::filesystem::path& file,
              std::uint64_t now, const std::string& receipt = {});

  /// Of a deposit that was taken, also of one that was withdrawn since. Waits for nobody.
  [[nodiscard]] std::optional<TakenFile> Find(const Hash& id);

  /// Whether the owner with that key, or one of that name among this party's, withdrew the deposit, be it
  /// here or not. Waits for nobody.
  [[nodiscard]] bool IsWithdrawn(const Hash& id, const PublicKey& owner, const std::string& name);

  /// Keeps a receipt of a deposit in place of the one of `before`, which is empty where it was taken without
  /// one; returns the one that stands, which is the first that was entered in that place.
  std::string EnterReceipt(const Hash& id, const std::string& receipt, const std::string& before);

  /// Deletes a deposit of the withdrawal's owner, or of one of the same name among `owners`: its body, and
  /// first the key that this was sealed under; also what an inbox has of it. Id, nonce and commitments stay
  /// known. Where the deposit is not here, it will be refused if it comes; that is for listed owners alone.
  /// What was withdrawn stays so. Throws RefusedDeposit (kOwner), naming `file`;
  /// std::runtime_error where the deletion could not be ended: then the deposit is withdrawn, and what is
  /// left of it goes with the next call or when the store is opened next, as after a crash.
  WithdrawalResult Withdraw(const Withdrawal& withdrawal, const std::vector<TrustedOwner>& owners,
                            const std::filesystem::path& file, std::uint64_t now);

  /// All of them, in the order in which they came.
  [[nodiscard]] std::vector<StoredWithdrawal> Withdrawals();

  /// All deposits that were not withdrawn, in the order in which they were taken.
  [[nodiscard]] std::vector<StoredDeposit> List();

  /// Notes that a run is about to use these deposits, of batches, which no other may then. On disk when it
  /// returns. Throws DataError where another run has one of them, and notes nothing then; std::runtime_error
  /// where it cannot be written.
  void Spend(const std::vector<Hash>& ids, const std::string& run, std::uint64_t now);

  /// Whether a run has used any deposit, also one that was withdrawn since.
  [[nodiscard]] bool HasSpent(const std::string& run);

  /// Notes that this party uses a deposit in no run and no check from now on, or, unless `aside`, that it does
  /// again; otherwise it stays what it is: its owner's live one, which that owner can withdraw. On disk when
  /// it returns. Returns whether it was not so before. Throws DataError where no such deposit is here.
  bool SetAside(const Hash& id, bool aside, std::uint64_t now);

  /// Reads a deposit again, with all that a store can check: its header is what its id says, its body opens,
  /// its components are those that the header commits to. Throws DataError naming the file that is not so,
  /// ConfigError where it is not there, PassingError where it was withdrawn since it was listed.
  [[nodiscard]] OpenedDeposit Read(const StoredDeposit& deposit);
  /// Reads it, and throws as Read(); but returns false where it was withdrawn since it was listed.
  bool Verify(const StoredDeposit& deposit);

  /// Bodies that belong to no deposit: what acceptances and withdrawals left that were killed.
  [[nodiscard]] std::vector<std::filesystem::path> Strays();

 private:
  [[nodiscard]] std::filesystem::path BodyFile(const Hash& id) const;
  [[nodiscard]] std::vector<StoredDeposit> ListInTransaction();
  [[nodiscard]] SecretKey BodyKey(const StoredDeposit& deposit);
  [[nodiscard]] OpenedDeposit Opened(const StoredDeposit& deposit);
  [[nodiscard]] bool IsWithdrawn(const StoredDeposit& deposit);
  void RefuseKnown(const OpenedDeposit& deposit, const std::filesystem::path& file);
  void Enter(const OpenedDeposit& deposit, const Study& study, const SecretKey& body_key, std::uint64_t now,
             const std::string& receipt);
  [[nodiscard]] WithdrawalResult EnterWithdrawal(const Withdrawal& withdrawal,
                                                 const std::vector<TrustedOwner>& owners,
                                                 const std::filesystem::path& file, std::uint64_t now);
  /// The bodies of withdrawn deposits that are still there: a sign that the log was not emptied either.
  [[nodiscard]] std::vector<std::filesystem::path> BodiesOfWithdrawn();
  void ClearWithdrawn();
  void EndKilledWithdrawals();
  void ClearWithdrawnParts(const std::vector<TrustedOwner>& owners);

  std::filesystem::path folder_;
  int party_;
  SecretKey key_;
  Database database_;
};

}  // namespace trefoil::deposit
