#pragma once
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dp/record/record.h"
#include "jobs/config/party_file.h"
#include "jobs/job_cost.h"
#include "jobs/job_type.h"
#include "jobs/records/model_schema.h"
#include "jobs/shared_records.h"
#include "jobs/shown_results.h"
#include "jobs/statement/bound_text.h"
#include "ml/dpsgd/training.h"
#include "mpc/context.h"
#include "mpc/fixed_point.h"
#include "mpc/ranks.h"
#include "protocols/cost_model.h"
#include "trefoil/job.h"

namespace trefoil {
class VectorProgram;  // include/trefoil/run.h
}

namespace trefoil::jobs {

/// A file of a run's results.
struct ResultFile {
  std::string name;
  std::string text;
  bool secret = false;  ///< for its owner's eyes alone: mode 0600
};

/// A number that was opened to this party, as its session log names it; or many, by a hash.
struct ReleasedValue {
  std::string name;
  double value = 0;
  std::string sha256{};  ///< of many numbers, in hexadecimal, in place of `value`; empty: it is one
};

/// What there is to tell the owner of this party's records alone, a line each.
struct OwnerLines {
  std::vector<std::string> warnings{};
  std::vector<std::string> notes{};  ///< nothing that is odd: for its file, not for standard error
};

/// What a job gave this party.
struct JobResult {
  std::vector<ResultFile> files{};         ///< none where nothing was released to it
  std::vector<ReleasedValue> values{};     ///< likewise, but for those that Output::Opened had
  std::optional<ml::Model> model{};        ///< model.npz, where one was released to it
  std::optional<mpc::FixedShare> share{};  ///< of the model, for model.share, where one is released to nobody
  nlohmann::ordered_json summary =
      nlohmann::ordered_json::object();  ///< what summary.json says of the type's own
  std::vector<std::string> lines{};      ///< for the user
  /// What the results say of this party's own records; empty: nothing is asked. Called at most once, while
  /// the job is there, when all links have ended: so that not even the time tells anybody.
  std::function<OwnerLines()> owner_lines{};
};

/// Where `local` finds and puts a job's data.
struct SplitTarget {
  std::filesystem::path job_file;
  std::filesystem::path data;                          ///< as the user named it; empty: looked for
  std::filesystem::path test;                          ///< where test records go, if there are any
  std::array<std::filesystem::path, 3> party_folders;  ///< mode 0700; the job makes data/ in each
  std::array<PartyFile, 3>& parties;   ///< whose [data] the job fills in, relative to the folders
  std::filesystem::path run_folder{};  ///< that all of these are in
  std::filesystem::path model{};    ///< run directory that has the shares of a model, where the job asks one
  JobTypes types = ShippedTypes();  ///< that the program knows, as of Resources
};

/// What a party may use for a job.
struct Resources {
  std::size_t threads = 0;          ///< 0: as many as the machine has
  JobTypes types = ShippedTypes();  ///< that the program knows: one of them made a model that the job needs
};

/// What there is to say of what a party brought, to its owner alone.
struct Loaded {
  std::string said;
  std::vector<std::string> warnings{};
};

/// One part of what a party brings to a job.
struct JobInput {
  std::string what;              ///< "data"
  std::string mend{};            ///< what to do where it is wrong; empty: correct that file, or what names it
  std::function<Loaded()> load;  ///< reads and checks it. Throws ConfigError or DataError. Once, and in order
};

/// How a job goes on in steps.
struct JobSteps {
  int count = 0;                      ///< 0: it has none
  std::int64_t checkpoint_every = 0;  ///< 0: no checkpoints, so that a run of it cannot be resumed
  std::int64_t lost_max = 0;    ///< steps that may be lost before a run is resumed twice from one checkpoint
  bool charged_before = false;  ///< whether something is charged before the first step, each time
  bool charged_after = false;   ///< whether what follows the last step is charged
};

/// What a checkpoint of a job holds: two matrices of shares of this shape, perhaps the coins of its steps,
/// and behind the last step perhaps what its evaluation has counted; in the clear perhaps noisy counts of the
/// classes and a clip.
struct CheckpointShape {
  ml::LayerShape weights;
  int fraction_bits = 16;
  bool coins = false;            ///< the same at all three, but for `slots` as below
  bool joint_slots = false;      ///< whether the coins that say which slot a row is in are, too
  mpc::Index counts = 0;         ///< numbers that the evaluation counts; 0: there is none
  std::size_t class_counts = 0;  ///< noisy counts that balanced weights follow from: 0, or one a class
  bool adaptive_clip = false;    ///< and where on its grid an adaptive clip is
};

/// The calls of a run's earlier sessions.
struct BegunCalls {
  int begun = 0;   ///< by any party
  int shared = 0;  ///< of the first so many all three parties have gone on with the sums
};

/// Whoever runs a job: keeps account of what it spends, of its steps and of its checkpoints. What a call
/// throws ends the job.
class Output {
 public:
  using Events = std::vector<dp::RecordedEvent>;

