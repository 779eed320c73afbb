#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dp/accounting/any_accountant.h"
#include "dp/mechanisms/truncated_poisson.h"
#include "dp/record/promise.h"

namespace trefoil::dp {

/// The deviation of all three parties' noise together, which an outsider faces, over that of any two, for
/// which noise multipliers are given.
inline const double kAllOverTwo = std::sqrt(1.5);

/// Who chose the rows of a batch: each owner by private coins, or common coins that all parties know; or
/// nobody, since every batch has all rows; or each owner by private coins beforehand, in batches that it
/// deposited.
enum class SamplingMode { kOwnerPoisson, kPublic, kFull, kDeposited };

/// A run of DP-SGD steps as it was executed: all public, the same at all three parties.
struct DpSgdSteps {
  std::int64_t steps = 0;  ///< batches
  SamplingMode sampling = SamplingMode::kOwnerPoisson;
  double sampling_rate = 0;  ///< q; 1 with full batches
  double sigma = 0;          ///< noise multiplier of any two parties' noise together; 0: no noise
  double sensitivity = 0;    ///< Delta: norm of what one unit adds to a sum, at most, in the units of clip
  double clip = 0;           ///< C
  /// Draws above max_batch are cut; max_batch = capacity where nothing is cut. Deposited batches: every owner
  /// has the first one's, and the others are 0.
  BatchLimits limits;
  std::int64_t max_participation =
      0;                         ///< public sampling: executions that any one row was in, at most; else 0
  double party_deviation = 0;    ///< deviation of each party's noise in lattice units, rounded down
  std::int64_t coordinates = 0;  ///< that the noise was added to, in each step
  bool vertical = false;  ///< public sampling: each party has other columns of the same records, whose keys
                          ///< all know; an insider is charged for a record whose values are others
  /// How often each of these batches was executed. More than once only with public sampling and deposited
  /// batches: a resumed run goes on with the same coins, and does the steps that it lost again on the same
  /// rows.
  std::int64_t executions = 1;
  /// With a clip that adapts: each step also opens how many of its rows are within the clip, less a half of
  /// all, with any two parties' noise of this deviation. sigma is the multiplier of both together, and
  /// party_deviation the smaller of both; sensitivity and clip are of the first clip, to whose units each
  /// step scales its gradients. 0: the clip is fixed.
  double clip_count_sigma = 0;
};

/// DP-SGD of each owner alone, on its own rows, with its own noise only: the local models that PEA's Protocol
/// 4 starts from. A record belongs to one owner, so the steps of one owner are charged and not those of all;
/// the rate and the multiplier are the same for every owner (docs/explanation/privacy.md, "Local training").
struct LocalTraining {
  std::int64_t steps = 0;
  double sampling_rate = 0;  ///< q, every owner's
  double sigma = 0;          ///< noise multiplier of the owner's own noise; 0 is no noise
  double sensitivity = 0;    ///< Delta, in the units of clip
  double clip = 0;           ///< C
  double deviation = 0;      ///< of an owner's noise in lattice units, rounded down
};

/// A choice between models by how many records each classifies correctly, on noisy counts: every record is
/// taken with probability q and moves each count by 1 at most, sensitivity sqrt(candidates).
struct NoisySelection {
  std::int64_t candidates = 0;
  double sampling_rate = 0;    ///< q
  double sigma = 0;            ///< noise multiplier of any two parties' noise together; 0: no noise
  BatchLimits limits;          ///< draws above max_batch are cut
  double party_deviation = 0;  ///< deviation of each party's noise in lattice units, rounded down
};

/// What was opened of test records with noise: how many are classified correctly, which one record replaced
/// by another moves by 1 at most, or a histogram of scores or a confusion table, which it moves by a norm of
/// sqrt(2) at most, or of more than two classes c histograms and the table, by sqrt(2 c + 2); their number is
/// public. It concerns test records alone: what a trained model makes of them is post-processing for the
/// records that it was trained on.
struct NoisyEvaluation {
  double sigma = 0;              ///< noise multiplier of any two parties' noise together
  double party_deviation = 0;    ///< deviation of each party's noise in lattice units, rounded down
  std::int64_t coordinates = 1;  ///< numbers that were opened
};

/// Releases that are each (epsilon, 0)-differentially private against everybody, insiders included: reports
/// that owners perturbed by themselves, or numbers with Laplace noise of which the parts of any two parties
/// suffice and a third's is not counted.
struct PureReleases {
  std::int64_t count = 0;
  double epsilon = 0;                ///< of each
  std::optional<double> replaced{};  ///< epsilon for one record replaced by another, where that is known
};

/// Counts that one unit of privacy moves by 1 at most, each with discrete Laplace noise of which every party
/// adds a part (dp/mechanisms/laplace_part.h).
struct LaplaceCounts {
  std::int64_t count = 0;  ///< of numbers that one unit moves
  double rate = 0;         ///< of the noise of any two parties: its scale is 1 / rate
};

/// What a release is for: a training's before its first step, or a job's result. Nothing is charged by it.
enum class ReleasedFor { kResult, kRanges, kMeans, kClassCounts };

/// Releases of a vector with discrete Gaussian noise on every coordinate, without sampling.
struct GaussianReleases {
  std::int64_t count = 0;
  std::int64_t coordinates = 0;  ///< of each
  double sigma = 0;             ///< noise multiplier of any two parties' noise, over what one unit may change
  double party_deviation = 0;   ///< deviation of each party's noise in lattice units, rounded down
  std::int64_t group_rows = 1;  ///< more than 1: the unit of privacy is a group of so many rows at most
  ReleasedFor of = ReleasedFor::kResult;
};

/// Releases of which each is within total variation `failure` of an (epsilon, 0)-differentially private one.
struct ApproximateReleases {
  std::int64_t count = 0;
  double epsilon = 0;    ///< of each
  double failure = 0;    ///< of each
  bool insiders = true;  ///< whether that holds against insiders, too; else they are promised nothing
};

/// Releases that depend on records and that no epsilon bounds, against anybody; such as a choice between
/// models by exact counts of private records.
struct UnboundedReleases {
  std::int64_t count = 0;
};

struct Tuning;

using RecordedEvent =
    std::variant<DpSgdSteps, LocalTraining, NoisySelection, NoisyEvaluation, PureReleases, LaplaceCounts,
                 GaussianReleases, ApproximateReleases, UnboundedReleases, Tuning>;

/// The best of several trials, by noisy counts of test records that it classifies correctly, of which a
/// secret number and choice competed (BestOfTrials). Of each trial there is what training records are charged
/// and, as a NoisyEvaluation, what test records are. All trials were executed, and nothing was opened but the
/// best one's model.
struct Tuning {
  /// Trials of the same events.
  struct Alike {
    std::int64_t count = 0;
    std::vector<RecordedEvent> events{};
  };

