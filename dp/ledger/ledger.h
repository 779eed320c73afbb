#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dp/ledger/privacy_filter.h"
#include "dp/record/record.h"

namespace trefoil::dp {

/// How a job of a ledger ended: by itself; with an error or a signal that it could still note; or without a
/// word, which a later job notes for it.
enum class JobEnd { kDone, kStopped, kDied };

/// A job on the data of a ledger.
struct LedgerJob {
  std::string time;               ///< of the reservation, UTC, as 2026-01-31T12:00:00Z
  std::string name;               ///< the job's
  double delta = 0;               ///< at which it was compared with the cap
  double epsilon_cap = 0;         ///< at that time
  TrainingRecord reserved;        ///< all that it planned
  TrainingRecord announced;       ///< the most that it has executed, written before it did
  std::optional<JobEnd> ended{};  ///< empty: under way, or dead
  TrainingRecord executed;        ///< the most that it executed, where it has ended
  TrainingRecord certain{};       ///< executed for certain, at least: what was announced before the last
                                  ///< announcement, or all of a job that is done
};

/// A job of a closed ledger, entered before the first one released anything.
struct EnteredJob {
  std::string time;       ///< UTC, as a reservation's
  std::string name;       ///< the job's
  TrainingRecord record;  ///< the most that it may execute; the run id is "0"
  std::string run_id{};   ///< of the run that executes it; empty: none yet
};

/// A data set that belongs to a ledger's population.
struct PopulationMember {
  std::string time;              ///< when it was declared, UTC, as a reservation's
  std::string sha256;            ///< of the data set
  bool equal_by_chance = false;  ///< whether its owner said so of records that another population has, too
};

/// What the jobs on one data set, or on those of one population, have released of it, for the owner of the
/// data. Knows nothing of files:
/// entries are JSON objects, which dp/ledger/ledger_chain.h makes into lines. An entry has `kind`:
///   "data":     the first one. The data set: `sha256`; since version 2 `filter`, the terms by which jobs
///   are composed (dp/ledger/privacy_filter.h). A ledger of version 1 has none.
///   "filter":   in a ledger of version 1, before anything that a later program writes: `version` 2,
///   `filter`, by RDP. All jobs are composed by it, those of version 1 among them.
///   "population": a data set belongs to the ledger's population, which the first such entry names: `time`,
///   `name`, `sha256`, `equal_by_chance`. The one of "data" belongs to it in any case.
///   "enter":    in a closed ledger, before its first reservation: a job that may be executed once: `time`,
///   `name`, `record`.
///   "reserve":  a job that may begin: `time`, `name`, `delta`, `epsilon_cap`, `record` (all that is
///   planned); of a run that the ledger does not know although it has executed something, `executed` as in
///   "resume".
///   "announce": what a job may execute next: `record` (all up to there). "settle":   what a job
///   executed at most: `time`, `ended`, `record`.
///   "resume":   a job that has ended, or died, may go on: `time`, `delta`, `epsilon_cap`, `record` (all that
///   it has executed and plans), `executed` (what it has executed, counted: less than it had announced, where
///   it died, but never less than it executed for certain: else an old copy of the run went on).
///   Takes the place of its reservation, its announcements and its settlement.
/// Entered jobs, reservations, resumptions and settlements also say `epsilon_outsider` and `epsilon_insider`
/// of the record alone, for the reader: null without a guarantee. A job's entries have one run id.
class Ledger {
 public:
  /// What an entry adds. Throws DataError "found X, expected Y" for one that is not well formed, out of order
  /// (a job reserves once, announces while it is under way, and settles once), or that says more of a job
  /// than it reserved.
  void Apply(const nlohmann::json& entry);

  // The entries, not yet applied. Those of a job that is in the ledger already name it by its run id.
  [[nodiscard]] static nlohmann::json DataEntry(const std::string& sha256, const FilterTerms& terms);
  [[nodiscard]] static nlohmann::json FilterEntry(const FilterTerms& terms);
  [[nodiscard]] static nlohmann::json PopulationEntry(const PopulationMember& member,
                                                      const std::string& population);
  [[nodiscard]] static nlohmann::json EnterEntry(const EnteredJob& job, double delta);
  [[nodiscard]] static nlohmann::json ReserveEntry(const LedgerJob& job);
  [[nodiscard]] static nlohmann::json ResumeEntry(const LedgerJob& job);
  [[nodiscard]] static nlohmann::json AnnounceEntry(const TrainingRecord& record);
  [[nodiscard]] static nlohmann::json SettleEntry(const TrainingRecord& record, JobEnd ended, double delta,
                                                  const std::string& time);