  virtual ~Output() = default;

  /// All that the run will have executed in the end, and what its earlier sessions executed of it: before
  /// anything of the data is sent. Throws BudgetError.
  virtual void Reserve(const Events& plan, const Events& before) = 0;
  /// All that will have been executed: before the first value is opened. Throws where the record cannot be
  /// kept: then nothing is opened. A job whose opening does not take a message of each party to each receiver
  /// waits at protocols::Barrier behind it, or others would open what one party has not charged.
  virtual void Settle(const Events& executed) = 0;
  /// In place of both, for a job that charges nothing: the record of another run, which covers this one.
  virtual void Cover(const dp::TrainingRecord& record) = 0;

  // Of a job with steps.
  /// First of all: agrees with the peers on what this session goes on from, which is nothing where there are
  /// no checkpoints. Throws ConfigError or BudgetError where the run cannot go on, NetworkError,
  /// ProtocolError.
  virtual ml::Resumption Resume(mpc::Context& party) = 0;
  /// The run's id, the same at all three parties; with checkpoints after Resume. Empty: whoever runs the job
  /// names no runs.
  [[nodiscard]] virtual std::string RunId() const { return {}; }
  /// As CapOf, of a job on deposits that plans `plan`; with checkpoints after Resume, by which its run is
  /// known.
  [[nodiscard]] virtual std::string WhyCapped(const Population& /*population*/, const Events& /*plan*/) {
    return "";
  }
  /// Before Reserve: whose budgets that and all that follows is charged to.
  virtual void ChargeTo(const std::vector<Population>& /*populations*/) {}
  /// All that will have been executed once the run has come to step `steps`: before any of what is new in it.
  virtual void Announce(const Events& executed, int steps) = 0;
  /// What has opened to this party before its results are there, and is not among JobResult::values: the
  /// session log has it when this returns, so that it stays known where the run breaks off.
  virtual void Opened(const std::vector<ReleasedValue>& /*values*/) {}
  /// What the operator should know at once.
  virtual void Warn(const std::string& /*line*/) {}
  /// What an operator who looks for it should find.
  virtual void Log(const std::string& /*line*/) {}
  /// After each step, and once before the first.
  virtual void Step(const ml::StepReport& report) = 0;

  // Of a job of calls (Job::Calls).
  /// First of all: agrees with the peers on what earlier sessions of the run have done, which is nothing but
  /// in a run that somebody resumes. Throws as Resume.
  [[nodiscard]] virtual BegunCalls ResumeCalls(mpc::Context& /*party*/) { return {}; }
  /// Call `call`, counted from 0, is about to begin, and no session makes it again. On disk when it returns.
  virtual void BeginCall(int /*call*/) {}

  // Of a job with checkpoints (ml::TrainingHooks).
  virtual void BeginStep(int step) = 0;
  virtual void Keep(const ml::Checkpoint& checkpoint) = 0;
  virtual void BeginRelease() = 0;
  virtual void BeginEvaluation() = 0;
};

class JobWithCanaries;

/// A job of any type: a secure computation of three parties whose results are released. All that the commands
/// know of a job's type; the object serves one run.
class Job {
 public:
  virtual ~Job() = default;