  std::vector<Alike> trials{};
  std::vector<std::int64_t> weights{};  ///< of 1, 2, ... trials that compete, up to all
};

/// The bits of the numbers by which the competing trials are drawn: equal ones would favour one of them,
/// which is charged as if they were never drawn.
inline constexpr int kTrialRankBits = 60;

/// The events without UnboundedReleases: those that noise can be calibrated for.
[[nodiscard]] std::vector<RecordedEvent> Bounded(const std::vector<RecordedEvent>& events);
/// Whether an event has no bound, so that both epsilons are infinite.
[[nodiscard]] bool HasUnbounded(const std::vector<RecordedEvent>& events);

/// What a run of a job of any type executed: written when it ends (or stops), and not changed after.
/// Accountants read it, never the job.
struct TrainingRecord {
  static constexpr int kVersion = 1;

  std::string job_hash;               ///< lower-case hexadecimal
  std::string run_id;                 ///< lower-case hexadecimal
  std::vector<RecordedEvent> events;  ///< in the order of execution; unlike ones compose
  std::optional<Promise> promise{};   ///< nothing: the record does not say
};

/// What records that were trained on or counted are charged against an outsider, who sees what was released
/// and no more. Steps and selections: multiplier sigma sqrt(3/2), Poisson sampling, the closeness of three
/// parties' summed noise, cut batches; a batch executed m times is one such release with the multiplier over
/// sqrt(m). Local training: multiplier sigma, Poisson sampling, as if the local model were seen. Evaluations:
/// nothing. Gaussian releases: multiplier sigma sqrt(3/2), closeness. Laplace counts: the law of three parts,
/// for several units of two. Pure and approximate releases: their epsilon, and their failure. Unbounded ones:
/// infinity. A tuning: the best of its trials' charges; failures of all trials, and equal ranks, by
/// themselves. `units`, from 1: by how many units of privacy neighbours differ, all added or all removed.
[[nodiscard]] std::vector<Event> OutsiderEvents(const RecordedEvent& event, std::int64_t units = 1);
[[nodiscard]] std::vector<Event> OutsiderEvents(const TrainingRecord& record, std::int64_t units = 1);

/// The same against an insider, one of the parties, which knows its own noise: multiplier sigma, the
/// closeness of two parties' summed noise, cut batches. Owner-poisson sampling and deposited batches are
/// amplified as for an outsider, a batch executed m times counting as there; public sampling is
/// max_participation plain Gaussians, if vertical at sigma / 2, since other values of a record move a sum by
/// up to 2 Delta; full batches are as many plain Gaussians as there are steps, against both adversaries.
/// Local training as for an outsider: a party does not know another owner's noise, and its own records need
/// no protection from itself. Laplace counts: two parts, a randomised response for a number that moves by 1.
/// Approximate releases that do not hold against insiders: infinity.
[[nodiscard]] std::vector<Event> InsiderEvents(const RecordedEvent& event, std::int64_t units = 1);
[[nodiscard]] std::vector<Event> InsiderEvents(const TrainingRecord& record, std::int64_t units = 1);

struct EpsilonPair {
  double outsider = 0;
  double insider = 0;
  double error = 0;  ///< PLD: how far either is above the exact one, at most; else 0, which says nothing
};

/// Both adversaries' accountants side by side. Adding one step at a time is cheap.
class RecordAccountant {
 public:
  explicit RecordAccountant(AccountantKind kind = AccountantKind::kRdp);

