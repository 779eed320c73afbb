#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/config/party_file.h"
#include "jobs/job.h"
#include "runtime/ledger/ledger_file.h"

namespace trefoil::runtime {

/// A job as its ledger sees it.
struct BudgetedJob {
  std::string name;
  std::string job_hash;
  std::string uncovered;  ///< "KEY: found VALUE, which WHY": why no ledger can take the job; empty: one can
};

/// Nothing where another run's record covers the job.
[[nodiscard]] std::optional<BudgetedJob> BudgetedJobOf(const jobs::Job& job);

/// The same as the ledgers of [owner_ledgers] see it; nothing where the job is on no deposits.
[[nodiscard]] std::optional<BudgetedJob> BudgetedOnDeposits(const jobs::Job& job);

/// The same as the ledger of the test records sees it, at the party that holds them: an exact count is not
/// covered. Nothing where the party holds none of the job's.
[[nodiscard]] std::optional<BudgetedJob> BudgetedEvaluationOf(const jobs::Job& job, int party);

/// Throws BudgetError for a job that releases what no epsilon covers, or that is about deposits of owners.
void RequireCovered(const BudgetedJob& job, const jobs::LedgerSettings& ledger);

/// Throws BudgetError for a job that chooses without noise on validation records of this party that one of
/// its ledgers is of: those of [evaluation], or any data set that a ledger knows. Does nothing where the
/// party file has no ledger.
void RequireNoChoice(const jobs::PartyFile& party, const jobs::Job& job);

/// Throws ConfigError where links make one file of [ledger] and [evaluation_ledger]: a run would wait for
/// itself.
void RequireTwoLedgers(const jobs::PartyFile& party);

/// One of a party's ledgers, and the files that its jobs are about.
struct LedgerOf {
  const jobs::PartyFile& party;
  const jobs::LedgerSettings& ledger;
  const data::DataFiles& files;
};

/// What the ledger has to know of the files where the party file names a population; nothing where it names
/// none. Reads the files' records where they are not known yet. `data` is their data::DataHash. Throws as
/// TagsOf and KnownRecords; DataError where the files are replaced meanwhile.
[[nodiscard]] std::optional<PopulationClaim> ClaimOf(const LedgerOf& of, const std::string& data);

/// What a ledger would say to the job's plan. Throws as RunBudget::Reserve.
[[nodiscard]] BudgetAnswer AskBudget(const LedgerOf& of, const BudgetedJob& job,
                                     const std::vector<dp::RecordedEvent>& plan);

/// The budget as an operator reads it: what is spent and would be.
[[nodiscard]] std::string BudgetLine(const jobs::LedgerSettings& ledger, const BudgetAnswer& answer);

/// What was reserved in one of a party's ledgers.
struct ReservedBudget {
  std::string what;  ///< "ledger", or "ledger of the test records"
  BudgetAnswer answer;
  double epsilon_cap = 0;
  double delta = 0;
  std::string line;  ///< for the operator
};

/// The ledger of a population whose records an owner deposited: a file in the settings' folder.
[[nodiscard]] jobs::LedgerSettings OwnerLedger(const jobs::OwnerLedgerSettings& settings,
                                               const jobs::Population& population);

/// What that ledger is of, in place of a data set's hash: what an owner deposits anew, or another file, is
/// the same.
[[nodiscard]] std::string OwnerDataHash(const jobs::Population& population);

/// As jobs::CapOf: why a population's ledger would refuse the plan, or nothing; changes nothing. Throws as
/// LedgerFile::Reserve but for BudgetError.
[[nodiscard]] std::string WhyCapped(const jobs::OwnerLedgerSettings& settings,
                                    const jobs::Population& population, const BudgetedJob& job,
                                    const dp::TrainingRecord& plan);

/// A run's side of its party's ledgers, of [data] and of [evaluation], and those of [owner_ledgers] that
/// ChargeTo() names; does nothing where the party file has none.
class RunBudget {
 public:
  /// Opens the ledgers that the job is charged to, and hashes their data. Throws as RequireTwoLedgers,
  /// RequireNoChoice, LedgerFile, data::DataHash and ClaimOf; BudgetError for a job that no ledger can take.
  RunBudget(const jobs::PartyFile& party, const jobs::Job& job);

  /// Before peers are met: makes the folder, and asks the ledgers of these populations, so that what makes
  /// one unusable is found now. Throws as WhyCapped; ConfigError where the folder cannot be made;
  /// std::runtime_error where the process may not have so many files open.
  void PrepareOwners(const std::vector<jobs::Population>& populations, const dp::TrainingRecord& plan) const;
  /// The function above, of this party's settings; nothing without such.
  [[nodiscard]] std::string WhyCapped(const jobs::Population& population,
                                      const dp::TrainingRecord& plan) const;
  /// Opens the ledgers of these populations, to which all that follows is charged, too. Before Reserve.
  /// Throws as LedgerFile.
  void ChargeTo(const std::vector<jobs::Population>& populations);

  /// Before anything of the data is shared: all that the run is to execute, what its earlier sessions
  /// executed included. Throws as LedgerFile::Reserve, and BudgetError for a job that
  /// releases what no epsilon covers.
  std::vector<ReservedBudget> Reserve(const dp::TrainingRecord& plan, const dp::TrainingRecord& before);
  /// Before steps. Throws as LedgerFile::Announce.
  void Announce(const dp::TrainingRecord& record);
  /// After the last step, before anything is opened. Throws as LedgerFile::Settle.
  void Settle(const dp::TrainingRecord& record);
  /// When the run has failed: settles with what was announced. Where that fails, the ledger has what was
  /// announced, the next job settles it, and `log` is told.
  void StopOrLog(const std::function<void(const std::string& line)>& log);

 private:
  struct Side {
    Side(std::string name, const LedgerOf& of, BudgetedJob budgeted);
    /// Of deposits.
    Side(jobs::LedgerSettings ledger, const jobs::Population& population, BudgetedJob budgeted);

    std::string what;  ///< as ReservedBudget
    jobs::LedgerSettings settings;
    BudgetedJob job;
    LedgerFile file;
    std::string data;
    std::optional<PopulationClaim> population;
  };

  /// Of a job on deposits.
  struct Owners {
    jobs::OwnerLedgerSettings settings;
    BudgetedJob job;
  };

  /// Of the records that are trained on or counted, and of the test records.
  [[nodiscard]] std::vector<Side*> Records();
  [[nodiscard]] std::vector<Side*> All();

  std::optional<Side> records_;  ///< this party's own
  std::optional<Side> tests_;
  std::optional<Owners> owners_;
  std::vector<std::unique_ptr<Side>> deposits_;
};

}  // namespace trefoil::runtime
