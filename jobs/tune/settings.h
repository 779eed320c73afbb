#pragma once
#include <cstdint>
#include <vector>

#include "jobs/dpsgd/settings/settings.h"
#include "ml/on_shares/best_trial.h"

namespace trefoil::jobs {

/// The values that trials take in turn; of a key without values all trials have the one of the training.
struct TuneGrid {
  std::vector<double> learning_rates{};
  std::vector<double> clips{};
  std::vector<double> momenta{};
  std::vector<std::int64_t> steps{};
};

/// A job of type "tune", checked, with every default filled in: a training, whose `evaluation` names the test
/// records and the noise of their counts, and what its trials differ by.
struct TuneSettings : DpsgdSettings {
  TuneGrid grid;
  std::int64_t repeats = 1;  ///< trials with the same settings
  double competing = 0;  ///< how many trials compete on average; all of them always where it is their number
};

/// The keys of such a job.
void Fields(FieldVisitor& v, TuneSettings& s);

/// How many trials there are.
[[nodiscard]] std::int64_t CountTrials(const TuneSettings& s);

/// The trials, each as a training that opens nothing.
[[nodiscard]] std::vector<DpsgdSettings> TrialsOf(const TuneSettings& s);

/// How the best one is chosen.
[[nodiscard]] ml::TrialSelection SelectionOf(const TuneSettings& s);

}  // namespace trefoil::jobs
