#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deposit/on_shares/rows_on_disk.h"
#include "deposit/store/store.h"
#include "deposit/study.h"
#include "jobs/shared_records.h"

namespace trefoil::deposit {

/// The most rows, padding included, of a deposit that StoreRecords::Share opens: as many as a deposit may
/// have, and with data.memory as many as fit into a quarter of it.
[[nodiscard]] std::uint64_t MostRowsOpened(const jobs::RecordSchema& records);

/// Numbers of rows that StoreRecords::Share checks at once.
[[nodiscard]] mpc::Index CheckedAtOnce(const jobs::RecordSchema& records);

/// The deposits in a party's store that a job is about: all of the study and purpose that it names which were
/// not withdrawn, and which this party has not set aside. All three parties must have the same ones. Each is
/// checked on shares (CheckedRows); one that does not pass is left out at all three, and named. A deposit of
/// batches is left out too where one party knows that another run has spent it, or where it came after the
/// run had begun.
class StoreRecords final : public jobs::SharedRecords {
 public:
  /// For a job whose rows come from a store. `party_file` names the party file in errors. Opens nothing.
  StoreRecords(jobs::PartyFile party, std::string party_file);

  /// Reads and verifies all deposits, which releases nothing. Throws ConfigError where the party file has no
  /// [deposits], the job names no study or one that is about other records, or its capacity is too small;
  /// DataError where there is no deposit, or a damaged one.
  [[nodiscard]] std::string Load(const jobs::RecordSchema& records) override;
  [[nodiscard]] std::vector<jobs::Population> Populations() override;
  /// Looks into the store again: what was withdrawn since Load() is not used. Cost: PlannedChecks, of all
  /// deposits that are not left out before: AgreeOnDeposits, a round with a byte a deposit, and CheckedRows
  /// of each that is not capped; of batches another such round, a Barrier, and AreRows. Throws as these, and
  /// ConfigError or DataError at all three where the rows are more than the job's capacity, or batches more
  /// than its deposits, or no deposit passes; BudgetError likewise where a deposit is capped and the job does
  /// not leave such out.
  ///
  /// With data.memory the rows lie sealed in the store's folder as long as what is returned lives. Throws
  /// std::runtime_error where they cannot be written.
  ///
  /// Batches are spent by `run` in this party's store, and at both peers', before anything of them is sent.
  ///
  /// In a prediction, a deposit is left out where its owner's key cannot be used to seal anything.
  [[nodiscard]] Checked Share(mpc::Context& party, const jobs::CapOf& cap, const std::string& run) override;
  /// As SealPredictions.
  [[nodiscard]] std::string SealForOwner(const jobs::PartForOwner& part) override;

 private:
  /// For each deposit, in the order of `ids`: a sentence that says why it has no budget at one of the
  /// parties; empty where it has.
  [[nodiscard]] std::vector<std::string> CapsOf(mpc::Context& party, const std::vector<Hash>& ids,
                                                const std::map<Hash, StoredDeposit>& deposits,
                                                const jobs::CapOf& cap) const;
  [[nodiscard]] std::map<Hash, StoredDeposit> Deposits();
  struct DepositFates;
  void LeaveOutSpent(mpc::Context& party, const std::string& run, std::map<Hash, StoredDeposit>& deposits,
                     DepositFates& fates);
  [[nodiscard]] std::vector<Hash> Uncapped(mpc::Context& party, const std::vector<Hash>& ids,
                                           const std::map<Hash, StoredDeposit>& deposits,
                                           const jobs::CapOf& cap, DepositFates& fates) const;
  void RequireDisk() const;
  [[nodiscard]] std::shared_ptr<RowsOnDisk> DiskForRows() const;
  [[nodiscard]] std::string ExcessOf(const std::map<Hash, StoredDeposit>& deposits) const;

  jobs::RecordSchema records_{};  ///< after Load
  jobs::PartyFile party_;
  std::string party_file_;
  std::optional<Store> store_{};  ///< after Load, as below
  Study study_;
  /// After Share: the owner's key of each deposit in use, by the deposit's id.
  std::map<std::string, PublicKey> owners_{};
};

/// As jobs::StoreOpener.
[[nodiscard]] std::unique_ptr<jobs::SharedRecords> OpenStoreRecords(const jobs::PartyFile& party,
                                                                    const std::string& party_file);

/// Throws ConfigError naming a key and what was found unless a job's records are those of a study: columns,
/// features and fraction bits, whatever the names of both are, and whatever bits the steps of a training on
/// parties' own rows had (features.fraction_bits).
void RequireRecordsOf(const Study& study, const jobs::RecordSchema& records);

}  // namespace trefoil::deposit