  [[nodiscard]] virtual const char* type() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// At which both epsilons are said, in (0, 1). Of a job that charges nothing that of the record which
  /// covers it, known once its inputs are loaded; likewise the accountant.
  [[nodiscard]] virtual double delta() const = 0;
  /// By which both epsilons are computed.
  [[nodiscard]] virtual dp::AccountantKind accountant() const = 0;
  /// The parties that get the results, ascending; none where a model stays in shares.
  [[nodiscard]] virtual const std::vector<int>& release_to() const = 0;
  /// The job as compact JSON, keys sorted, all defaults filled in, without [local]: what the parties compare
  /// and hash.
  [[nodiscard]] virtual std::string Json() const = 0;
  /// [local] as a JSON object; without members where the type has none.
  [[nodiscard]] virtual std::string LocalJson() const { return "{}"; }
  /// What the job does, in a line. Throws as Events.
  [[nodiscard]] virtual std::string Title() const = 0;

  // What it releases.
  /// The most that the job releases; nothing where another run's record covers it. Throws ConfigError for a
  /// privacy target that cannot be met.
  [[nodiscard]] virtual std::vector<dp::RecordedEvent> Events() const = 0;
  /// Both epsilons of Events().
  [[nodiscard]] virtual dp::EpsilonPair Epsilons() const;
  /// Why the job charges nothing, a sentence; empty: it charges Events().
  [[nodiscard]] virtual std::string Covered() const { return {}; }
  /// What the epsilons do not cover though a user would think so, one line each.
  [[nodiscard]] virtual std::vector<std::string> Warnings() const { return {}; }
  /// What whoever plans the job should know of the settings of its type, one line each; by the job alone.
  /// Throws as Events. AdviceOn() has what all types say.
  [[nodiscard]] virtual std::vector<std::string> Advice() const { return {}; }
  /// What the epsilons protect.
  [[nodiscard]] virtual dp::PrivacyUnit Unit() const { return dp::PrivacyUnit::kRecord; }
  /// By what neighbouring data sets differ.
  [[nodiscard]] virtual dp::Neighbours Neighbours() const { return dp::Neighbours::kAdded; }
  /// How many units of privacy there are at most (teachers, owners): who makes up more changes no more than
  /// all of them. Nothing where the job does not say.
  [[nodiscard]] virtual std::optional<std::int64_t> MaxUnits() const { return {}; }
  /// "KEY: found VALUE", which releases what no epsilon covers: why no ledger can take the job. Else empty.
  [[nodiscard]] virtual std::string Uncovered() const { return {}; }
  /// The same for the test records that this party holds and the job is charged to; nothing where there are
  /// none.
  [[nodiscard]] virtual std::optional<std::string> TestsUncovered(int /*party*/) const { return {}; }
  /// "KEY: found VALUE", which uses validation records that this party holds and no epsilon covers: why no
  /// ledger may be of them. Else empty.
  [[nodiscard]] virtual std::string ValidationUncovered(int /*party*/) const { return {}; }

  // What it costs, and how it goes on.
  /// Throws as Events.
  [[nodiscard]] virtual JobPlan Plan(const std::optional<protocols::Link>& link) const = 0;
  [[nodiscard]] virtual JobSteps Steps() const { return {}; }
  /// How many calls it makes, each at most once in all sessions of a run, so that it can be resumed without a
  /// checkpoint. 0: it is not of calls.
  [[nodiscard]] virtual int Calls() const { return 0; }
  /// Why a run cannot be resumed; empty where it can.
  [[nodiscard]] virtual std::string NoResume() const { return "found a job without steps: start it anew"; }
  /// Of a job with checkpoints.
  [[nodiscard]] virtual CheckpointShape ShapeOfCheckpoint() const;
  /// Of a job with checkpoints: both epsilons of all that a run will have executed whose next session begins
  /// at step `first`, or, `from_start`, before the first step. Throws as Events.
  [[nodiscard]] virtual dp::EpsilonPair ResumedEpsilons(const ml::SessionHistory& earlier, bool from_start,
                                                        int first) const;

