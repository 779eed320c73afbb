#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "dp/record/record.h"
#include "ml/dpsgd/checkpoint.h"
#include "ml/plan/execution_history.h"
#include "ml/plan/settings.h"
#include "mpc/context.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "mpc/ranks.h"
#include "protocols/cost_model.h"

namespace trefoil::ml {

/// What is fixed before the first step: derived from the settings alone.
struct PrivacyPlan {
  double sampling_rate = 0;
  double sigma = 0;             ///< noise multiplier: each party adds noise of variance sigma^2 Delta^2 / 2
  double sensitivity = 0;       ///< Delta in the units of the clip bound, all rounding included
  double epsilon_outsider = 0;  ///< after all steps; infinity where there is no guarantee
  double epsilon_insider = 0;
  double epsilon_error = 0;  ///< PLD: how far either exceeds the exact one at most; else 0, saying nothing
  double delta = 0;
  std::vector<dp::RecordedEvent> events{};  ///< what the record of the training will list
};

/// What a step opened to all three for an adaptive clip, and what follows from it.
struct ClipReport {
  double within = 0;  ///< gradients within the step's clip less those beyond it, the parties' noise included
  double next = 0;    ///< the clip of the next step
};

/// After each step, at every party. Counts are this party's since its session began, `seconds` since the
/// training did. Of a party of several machines, bytes are those of all its ranks up to where they ended the
/// step, but before the session's first step of rank 0 alone; rounds are rank 0's, whose lane has all that is
/// not shared.
struct StepReport {
  int step = 0;
  int steps = 0;
  double seconds = 0;
  std::uint64_t rounds = 0;
  std::uint64_t bytes_sent = 0;                              ///< online and offline
  std::array<std::uint64_t, net::kParties> bytes_sent_to{};  ///< the same, by peer
  double epsilon_outsider = 0;  ///< after this step; with the PLD accountant, after the next of 20 marks
  double epsilon_insider = 0;
  std::optional<ClipReport> clip{};  ///< of an adaptive clip; nothing before the session's first step
};

/// A hidden layer in the clear: its output is min(max(x weights + bias, 0), activation bound).
struct HiddenLayer {
  Eigen::MatrixXd weights;
  Eigen::VectorXd bias;
};

/// How far a release's noise has moved a linear model's numbers, one standard deviation, where its law is
/// known.
struct NoiseDeviations {
  Eigen::MatrixXd weights;    ///< of each weight
  Eigen::VectorXd intercept;  ///< of the logits of one row that the release names (ml/clear/least_squares.h)
};

/// A released model in the clear: a linear function of the row, or of what the hidden layers make of the row.
/// With two classes it has one column: the logit of class 1.
struct Model {
  Eigen::MatrixXd weights;  ///< p x columns; with hidden layers, p is the last one's size
  Eigen::VectorXd bias;     ///< columns
  std::vector<HiddenLayer> hidden{};
  double activation_bound = 0;  ///< with hidden layers
  std::optional<NoiseDeviations> deviations{};
};

/// What an evaluation came to.
struct EvaluationResult {
  std::int64_t records = 0;
  std::optional<double> correct{};  ///< of them, noise included; nothing where not opened to this party
  std::vector<double> histogram{};  ///< with bins, where opened: ScoreHistogram's counts, noise included
  std::vector<double> confusion{};  ///< with a confusion table, likewise: class 0's, class 1's and so on
  double threshold = 0.5;           ///< by which `correct` is: the settings', or the one that is chosen
  std::uint64_t rounds = 0;         ///< this party's, of the evaluation alone
  std::uint64_t bytes_sent = 0;     ///< likewise, online and offline
};

struct TrainingResult {
  PrivacyPlan plan;
  dp::TrainingRecord record;                     ///< the events that were executed
  std::optional<Model> model;                    ///< present where this party is in release_to
  std::optional<EvaluationResult> evaluation{};  ///< where the settings have one
  std::optional<mpc::FixedShare> share{};        ///< this party's of the weights, where release_to is empty
  std::vector<std::int64_t> class_counts{};  ///< with balanced weights: the noisy counts, opened to all three
  std::optional<double> last_clip{};    ///< with an adaptive clip: where it had come to behind the last step
  std::vector<double> class_weights{};  ///< what errors were multiplied by, where there are such weights
};

/// Features that are not held in memory.
struct StoredFeatures {
  std::int64_t rows = 0;
  std::int64_t features = 0;
  /// Reads a row into `out`, of `features` numbers; by several threads at once. What it throws ends the
  /// training.
  std::function<void(std::int64_t row, std::span<float> out)> read;
};

/// This party's records: one row of features each (norm at most settings.row_norm, scaled down where it is
/// more) and its class. With a vertical partition its columns of all rows (norm at most its block's), in the
/// order of their keys, and the classes at the party that holds them.
struct OwnRecords {
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> x;  ///< empty where they are stored
  std::vector<int> y;
  std::vector<std::string> keys{};     ///< vertical: what a row is known by at all three, sorted, each once
  std::vector<std::int64_t> groups{};  ///< with settings.groups: of each row, numbered from 0
  /// With settings.max_record_weight: of each row, from 0 to it, where labels are.
  std::vector<double> weights{};
  std::optional<StoredFeatures> stored{};

