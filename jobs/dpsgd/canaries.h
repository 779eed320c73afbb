#pragma once
#include <array>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/secrets/random.h"
#include "data/dataset/table.h"
#include "jobs/canaries.h"
#include "jobs/dpsgd/settings/settings.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// The records of a job, and canaries that were drawn for it.
struct CanaryData {
  data::Table training;    ///< features as they are trained on
  std::vector<int> party;  ///< of each training record; -1: nobody's, as [local] deals them
  data::Table test;        ///< empty where there is no test set
  std::vector<Canary> canaries;
};

/// Throws ConfigError naming the key where a canary's contribution would not lie in weights of its own
/// (hidden layers), or where records cannot be extended (vertical partitions, an [initialisation], features
/// of a model file), or where `count` canaries at the job's delta can show nothing.
void CheckAuditable(const DpsgdSettings& job, std::int64_t count);

/// The job with `count` canaries: a feature each after its own, which are extracted beforehand, a third of
/// them in each party's declared rows and batch. Sampling rate, step size, steps, noise and clip stay. The
/// model is released, and nothing evaluated on shares. Public numbers only: it does not depend on who is
/// included.
[[nodiscard]] DpsgdSettings WithCanaries(const DpsgdSettings& job, std::int64_t count);

/// Canary k at party k mod 3, classes taking turns, coins from `coins`.
[[nodiscard]] std::vector<Canary> DrawCanaries(const DpsgdSettings& job, std::int64_t count,
                                               RandomStream& coins);

/// Reads the job's training records and test records, if there are any, from `source`.
/// Throws as LoadRecords() and data::FindTrainingFiles().
[[nodiscard]] CanaryData LoadForAudit(const DpsgdSettings& job, const std::filesystem::path& source);

/// Writes each party's records and included canaries, as files of the job of WithCanaries(), to the party
/// folders, and the test set, if there is one, to `test`.
void DealWithCanaries(const DpsgdSettings& job, const CanaryData& data,
                      const std::array<std::filesystem::path, 3>& parties, const std::filesystem::path& test);

/// How far each canary's weights lie in the direction in which its first gradient moves them.
[[nodiscard]] std::vector<double> CanaryScores(const DpsgdSettings& job, const std::vector<Canary>& canaries,
                                               const ml::Model& model);

/// The released model's loss at each canary.
[[nodiscard]] std::vector<double> CanaryLosses(const DpsgdSettings& job, const std::vector<Canary>& canaries,
                                               const ml::Model& model);

/// The released model's loss at each row of `x`, features without the canaries', of the job without canaries.
[[nodiscard]] std::vector<double> RecordLosses(const DpsgdSettings& job, const data::Table& table,
                                               const ml::Model& model);

/// A training with `count` canaries. A canary is zero but for a feature that no other record has, where it
/// has the job's row_norm: so what it adds to the model lies in weights of its own. Throws as
/// CheckAuditable().
[[nodiscard]] std::unique_ptr<JobWithCanaries> MakeJobWithCanaries(const DpsgdSettings& job,
                                                                   std::int64_t count);

}  // namespace trefoil::jobs