  /// Throws ConfigError for a value outside its domain.
  void Add(const RecordedEvent& event);
  /// Infinity where there is no guarantee. Throws ConfigError unless delta is in (0, 1).
  [[nodiscard]] EpsilonPair Epsilons(double delta) const;

 private:
  AnyAccountant outsider_;
  AnyAccountant insider_;
};

/// Both epsilons of a record at `delta`, of which a part pays for cut batches.
[[nodiscard]] EpsilonPair Epsilons(const TrainingRecord& record, double delta,
                                   AccountantKind kind = AccountantKind::kRdp);

/// With a vertical partition: an insider's epsilon about whether a record or padding is in a slot, all others
/// being in theirs. As Epsilons, but at sigma in place of sigma / 2. Nothing where the record has no vertical
/// steps.
[[nodiscard]] std::optional<double> PresenceEpsilon(const TrainingRecord& record, double delta,
                                                    AccountantKind kind = AccountantKind::kRdp);

/// Both epsilons for neighbours that differ by `units` units of privacy, all added or all removed, at one
/// owner or at several. For one unit this is Epsilons; for more it is by loss distributions (PLD), whatever
/// `kind` is, since no other accountant has the law of several sampled records. Infinity where there is no
/// guarantee at this delta.
/// Source: docs/explanation/privacy.md, "Several rows of one person".
[[nodiscard]] EpsilonPair EpsilonsOfUnits(const TrainingRecord& record, std::int64_t units, double delta,
                                          AccountantKind kind = AccountantKind::kRdp);

/// What was released about test records, as a record of its own, whose neighbours replace one of them: what
/// each evaluation opened with noise, a GaussianReleases; of a tuning, whose counts are not opened, the best
/// of these. A count without noise leaves no event.
[[nodiscard]] TrainingRecord TestSetRecord(const TrainingRecord& record);

/// Both epsilons of TestSetRecord, by the exact formula where its events are plain Gaussians; infinity where
/// it has no event.
[[nodiscard]] EpsilonPair TestSetEpsilons(const TrainingRecord& record, double delta);

/// The record as JSON: version, job_hash, run_id, events, and, where it has a promise, unit, neighbours and
/// warnings, and deposited where it is so; an event of kind "dpsgd_steps", "local_training",
/// "noisy_selection", "noisy_evaluation", "pure_releases", "laplace_counts", "gaussian_releases",
/// "approximate_releases", "unbounded_releases" or "tuning" has
/// its struct's members under their names, capacity and max_batch among them; only where they say something,
/// `replaced` as epsilon_replaced, group_rows as max_group_rows, vertical as partition, executions,
/// clip_count_sigma, an evaluation's coordinates. ContractError on inf or NaN.
[[nodiscard]] nlohmann::json ToJson(const TrainingRecord& record);

/// The inverse; records of version 0.1, which have no promise, are read. Throws DataError naming the key that
/// is missing, unknown, of the wrong type or outside its domain.
[[nodiscard]] TrainingRecord FromJson(const nlohmann::json& json);

}  // namespace trefoil::dp
