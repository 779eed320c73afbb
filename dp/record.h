#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dp/accountant.h"
#include "dp/truncated_poisson.h"

namespace trefoil::dp {

/// Who chose the rows of a batch: each owner by private coins, or common coins that all parties know.
enum class SamplingMode { kOwnerPoisson, kPublic };

/// A run of DP-SGD steps as it was executed: all public, the same at all three parties.
struct DpSgdSteps {
  std::int64_t steps = 0;
  SamplingMode sampling = SamplingMode::kOwnerPoisson;
  double sampling_rate = 0;  ///< q
  double sigma = 0;          ///< noise multiplier without one party's noise; 0 is no noise
  double sensitivity = 0;    ///< Delta: the norm of one example's contribution, in the units of clip
  double clip = 0;           ///< C
  BatchLimits limits;        ///< draws above max_batch are cut; max_batch = capacity where nothing is cut
  std::int64_t max_participation = 0;  ///< public sampling: steps that any one row was in, at most; else 0
  double party_deviation = 0;          ///< deviation of each party's noise in lattice units, rounded down
  std::int64_t coordinates = 0;        ///< that the noise was added to, in each step
};

/// What a training did, written when it ends (or stops) and not changed after; accountants read it, never the
/// job.
struct TrainingRecord {
  static constexpr int kVersion = 1;

  std::string job_hash;  ///< lower-case hexadecimal
  std::string run_id;    ///< lower-case hexadecimal
  std::vector<DpSgdSteps> events;
};

/// What an outsider, who sees the released model only, is charged: multiplier sigma sqrt(3/2), Poisson
/// sampling, the closeness of three parties' summed noise, cut batches.
[[nodiscard]] std::vector<Event> OutsiderEvents(const DpSgdSteps& steps);
[[nodiscard]] std::vector<Event> OutsiderEvents(const TrainingRecord& record);

/// What one party is charged, which knows its own noise: multiplier sigma, the closeness of two parties'
/// summed noise, cut batches; with owner-poisson sampling amplified as for an outsider, with public sampling
/// a plain Gaussian as many times as any row was in.
[[nodiscard]] std::vector<Event> InsiderEvents(const DpSgdSteps& steps);
[[nodiscard]] std::vector<Event> InsiderEvents(const TrainingRecord& record);

struct EpsilonPair {
  double outsider = 0;
  double insider = 0;
};

/// Both adversaries' accountants side by side. Adding one step at a time is cheap.
class RecordAccountant {
 public:
  /// Throws ConfigError for a value outside its domain.
  void Add(const DpSgdSteps& steps);
  /// Infinity where there is no guarantee. Throws ConfigError unless delta is in (0, 1).
  [[nodiscard]] EpsilonPair Epsilons(double delta) const;

 private:
  RdpAccountant outsider_;
  RdpAccountant insider_;
};

/// Both epsilons of a record by the RDP accountant, `delta` including what cut batches cost.
[[nodiscard]] EpsilonPair Epsilons(const TrainingRecord& record, double delta);

/// The record as JSON: version, job_hash, run_id, events; an event of kind "dpsgd_steps" has the members of
/// DpSgdSteps under their own names, capacity and max_batch among them. Throws ContractError for a number
/// that is infinite or not a number.
[[nodiscard]] nlohmann::json ToJson(const TrainingRecord& record);

/// The inverse. Throws DataError naming the key that is missing, unknown, of the wrong type or outside its
/// domain.
[[nodiscard]] TrainingRecord FromJson(const nlohmann::json& json);

}  // namespace trefoil::dp