  /// SHA-256 of the data set, of a population the first; empty before the first entry.
  [[nodiscard]] const std::string& data() const { return data_; }
  /// Its name; empty: the ledger is of one data set.
  [[nodiscard]] const std::string& population() const { return population_; }
  /// Its data sets, as they were declared.
  [[nodiscard]] const std::vector<PopulationMember>& members() const { return members_; }
  [[nodiscard]] bool IsDeclared(const std::string& sha256) const;
  /// Whether jobs on this data set are the ledger's.
  [[nodiscard]] bool IsOf(const std::string& sha256) const { return sha256 == data_ || IsDeclared(sha256); }
  [[nodiscard]] const std::vector<LedgerJob>& jobs() const { return jobs_; }
  /// Of a closed ledger.
  [[nodiscard]] const std::vector<EnteredJob>& entered() const { return entered_; }
  /// By which jobs are composed; nothing before the first entry, and in a ledger of version 1.
  [[nodiscard]] const std::optional<FilterTerms>& terms() const { return terms_; }
  /// The same at another delta, its parts in proportion; without terms those of RDP and default orders.
  [[nodiscard]] FilterTerms TermsAt(double delta) const;
  /// Which of entered() a run may execute, or does: of the same job, with no less than `record`.
  [[nodiscard]] std::optional<std::size_t> EntryFor(const TrainingRecord& record) const;
  /// The job of a run, by its number in jobs(), or nothing.
  [[nodiscard]] std::optional<std::size_t> JobOf(const std::string& run_id) const;

  /// What a job is charged: what it executed at most. A job without a settlement has executed no more than it
  /// announced if it is dead, and is charged all that it reserved while it may be alive.
  [[nodiscard]] static const TrainingRecord& Charged(const LedgerJob& job, bool may_be_alive);

  /// All jobs together, and `more` where there is one, in place of what the ledger has of its run, as an
  /// insider sees them, by a filter of these terms. `may_be_alive` is asked for jobs without a settlement. A
  /// closed ledger's jobs are charged all that was entered, whatever of it was executed.
  [[nodiscard]] PrivacyFilter InsiderFilter(const FilterTerms& terms,
                                            const std::function<bool(std::size_t job)>& may_be_alive,
                                            const TrainingRecord* more = nullptr) const;
  /// The epsilons of the filters of both adversaries.
  [[nodiscard]] EpsilonPair Spent(const FilterTerms& terms,
                                  const std::function<bool(std::size_t job)>& may_be_alive,
                                  const TrainingRecord* more = nullptr) const;

 private:
  void Open(const nlohmann::json& entry);
  void Declare(const nlohmann::json& entry);
  void Enter(const nlohmann::json& entry);
  void Reserve(const nlohmann::json& entry);
  void Resume(const nlohmann::json& entry);
  [[nodiscard]] LedgerJob& OpenJob(const TrainingRecord& record);

  [[nodiscard]] std::vector<const TrainingRecord*> Charges(
      FilterMode mode, const std::function<bool(std::size_t job)>& may_be_alive,
      const TrainingRecord* more) const;

  std::string data_;
  std::string population_;
  std::vector<PopulationMember> members_;
  std::optional<FilterTerms> terms_;
  std::vector<EnteredJob> entered_;
  std::vector<LedgerJob> jobs_;
};

[[nodiscard]] const char* ToText(JobEnd ended);

/// What a filter takes of a record for an insider, or an outsider: InsiderEvents or OutsiderEvents, but where
/// a release is within total variation t of a pure one of epsilon e: as it is (e, (1 + exp(e)) t)-private, it
/// is a pure one but with that probability (Kairouz, Oh, Viswanath 2015), an IndependentFailure.
[[nodiscard]] std::vector<Event> FilterCharges(const TrainingRecord& record, bool insider);

/// The steps in a record, as often as they were executed.
[[nodiscard]] std::int64_t StepsIn(const TrainingRecord& record);

/// Whether `record` is of the same job and run as `reserved` and has no event oftener than it, of steps fewer
/// or as many, and no more of them executed so often or oftener for any number, so that it costs no more.
/// Their order does not count: events compose in any.
[[nodiscard]] bool IsWithin(const TrainingRecord& record, const TrainingRecord& reserved);

}  // namespace trefoil::dp
