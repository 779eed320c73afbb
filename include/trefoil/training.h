#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trefoil/privacy.h"
#include "trefoil/session.h"

/// Secure DP-SGD as a function: each party passes its own records, and those whom the settings name get the
/// model. It keeps no ledger, no record on disk and no checkpoint: for those, run a job (trefoil/run.h).
namespace trefoil {

enum class Loss { kOneVsRest, kSquared, kSoftmax };  ///< with two classes kSoftmax is kOneVsRest

/// What a training is: public, and the same at all three parties. The keys of a job file of type "dpsgd" have
/// the same names and meanings (docs/reference/formats.md), and errors name them.
struct TrainingSettings {
  std::array<std::int64_t, 3> rows{};  ///< declared number of records of each party: more are an error
  std::int64_t features = 0;
  int classes = 2;
  Loss loss = Loss::kOneVsRest;
  std::vector<std::int64_t> hidden{};  ///< sizes of hidden layers with rectifiers; none: a linear model
  double row_norm = 1;                 ///< longer records are scaled down to this norm
  int steps = 0;
  double expected_batch = 0;             ///< records in a batch, on average
  std::int64_t max_batch_per_owner = 0;  ///< draws above it are cut; 0: so high that hardly any ever is
  double learning_rate = 0;
  double momentum = 0;
  double clip = 1;                       ///< bound on the norm of a record's gradient
  std::optional<double> epsilon{};       ///< exactly one of epsilon, for which the noise is calibrated,
  std::optional<double> sigma{};         ///< and the noise multiplier itself
  double delta = 0;                      ///< in (0, 1)
  bool against_insider = true;           ///< epsilon holds against a party, which knows its own noise
  std::vector<int> release_to{0, 1, 2};  ///< who gets the model
};

/// A party's records, one after the other: `features` numbers and a class (0, 1, ...) of each. What they
/// refer to is the caller's, and stays as it is while the training runs.
struct Records {
  std::span<const float> features;
  std::span<const int> classes;
};

/// output = input * weights + bias.
struct Layer {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::vector<double> weights;  ///< row by row: inputs rows of outputs numbers
  std::vector<double> bias;     ///< outputs numbers
};

/// A released model, in the clear.
struct Model {
  /// The last one makes the logits: one a class, or with two classes class 1's alone.
  std::vector<Layer> layers;
  double activation_bound = 0;  ///< outputs of the layers before it are cut to 0 ... this
  double row_norm = 1;          ///< longer rows are scaled down to this norm first
  double decision = 0;          ///< two classes: the logit above which a row is class 1 (model.threshold)

  /// The logits of one row. Throws ContractError on a row of another length; DataError where the weights are
  /// so large that a logit is not finite.
  [[nodiscard]] std::vector<double> Logits(std::span<const float> row) const;
  /// The class with the largest logit; with one logit, class 1 where it is above `decision`.
  [[nodiscard]] int Classify(std::span<const float> row) const;
};

/// What is fixed before the first step.
struct TrainingPlan {
  double sigma = 0;  ///< noise multiplier
  Epsilons epsilons{};
};

struct Trained {
  std::optional<Model> model{};  ///< where this party is in release_to
  double sigma = 0;              ///< noise multiplier
  Epsilons epsilons{};           ///< of what was executed, at the settings' delta
  std::string record;            ///< what was executed, as record.json has it (RecordEpsilons)
};

/// After each step.
struct StepReport {
  int step = 0;
  int steps = 0;
  double seconds = 0;   ///< since the training began, as all here
  Epsilons epsilons{};  ///< of what was executed so far
};

/// What the settings lead to; nothing is run. Throws ConfigError naming the key that cannot be met.
[[nodiscard]] TrainingPlan PlanTraining(const TrainingSettings& settings);

/// Trains with both peers of a session. All three call it with the same settings, which is made sure of;
/// blocks until all steps are done. `on_step` is called in this thread; what it throws ends the training.
/// Throws ConfigError as PlanTraining, DataError where own records are not what the settings declare,
/// NetworkError, ProtocolError.
[[nodiscard]] Trained Train(Session& session, const TrainingSettings& settings, const Records& own,
                            const std::function<void(const StepReport&)>& on_step = {});

/// The same among three parties within this process (RunInProcess): what party 0 got. `on_step` is called at
/// party 0 alone.
[[nodiscard]] Trained TrainInProcess(const TrainingSettings& settings, const std::array<Records, 3>& parties,
                                     const std::function<void(const StepReport&)>& on_step = {});

}  // namespace trefoil