  // Records that it reads, models that it makes or needs.
  /// Of the records that its parties bring; null where they bring none, or something else.
  [[nodiscard]] virtual const RecordSchema* Records() const { return nullptr; }
  /// The column of parties' files whose values it counts, if it does, beside what Records() says.
  [[nodiscard]] virtual std::optional<CountedColumn> Counted() const { return {}; }
  /// How many records it declares, of all parties; 0 where it declares none.
  [[nodiscard]] virtual std::int64_t DeclaredRows() const;
  /// Of the model that it makes, whoever gets it; nothing where it makes none.
  [[nodiscard]] virtual std::optional<ModelSchema> Model() const { return {}; }
  /// Whether it needs a model in shares, which another run made.
  [[nodiscard]] virtual bool NeedsModel() const { return false; }
  /// Tells Plan() that the model it needs is the one of `made`, a job read from `file`. Throws ConfigError
  /// where `made` makes none, or this job needs none.
  virtual void UseModelOf(const Job& made, const std::string& file);
  /// SHA-256 of the ONNX model that its features want of every party; empty where they want none.
  [[nodiscard]] std::string FeatureModel() const { return Records() ? FeatureModelOf(*Records()) : ""; }

  /// Its parties are of `ranks` machines each (mpc/ranks.h), and Plan() is of what the first of them sends.
  /// Right after the job is read, on every rank. Throws ConfigError where its type or its settings do not
  /// allow for more than one.
  virtual void UseRanks(int ranks);
  /// The machines of this party, after UseRanks(ranks.count()), before Inputs, Run or Serve; they outlive the
  /// job.
  virtual void TakeRanks(mpc::Ranks& ranks);

  /// What the job asks of a program that brings its vectors. Throws ConfigError where none can.
  [[nodiscard]] virtual VectorCalls CallsOfProgram() const;
  /// This party's vectors come from a program, call after call, in place of files; before Inputs. `program`
  /// outlives the job. Throws as CallsOfProgram.
  virtual void TakeVectorsOf(VectorProgram& program);

  /// The rows that owners deposit for it, as it declares them; null where its rows come from no store, or it
  /// is a prediction and UseModelOf has not said which rows its model takes.
  [[nodiscard]] virtual const RecordSchema* Deposited() const;
  /// Tells Plan() what the checks of its deposits cost, which it else leaves out. Pre: Deposited().
  void UseChecks(DepositChecks checks);

  /// Whether its rows come from a store: what its records are, or what it predicts.
  [[nodiscard]] virtual bool WantsStore() const;
  /// Those rows, where WantsStore(); before Inputs. `records` outlive the job. Throws
  /// ConfigError where the job's type takes none.
  virtual void TakeRecordsOf(SharedRecords& records);

  // What it does.
  /// Deals the user's data to three party folders. Returns what to say of it, a line each. Throws DataError
  /// or ConfigError.
  [[nodiscard]] virtual std::string Split(const SplitTarget& target) const = 0;
  /// All that this party brings; `party_file` names its party file in errors. All must outlive the inputs.
  [[nodiscard]] virtual std::vector<JobInput> Inputs(const PartyFile& party, const std::string& party_file,
                                                     const Resources& resources) = 0;
  /// The secure computation, once all inputs are loaded. Cost: Plan(). Throws NetworkError, ProtocolError,
  /// and what `output` throws.
  [[nodiscard]] virtual JobResult Run(mpc::Context& party, Output& output) = 0;
  /// What ranks above 0 do while rank 0 loads its inputs: of most types nothing. Throws ConfigError or
  /// DataError, and NetworkError of the party's ranks.
  virtual void ServeInputs(const PartyFile& /*party*/, const std::string& /*party_file*/,
                           const Resources& /*resources*/) {}
  /// What ranks above 0 do in place of Run: their part of rank 0's work, on data that this gives them or that
  /// ServeInputs has read, until it needs them no more. Throws NetworkError, ProtocolError.
  virtual void Serve(mpc::Context& party);
  /// What the summary of a result (JobResult::summary) says beside the common members, in a line for the
  /// user; or nothing.
  [[nodiscard]] virtual std::string ResultLine(const nlohmann::ordered_json& /*summary*/) const { return {}; }
  /// What a report shows of the result files of a run directory. Throws DataError for a damaged one.
  [[nodiscard]] virtual ShownResults Shown(const std::filesystem::path& /*folder*/) const { return {}; }
  /// For an audit: the job with so many canaries beside its records (jobs/canaries.h). Throws ConfigError
  /// where the job's type, or this job, cannot be audited.
  [[nodiscard]] virtual std::unique_ptr<JobWithCanaries> WithCanaries(std::int64_t count) const;

