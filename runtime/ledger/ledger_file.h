#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dp/ledger/ledger.h"
#include "runtime/ledger/known_records.h"
#include "runtime/resume/chain_file.h"

namespace trefoil::runtime {

/// A job that asks for its part of the budget of a data set, or of a population.
struct BudgetRequest {
  std::string data;           ///< SHA-256 of the data set
  std::string name;           ///< the job's
  dp::TrainingRecord record;  ///< all that it plans, and all that earlier sessions of its run executed
  double epsilon_cap = 0;     ///< of an insider, all jobs together
  double delta = 0;
  dp::TrainingRecord before{};           ///< of a resumed run: what those sessions executed
  std::optional<dp::FilterMode> mode{};  ///< that the ledger has to have; a new one without has kRdp
  /// Of which the data set is; empty: that of the ledger, if any.
  std::optional<PopulationClaim> population{};
};

/// What a request comes to: epsilons of an insider, by the ledger's filter.
struct BudgetAnswer {
  double spent = 0;  ///< before
  double alone = 0;  ///< the job's own
  double after = 0;  ///< both
  std::string head;  ///< hash of the ledger's newest line
};

/// A ledger as it is on disk, for reading.
struct LedgerView {
  dp::Ledger ledger;
  std::vector<bool> may_be_alive;  ///< for each job: has not ended, and a process holds it
  std::size_t lines = 0;
  std::string head{};    ///< hash of the newest line
  std::size_t torn = 0;  ///< bytes of a line at the end that was not written to its end
};

/// Reads a ledger, and changes nothing. Throws ConfigError for a file that cannot be read; DataError
/// "FILE: line N: found X, expected Y" for one that is no ledger, or was changed.
[[nodiscard]] LedgerView ReadLedger(const std::filesystem::path& file);

/// What the request would come to, were it made now. Throws as LedgerFile::Reserve, and changes nothing.
[[nodiscard]] BudgetAnswer AskLedger(const std::filesystem::path& file, const BudgetRequest& request);

/// One job's hand on the ledger of its data set: reserves, announces and settles, so that whatever instant
/// the process or its machine dies at, no entry is lost, doubled or cut, and the job is charged at least what
/// it executed.
///
/// Every entry is on disk when the function that wrote it returns. While the job is under way a lock on a
/// byte far behind the file's end says so; it ends with the process, however that ends.
class LedgerFile {
 public:
  /// Makes the file, mode 0600, if it is not there. Throws ConfigError for another mode, or if it cannot be
  /// opened.
  explicit LedgerFile(std::filesystem::path file);
  LedgerFile(const LedgerFile&) = delete;
  LedgerFile& operator=(const LedgerFile&) = delete;

  /// Fixes the filter of a new ledger, before its first job: `data` and `population` as BudgetRequest's.
  /// Throws ConfigError where the ledger has one, or is of version 1; else as Reserve.
  void Open(const std::string& data, const dp::FilterTerms& terms,
            const std::optional<PopulationClaim>& population = {});

  /// Declares a data set to be one of the ledger's population, which the ledger gets where it has none; then
  /// its jobs are charged to the same budget. A new ledger gets its filter as by Reserve, from a request
  /// without a job. Returns false, and changes nothing, where it was declared before. Throws as Reserve but
  /// for BudgetError; ConfigError where a ledger without a population is of other data, which has to be
  /// declared first.
  bool Declare(const BudgetRequest& request);

  /// Enters jobs in a closed ledger, all or none, as ChainFile::AppendAll; a new one becomes closed. Throws as
  /// Reserve, and ConfigError for a ledger that is not closed, or where a job has begun.
  BudgetAnswer Enter(const std::vector<BudgetRequest>& jobs);

  /// Settles jobs that died, cuts off a line that was not written to its end, and reserves; a run that the
  /// ledger has already goes on in its place. Whichever it is, the run is charged `before` at least from
  /// then on. A new ledger gets its filter, and one of version 1 the filter
  /// by RDP, in a line behind its own; a population's name follows, and its records are entered in
  /// KnownRecords, before the ledger has a line of it. Throws ConfigError where another process executes that
  /// run, or the ledger has another mode or delta than requested, or knows of more that the run executed than
  /// `before` says; BudgetError, with nothing reserved, where all jobs together would be beyond the cap or
  /// have no guarantee, or a closed ledger has no such job; DataError where the ledger is of other data, or
  /// the data set was not declared to be its population's, or as ReadLedger; what KnownRecords::Enter throws;
  /// std::runtime_error where it cannot be written.
  BudgetAnswer Reserve(const BudgetRequest& request);

  /// Before the job executes what `record` says, all of it up to there. Throws as Reserve but for
  /// BudgetError.
  void Announce(const dp::TrainingRecord& record);

  /// When nothing more will be executed: what was, at most. Returns the ledger's newest hash. Throws as
  /// Announce.
  std::string Settle(const dp::TrainingRecord& record, dp::JobEnd ended);

  /// Settles as stopped with what was announced last, if a job is under way. Throws as Announce.
  void Stop();

 private:
  /// Under the lock.
  void Follow();
  /// Under the lock, after Follow: all or none, as ChainFile::AppendAll.
  void Append(const std::vector<nlohmann::json>& entries);
  void SettleDead(const std::string& time);
  /// The entries that a ledger needs before anything else; a population's records are known from then on.
  [[nodiscard]] std::vector<nlohmann::json> Beginning(const std::string& data, const dp::FilterTerms& terms,
                                                      const std::optional<PopulationClaim>& population);
  [[nodiscard]] bool MayBeAlive(std::size_t job) const;

  ChainFile chain_;
  dp::Ledger ledger_;
  std::optional<std::size_t> own_{};  ///< the job under way
};

}  // namespace trefoil::runtime