  [[nodiscard]] std::int64_t rows() const { return stored ? stored->rows : x.rows(); }
  [[nodiscard]] std::int64_t features() const { return stored ? stored->features : x.cols(); }
  /// The features of one row. Throws what reading it throws.
  [[nodiscard]] Eigen::RowVectorXf Row(std::int64_t row) const;
};

/// What a party holds beside the records that are trained on; empty where it holds none.
struct HeldOutRecords {
  OwnRecords test;        ///< of settings.evaluation
  OwnRecords validation;  ///< of settings.initialisation, where it selects on them
};

/// The settings with the sigma that calibration finds, where rows are shared in fewer bits only once it is
/// known (NeedsCalibratedSigma in ml/plan/step_ranges.h); else as they are. It follows from the settings
/// alone, so that plan, run and all three parties choose the same bits; MakePlan and Train take it as it is.
/// Throws as MakePlan.
[[nodiscard]] TrainingSettings WithCalibratedSigma(TrainingSettings settings);

/// The plan of a job; nothing is run. Throws ConfigError where the settings cannot be met: a range reaches
/// 2^62, noise below 8 lattice units, epsilon out of reach, a value out of its domain.
[[nodiscard]] PrivacyPlan MakePlan(const TrainingSettings& settings);

/// The plan of a run that goes on in another session, at step `first` or, with `from_start`, before the first
/// step: all that the run will have executed, its `earlier` sessions included.
[[nodiscard]] PrivacyPlan MakePlan(const TrainingSettings& settings, const SessionHistory& earlier,
                                   bool from_start, int first);

/// What one step is declared to cost where comparisons have this form: the step on a batch and, with
/// owner-poisson sampling, its input, which is sent ahead (offline); of parties of `ranks` machines on each
/// lane. Throws as MakeStepPlan and CheckRanks.
[[nodiscard]] mpc::Cost PlannedStepCost(const TrainingSettings& settings, protocols::Form form,
                                        int ranks = 1);

/// What the caller is told while a training runs. on_step and on_record must be set. What a hook throws ends
/// it.
struct TrainingHooks {
  /// After each step, and once before the session's first; on_checkpoint, if it is due, is called before.
  std::function<void(const StepReport&)> on_step;
  /// When all steps are done. No evaluation and no weights are opened to anybody, or given out, before all
  /// three have returned from this.
  std::function<void(const dp::TrainingRecord&)> on_record;
  /// Once the links are measured, and the form of comparison is chosen, by them where the settings leave it
  /// open.
  std::function<void(const protocols::Link&, protocols::Form)> on_link{};
  /// Once it is fixed what the run will have executed in the end; and what its earlier sessions executed. No
  /// party sends anything of its records before all three have returned from this.
  std::function<void(const dp::TrainingRecord& planned, const dp::TrainingRecord& before)> on_plan{};
  /// Before some steps (before the first ones also the initialisation) are executed: all that will have been
  /// executed once the run has come to step `steps`. At most fifty times in a session.
  std::function<void(const dp::TrainingRecord&, int steps)> before_steps{};
  /// With settings.standardisation, and then it must be set: before anything of the records is sent or
  /// trained on, all of it being reserved and announced. All three open what is charged for it here, and may
  /// change their own and held-out records in place by what was opened.
  std::function<void(mpc::Context& party)> before_records{};
  /// Step `step`, counted from 0, is about to begin.
  std::function<void(int step)> before_step{};
  /// All three have kept the last checkpoint, if they keep any; the evaluation's opening and the release are
  /// about to begin.
  std::function<void()> before_release{};
  /// The evaluation is about to begin. Called before on_record, whose record says that it was executed; not
  /// where an earlier session's counts are opened.
  std::function<void()> before_evaluation{};
  /// What a run can be resumed from: before the run's first step, after every checkpoint_every steps, after
  /// the last, and, with an evaluation, once more with what it counted. No step is begun before it returns,
  /// and nothing is opened or given out before all three have returned from the last. It is there where
  /// checkpoint_every is not 0, and at all three parties or at none.
  std::function<void(const Checkpoint&)> on_checkpoint{};
  std::int64_t checkpoint_every = 0;  ///< steps; 0: no checkpoints
};

/// How a session goes on with a run. The same at all three parties, except for their shares and private
/// coins.
struct Resumption {
  std::optional<Checkpoint> from{};  ///< nothing: from before the first step
  SessionHistory earlier{};          ///< the run's sessions before this one
};

struct StepPlan;

/// Opens weights of ShapeOfWeights to the parties that the plan's settings name, and to nobody else. Cost:
/// RevealToEachCost. Throws NetworkError, ProtocolError.
[[nodiscard]] std::optional<Model> ReleaseModel(mpc::Context& party, const StepPlan& plan,
                                                const mpc::FixedShare& weights);

/// With settings.batches: the rows of step 0, 1, ... of all deposits, one below the other, then zeros up to
/// the height of a batch; columns as DepositedColumns() (ml/batches/deposited_rows.h), features modulo
/// 2^DepositedFeatureBits() as they were deposited. All three have made sure that they are rows. Called for
/// each step that is executed, in their order; local. With settings.block_rows: of B blocks of a plan's
/// block_rows block k of step t as number t B + k, features in the ring, all rows of all deposits in the same
/// order in every step.
using DepositedBatch = std::function<mpc::ArithShare(std::int64_t number)>;

/// Secure DP-SGD (PEA, Protocol 3) from zero weights, a network's public random ones, or the owners' local
/// models where the settings have an initialisation (PEA, Protocol 5, lines 2 to 4). Blocks until all steps
/// are done, and the evaluation, if there is one. With a vertical partition it first makes sure, by a secure
/// comparison, that the parties hold the same keys. A resumed run goes on from its checkpoint as if it had
/// never stopped, with fresh noise, and its record has all that was executed, lost steps included.
/// `deposited`: with settings.deposited the rows, in one or more matrices of DepositedColumns()
/// (ml/batches/deposited_rows.h), no more in all than settings.rows; else none. With settings.batches or
/// settings.block_rows `batch` in place of them. A run with settings.standardisation goes on from no
/// checkpoint, which has no means and scales. Throws ConfigError as MakePlan; DataError if own records do not
/// fit the settings, or keys differ; ContractError without a label, key or group for each row where they are
/// needed; NetworkError or ProtocolError if a peer fails; and what a hook throws.
[[nodiscard]] TrainingResult Train(mpc::Context& party, const TrainingSettings& settings,
                                   const OwnRecords& own, const TrainingHooks& hooks,
                                   const HeldOutRecords& held_out = {}, const Resumption& resumption = {},
                                   std::vector<mpc::ArithShare> deposited = {},
                                   const DepositedBatch& batch = {}, mpc::Ranks* ranks = nullptr);

}  // namespace trefoil::ml
