#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dp/accounting/any_accountant.h"
#include "dp/record/record.h"
#include "ml/plan/learning_rate.h"
#include "protocols/arithmetic/rounding.h"
#include "protocols/form.h"

namespace trefoil::ml {

/// Each step is a run of operations of its own, for which a context has the numbers (mpc/context.cpp).
inline constexpr int kLargestSteps = 500'000;

/// Of a label that is a number: its steps are of 2^-kTargetBits.
inline constexpr int kTargetBits = 24;

/// What the weight of a class can be.
inline constexpr double kMinClassWeight = 0.001;
inline constexpr double kMaxClassWeight = 1000;

/// What the largest weight of a record can be.
inline constexpr double kMinRecordWeightBound = 0.001;
inline constexpr double kMaxRecordWeightBound = 1000;

/// Fraction bits of rows at least.
inline constexpr int kMinRowFractionBits = 4;
inline constexpr int kMinErrorFractionBits = 4;

/// Bins of predictions at most.
inline constexpr std::int64_t kMaxScoreBins = 100;

/// Bins of all classes' histograms at most, by which memory grows.
inline constexpr std::int64_t kMaxBinsOfClasses = 1000;
/// Classes of a confusion table at most, which has their square of counts.
inline constexpr int kMaxConfusionClasses = 100;

/// How near to 0 and to 1 a threshold can be.
inline constexpr double kMinThreshold = 1e-6;

/// Rows of a group at most.
inline constexpr std::int64_t kMaxGroupRows = 10'000;

/// The largest noise multiplier of counts of classes, times the rows of a group.
inline constexpr double kMaxBalanceSigma = 1e6;

/// The largest threshold of Huber's loss: of a target's residual, whose range is 1 wide.
inline constexpr double kMaxHuberThreshold = 64;

/// What a logit of 0 of Poisson's loss stands for: e to minus this number of the largest target.
inline constexpr int kPoissonOffset = 2;

/// With two classes softmax is one-vs-rest. Huber's and Poisson's are of targets alone.
enum class Loss { kOneVsRest, kSquared, kSoftmax, kHuber, kPoisson };
enum class Clipping { kFactorised, kPublished, kExamples };
enum class Sampling { kOwnerPoisson, kPublic, kFull, kDeposited };
enum class Adversary { kOutsider, kInsider };

/// The DP-SGD of each owner alone that a training starts from: public, the same at all three parties.
struct LocalSettings {
  int steps = 0;
  double expected_batch = 0;  ///< of an owner with a third of all rows: the sampling rate is 3 b / sum(rows)
  double learning_rate = 0;
  double clip = 1.0;              ///< C_1
  std::optional<double> sigma{};  ///< noise multiplier; empty: calibrated to target_epsilon at delta. Zero:
                                  ///< no noise (tests only)
  double target_epsilon = 0;      ///< epsilon_1
  double delta = 0;               ///< delta_1
};

/// Records that one party holds and shares to count how many of them a model classifies correctly: public.
struct HeldOut {
  int holder = 0;
  std::int64_t rows = 0;  ///< exactly so many
};

enum class InitialisationMethod { kAveraging, kAccuracy };
enum class Selection { kNoisy, kAsPublished, kPublicValidation };

/// How the first weights come from models that the owners trained alone (PEA, Protocol 4).
struct InitialisationSettings {
  InitialisationMethod method = InitialisationMethod::kAveraging;
  LocalSettings local;
  Selection selection = Selection::kNoisy;  ///< kAccuracy: what records are counted, and with noise or not
  double selection_rows =
      2000;                    ///< of the owners' own records: expected, of an owner with a third of all rows
  double selection_sigma = 5;  ///< kNoisy: noise multiplier of the counts
  HeldOut validation{};        ///< kPublicValidation
};

/// An evaluation of the trained model on test records that one party holds: public.
struct EvaluationSettings {
  HeldOut test;
  std::vector<int> to{0, 1, 2};   ///< who learns how many are classified correctly
  std::optional<double> sigma{};  ///< noise multiplier of that count, of sensitivity 1; empty: no noise
  /// Above 0: in place of that count a histogram of predictions by class, with noise of sensitivity sqrt(2).
  /// Beyond two classes one for each class against the others, beside the confusion table, with noise of
  /// sensitivity sqrt(2 c + 2).
  std::int64_t bins = 0;
  /// In place of that count the confusion table, how many of each class are taken for which, with noise as of
  /// a histogram.
  bool confusion = false;
  bool choose_threshold = false;  ///< whether the model is released with a threshold that the histogram gives
};

/// Every party holds other columns of the same rows.
struct VerticalSettings {
  std::array<std::int64_t, 3> features{};  ///< columns of each party; theirs in this order make a row
  int label_party = 0;                     ///< who holds the classes
};

/// Batches that owners drew and deposited beforehand: public.
struct DepositedBatches {
  std::int64_t deposits = 0;  ///< at most so many, each with a batch of BatchOfOneDeposit rows a step
  std::int64_t records = 0;   ///< that one of them draws from, at most
};

/// The largest noise multiplier of the counts of an adaptive clip.
inline constexpr double kMaxClipCountSigma = 1e6;

/// A clip that follows a quantile of the gradients' norms (ml/plan/clip_grid.h): public.
struct AdaptiveClip {
  double quantile = 0.5;  ///< of a batch's gradients so many are to be within the clip
  /// Deviation of any two parties' noise on their number; empty: b / 20.
  std::optional<double> count_sigma{};
};

/// What a training is, public and the same at all three parties (the job's [training], [model], [privacy],
/// [release]).
struct TrainingSettings {
  int fraction_bits = 16;
  /// s_x: of rows as the steps have them, at most fraction_bits; empty: fraction_bits. Of linear models with
  /// owner-poisson sampling, published clipping apart.
  std::optional<int> row_fraction_bits{};
  /// s_e: of clipped errors as they are multiplied by rows, at most fraction_bits; empty: fraction_bits. Of
  /// linear models with owner-poisson sampling and factorised clipping at a fixed clip.
  std::optional<int> error_fraction_bits{};
  std::array<std::int64_t, 3> rows{};  ///< declared capacity of each party; vertical: {all rows, 0, 0}
  std::optional<VerticalSettings> vertical{};
  /// Rows are on shares before the training begins, and no party's own; rows is {all of them, 0, 0}.
  bool deposited = false;
  std::optional<DepositedBatches> batches{};  ///< with Sampling::kDeposited, and only then
  /// With full batches of deposited rows: a step takes them block by block, of so many each, and no more are
  /// there at once; 0: all are there. Nothing is dealt ahead for steps in blocks.
  std::int64_t block_rows = 0;
  std::int64_t features = 0;  ///< p, bias excluded
  int classes = 2;            ///< with 2 classes one output column is trained, else one a class
  bool targets =
      false;  ///< labels are numbers in place of classes, of which there are 2 then: 0 to 2^kTargetBits
              ///< stand for 0 to 1 (ShareAt). The squared loss, Huber's and Poisson's alone
  Loss loss = Loss::kOneVsRest;
  double huber_threshold = 0;  ///< kHuber: d, up to which the loss is squared, in units of the target's range
  double threshold =
      0.5;  ///< two classes: what has to be predicted for class 1 that a record is taken for it
  std::vector<std::int64_t> hidden{};  ///< sizes of dense layers with rectifiers; none: a linear model
  double activation_bound = 8;         ///< H: their outputs are cut at it
  double delta_bound = 4;  ///< D: what goes back through them is clamped to +- that, entry by entry
  /// W: a record's error is multiplied by that of its class; none: all 1.
  std::vector<double> class_weights{};
  /// Weights follow from noisy counts of the classes (ml/noise/class_balance.h) of this noise multiplier;
  /// class_weights is empty then.
  std::optional<double> balance_sigma{};
  /// W_max: records bring weights of their own, from 0 to it, by which their errors are multiplied, too;
  /// empty: they have none.
  std::optional<double> max_record_weight{};
  double row_norm = 1.0;  ///< R, bound on the norm of a row, bias excluded
  int steps = 0;
  double expected_batch = 0;             ///< b; the sampling rate is b / sum(rows), with full batches 1
  std::int64_t max_batch_per_owner = 0;  ///< B_max
  std::int64_t steps_ahead = 2;  ///< for how many steps at most material sent ahead waits at its receivers
  double learning_rate = 0;      ///< of the first step
  RateSchedule schedule;
  double momentum = 0;  ///< of the velocity that a step keeps; 0 to below 1
  Clipping clipping = Clipping::kFactorised;
  double logit_bound = 64;
  protocols::Rounding truncation = protocols::Rounding::kStochastic;  ///< of every truncation
  std::optional<protocols::Form> comparison;  ///< of clip factors; empty: the faster as measured
  Sampling sampling = Sampling::kOwnerPoisson;
  double clip = 1.0;                       ///< C; of an adaptive one the first
  std::optional<AdaptiveClip> adaptive{};  ///< whole records, factorised clipping of linear models
  std::int64_t group_rows = 1;             ///< k: most rows of a group, which one coin takes whole
  bool groups = false;                     ///< whether owners' records come in groups
  /// Noise multiplier; empty: calibrated to target_epsilon. Zero: no noise (tests only).
  std::optional<double> sigma;
  /// With target_epsilon: what calibration finds for these very settings, where it was done already
  /// (WithCalibratedSigma in ml/dpsgd/training.h).
  std::optional<double> calibrated_sigma{};
  double target_epsilon = 0;
  double delta = 0;
  Adversary against = Adversary::kInsider;
  dp::AccountantKind accountant = dp::AccountantKind::kRdp;  ///< of calibration and of every epsilon reported
  std::vector<int> release_to{0, 1, 2};                      ///< none: the model stays in shares
  /// Means and scales of features, which the caller opens before the first step
  /// (TrainingHooks::before_records): what that is charged, of the same records, and so a part of the target;
  /// empty: features are used as they are.
  std::optional<dp::GaussianReleases> standardisation{};
  /// With it, what is charged before it for counts by which the ranges of columns are found; empty: none.
  std::optional<dp::GaussianReleases> ranges{};
  std::optional<InitialisationSettings> initialisation{};  ///< empty: zero weights
  std::optional<EvaluationSettings> evaluation{};          ///< empty: none
};

/// What rows of a step have.
[[nodiscard]] inline int RowFractionBits(const TrainingSettings& settings) {
  return settings.row_fraction_bits.value_or(settings.fraction_bits);
}

/// What clipped errors have.
[[nodiscard]] inline int ErrorFractionBits(const TrainingSettings& settings) {
  return settings.error_fraction_bits.value_or(settings.fraction_bits);
}

/// The noise multiplier of an adaptive clip's counts, in each of which a record adds 1/2 or -1/2: that
/// deviation over 1/2.
/// Pre: settings.adaptive.
[[nodiscard]] double ClipCountMultiplier(const TrainingSettings& settings);

/// The smallest threshold of Huber's loss: rounding down to the errors' lattice leaves 15/16 of it or more.
[[nodiscard]] double MinHuberThreshold(int fraction_bits);

/// Throws ConfigError naming the key of a value that is out of its domain.
void CheckDomains(const TrainingSettings& settings);

/// Throws ConfigError naming `key` where rows of this norm are no longer than a unit of their lattice, so
/// that every number of them is 0 there.
void CheckRowUnits(const char* key, double row_norm, int fraction_bits);
/// The same of a training, before anything is charged. Other types of models have such settings, too.
void CheckRowUnits(const TrainingSettings& settings);

/// The logit of class 1 of two at which this is predicted for it, between 0 and 1.
[[nodiscard]] double LogitAt(Loss loss, double prediction);

/// What a logit of a model of targets predicts, as a share of their range: logit + 1/2, which may lie beyond
/// it; of Poisson's loss e^(logit - kPoissonOffset), at most 1.
[[nodiscard]] double ShareAt(Loss loss, double logit);

/// Whether a number between 0 and 1 is an edge of so many bins of equal width.
[[nodiscard]] bool IsEdge(double number, std::int64_t bins);

/// The logit above which a record is taken for class 1 of two: where the prediction is the threshold. 0 at
/// 1/2.
[[nodiscard]] double DecisionLogit(const TrainingSettings& settings);

/// Whether the trained model classifies records while it is in shares.
[[nodiscard]] bool ClassifiesOnShares(const TrainingSettings& settings);
/// The bound on the norm of each party's columns of a row, where the partition is vertical: the row norm
/// times the root of the party's share of the columns, so that the squares add up to the row norm's.
[[nodiscard]] std::array<double, 3> BlockNorms(double row_norm, const std::array<std::int64_t, 3>& features);

/// The probability with which a step takes a row.
[[nodiscard]] double SamplingRate(const TrainingSettings& settings);

/// Rows of each step's batch in one deposit, padding included; a draw of more is cut. Pre: settings.batches.
[[nodiscard]] std::int64_t BatchOfOneDeposit(const TrainingSettings& settings);

/// The most rows that each owner can have in a step's batch, padding included: with owner-poisson sampling
/// the height of its part. Of deposited batches the first number is that of all deposits.
[[nodiscard]] std::array<std::int64_t, 3> BatchLimits(const TrainingSettings& settings);

/// Rows that can be in one batch.
[[nodiscard]] std::int64_t LargestBatch(const TrainingSettings& settings);

}  // namespace trefoil::ml
