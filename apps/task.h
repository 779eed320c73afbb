#pragma once
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "apps/job.h"
#include "apps/party_file.h"
#include "apps/task_cost.h"
#include "dp/record.h"
#include "ml/training.h"
#include "mpc/context.h"
#include "mpc/fixed_point.h"

namespace trefoil::apps {

/// A text file of a run's results.
struct ResultFile {
  std::string name;
  std::string text;
};

/// A model that a task made, with the schema of the records that it is for.
struct TaskModel {
  ml::LinearModel model;
  Job schema;
};

/// This party's share of a model that a task made and nobody gets, with the schema of the records that it is
/// for: p + 1 weights of one logit, the bias last.
struct TaskShare {
  mpc::FixedShare weights;
  Job schema;
};

/// What a task gave this party.
struct TaskResult {
  std::vector<ResultFile> files{};   ///< none where nothing was released to it
  std::optional<TaskModel> model{};  ///< model.npz, where one was released to it
  std::optional<TaskShare> share{};  ///< model.share, where one is released to nobody
  std::string summary;               ///< a JSON object: what summary.json says beside what all tasks say
  std::vector<std::string> lines{};  ///< for the user
};

/// Where `local` finds and puts a task's data.
struct TaskDeal {
  std::filesystem::path job_file;
  std::filesystem::path data;                          ///< as the user named it; empty: looked for
  std::filesystem::path test;                          ///< where test records go, if there are any
  std::array<std::filesystem::path, 3> party_folders;  ///< made by the task, with data/ in each
  std::array<PartyFile, 3>& parties;  ///< whose [data] the task fills in, relative to the folders
};

/// A job that is neither a training nor a prediction: a secure computation whose noisy results are released.
/// All that `run`, `local`, `plan` and `check` know of a job type; the object serves one run.
class Task {
 public:
  /// Called with what will have been released, before the first value is opened. Throws where the record
  /// cannot be kept: then nothing is opened.
  using BeforeRelease = std::function<void(const std::vector<dp::RecordedEvent>& events)>;

  virtual ~Task() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;
  /// At which both epsilons are said, in (0, 1).
  [[nodiscard]] virtual double delta() const = 0;
  /// By which both epsilons are computed.
  [[nodiscard]] virtual dp::AccountantKind accountant() const = 0;
  /// The parties that get the results, ascending; none where a model stays in shares.
  [[nodiscard]] virtual const std::vector<int>& release_to() const = 0;
  /// The job as compact JSON, keys sorted, all defaults filled in, without [local]: what the parties compare
  /// and hash.
  [[nodiscard]] virtual std::string Json() const = 0;
  /// [local] as a JSON object; without members where the type has none.
  [[nodiscard]] virtual std::string LocalJson() const = 0;
  /// What the job does, in a line.
  [[nodiscard]] virtual std::string Title() const = 0;
  /// The most that the job releases. Throws ConfigError for a privacy target that cannot be met.
  [[nodiscard]] virtual std::vector<dp::RecordedEvent> Events() const = 0;

  /// What the epsilons do not cover though a user would think so, one line each.
  [[nodiscard]] virtual std::vector<std::string> Warnings() const { return {}; }
  /// What the epsilons protect.
  [[nodiscard]] virtual dp::PrivacyUnit Unit() const { return dp::PrivacyUnit::kRecord; }
  /// By what neighbouring data sets differ.
  [[nodiscard]] virtual dp::Neighbours Neighbours() const { return dp::Neighbours::kAdded; }
  /// How many units of privacy there are at most (teachers, owners): who makes up more changes no more than all of
  /// them. Nothing where the job does not say.
  [[nodiscard]] virtual std::optional<std::int64_t> MostUnits() const { return {}; }
  /// As BudgetedJob::uncovered: why no ledger can take the job, or nothing.
  [[nodiscard]] virtual std::string Uncovered() const { return {}; }

  /// What Run() costs, from the job alone.
  [[nodiscard]] virtual TaskCost Cost() const = 0;
  /// Of the records that the task's model is for, where it makes one that stays in shares.
  [[nodiscard]] virtual std::optional<Job> SharedSchema() const { return {}; }

  /// Deals the user's data to three party folders. Returns what to say of it. Throws DataError or
  /// ConfigError.
  virtual std::string Deal(const TaskDeal& deal) const = 0;
  /// Reads and checks all that this party brings; `party_file` names its party file in errors. Returns what
  /// to say of it to its owner alone. Throws ConfigError or DataError.
  virtual std::string Load(const PartyFile& party, const std::string& party_file) = 0;
  /// The secure computation; after Load. Cost: Cost(). Throws NetworkError, ProtocolError, and what
  /// before_release throws.
  virtual TaskResult Run(mpc::Context& party, const BeforeRelease& before_release) = 0;
};

/// Whether a job file's type is that of a task. Throws ConfigError as ReadToml.
[[nodiscard]] bool IsTask(const std::filesystem::path& file);

/// The types of tasks, as a job's `type` names them.
[[nodiscard]] const std::vector<std::string>& TaskTypes();

/// Reads a task's job file, applies the `--set` assignments in order, and checks it whole; opens no data.
/// Throws ConfigError with one line: place, key, what was found, what was expected. Pre: IsTask(file).
[[nodiscard]] std::unique_ptr<Task> ReadTask(const std::filesystem::path& file,
                                             const std::vector<std::string>& assignments = {});

/// SHA-256 of Json(), in lower-case hexadecimal.
[[nodiscard]] std::string TaskHash(const Task& task);

/// The job as a TOML file with all defaults filled in, [local] included; ReadTask reads the same job back.
[[nodiscard]] std::string TaskToml(const Task& task);

/// Whom the job's epsilons are for, as its record says.
[[nodiscard]] dp::Promise PromiseOf(const Task& task);

/// Both epsilons of what the job releases at most, by its accountant.
[[nodiscard]] dp::EpsilonPair PlannedEpsilons(const Task& task);

}  // namespace trefoil::apps
