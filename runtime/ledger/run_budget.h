#pragma once
#include <functional>
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

/// The same as the ledger of the test records sees it, at the party that holds them: an exact count is not
/// covered. Nothing where the party holds none of the job's.
[[nodiscard]] std::optional<BudgetedJob> BudgetedEvaluationOf(const jobs::Job& job, int party);

/// Throws BudgetError for a job that releases what no epsilon covers, or that is about deposits of owners.
void RequireCovered(const BudgetedJob& job, const jobs::LedgerSettings& ledger);

/// Throws BudgetError for a job that chooses without noise on validation records of this party that one of its ledgers
/// is of: those of [evaluation], or any data set that a ledger knows. Does nothing where the party file has no ledger.
void RequireNoChoice(const jobs::PartyFile& party, const jobs::Job& job);

/// One of a party's ledgers, and the files that its jobs are about.
struct LedgerOf {
  const jobs::PartyFile& party;
  const jobs::LedgerSettings& ledger;
  const data::DataFiles& files;
};

/// What the ledger has to know of the files where the party file names a population; nothing where it names none.
/// Reads the files' records where they are not known yet. `data` is their data::DataHash. Throws as TagsOf and KnownRecords.
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

/// A run's side of its party's ledgers, of [data] and of [evaluation]; does nothing where the party file has
/// none.
class RunBudget {
 public:
  /// Opens the ledgers that the job is charged to, and hashes their data. Throws as RequireNoChoice, LedgerFile,
  /// data::DataHash and ClaimOf; BudgetError for a job that no ledger can take.
  RunBudget(const jobs::PartyFile& party, const jobs::Job& job);

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
    Side(const LedgerOf& of, BudgetedJob budgeted);

    jobs::LedgerSettings settings;
    BudgetedJob job;
    LedgerFile file;
    std::string data;
    std::optional<PopulationClaim> population;
  };

  std::optional<Side> records_;  ///< that are trained on or counted
  std::optional<Side> tests_;
};

}  // namespace trefoil::runtime