 protected:
  /// For Plan(): what a session on deposits does when it takes them. Of one deposit, without cost, before
  /// UseChecks.
  [[nodiscard]] const DepositChecks& checks() const { return checks_; }

 private:
  DepositChecks checks_{.deposits = 1};
};

/// JobType::schema of a type with the settings `S`; with the keys of its records where it may have none.
template <typename S>
[[nodiscard]] std::string SchemaOf(const char* name) {
  S settings;
  if constexpr (requires { settings.schema.emplace(); }) settings.schema.emplace();
  return SchemaJson(name, [&](FieldVisitor& v) { Fields(v, settings); });
}

/// JobType::draft of the first type that has one. Throws ConfigError where none has.
[[nodiscard]] std::string DraftJob(const DraftSource& source, Interview& interview,
                                   JobTypes types = ShippedTypes());

/// A JSON Schema of the files of a type of job. Throws ConfigError for another type.
[[nodiscard]] std::string JobSchema(const std::string& type, JobTypes types = ShippedTypes());

/// A party file that may have what any type of job needs: as ReadParty and PartySchema of
/// jobs/config/party_file.h.
[[nodiscard]] PartyFile ReadParty(const std::filesystem::path& file, JobTypes types = ShippedTypes());
[[nodiscard]] std::string PartySchema(JobTypes types = ShippedTypes());

/// Reads a job file of any type, applies the `--set` assignments in order, and checks it whole; opens no
/// data. Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] std::unique_ptr<Job> ReadJob(const std::filesystem::path& file,
                                           const std::vector<std::string>& assignments = {},
                                           JobTypes types = ShippedTypes());

/// The job whose Json() this is; `source` names it in errors. Throws ConfigError as ReadJob.
[[nodiscard]] std::unique_ptr<Job> ParseJob(const std::string& json, const std::string& source,
                                            JobTypes types = ShippedTypes());

/// The type of a run of version 0.1 whose summary.json, which this is, does not say it.
[[nodiscard]] const char* UnnamedType(const nlohmann::ordered_json& summary);

/// SHA-256 of Json(), in lower-case hexadecimal.
[[nodiscard]] std::string HashOf(const Job& job);

/// The job as a TOML file with all defaults filled in, [local] included; ReadJob reads the same job back.
[[nodiscard]] std::string TomlOf(const Job& job);

/// The first key in which two jobs, as JSON, differ: "privacy.epsilon: found 2.0, expected 3.0". Pre: they
/// differ.
[[nodiscard]] std::string DescribeDifference(const std::string& found, const std::string& expected);

/// Whom the job's epsilons are for, as its record says.
[[nodiscard]] dp::Promise PromiseOf(const Job& job);

/// Whether its records are what owners deposited.
[[nodiscard]] bool IsOnDeposits(const Job& job);

/// Which of its epsilons is said first.
[[nodiscard]] FirstEpsilon FirstOf(const Job& job);

/// Gives a job whose rows come from a store those of this party's, which has to outlive it; null where they
/// do not, or the program has none (`open` empty), which the job then says when its inputs are loaded. Throws
/// as `open`.
[[nodiscard]] std::unique_ptr<SharedRecords> OpenStoreOf(Job& job, const PartyFile& party,
                                                         const std::string& party_file,
                                                         const StoreOpener& open);

/// Loads all inputs in their order. Returns what each says, in one text, and all warnings.
[[nodiscard]] Loaded LoadInputs(Job& job, const PartyFile& party, const std::string& party_file,
                                const Resources& resources);

}  // namespace trefoil::jobs
