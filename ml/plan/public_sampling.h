#pragma once
#include <cstdint>
#include <vector>

#include "base/secrets/random.h"

namespace trefoil::ml {

/// Steps first ... last - 1.
struct StepRange {
  int first = 0;
  int last = 0;
};

/// Rows of every batch of public sampling, padding included: a constant of the job, which a draw of all
/// steps' coins exceeds with a probability of 1/6 at most. `rows`: slots of the shared data, padding
/// included.
/// Pre: rows >= 1, 0 < rate <= 1, steps >= 1.
[[nodiscard]] std::int64_t PublicHeight(std::int64_t rows, double rate, int steps);

/// In how many of all steps any one row is, at most: a constant of the job as PublicHeight is.
[[nodiscard]] std::int64_t MaxParticipation(std::int64_t rows, double rate, int steps);

/// Entry s: in how many of the first s steps any one row is, at most, for s = 0 ... steps. The last one is
/// MaxParticipation; a draw exceeds any of the others with a probability of 1/6 at most.
[[nodiscard]] std::vector<std::int64_t> ParticipationBounds(std::int64_t rows, double rate, int steps);

/// Entry k: in how many steps any one row is, at most, once those of `done`, each as often as it is in one of
/// these ranges, and then first ... first + k - 1 have been executed. As many entries as it takes to the last
/// step's. `bounds`: ParticipationBounds. A step that is done again counts for every row: which rows it takes
/// is for the coins to say. Pre: every step before `first` is in `done`.
[[nodiscard]] std::vector<std::int64_t> ParticipationAfter(const std::vector<std::int64_t>& bounds,
                                                           const std::vector<StepRange>& done, int first);

/// Which rows of the shared data each step takes, by coins that all parties know: independent ones, drawn
/// anew while they exceed any of the bounds above. So nothing that is published, or seen in traffic, depends
/// on them, and no step takes a row with more than the rate, whatever is known of the other steps' coins
/// (docs/explanation/privacy.md, "Public sampling").
class PublicSchedule {
 public:
  /// Draws every step's rows from a joint seed. Pre: as PublicHeight.
  PublicSchedule(SecretKey joint_seed, std::int64_t rows, double rate, int steps);

  [[nodiscard]] const std::vector<std::int64_t>& RowsOf(int step) const {
    return steps_[static_cast<std::size_t>(step)];
  }

 private:
  std::vector<std::vector<std::int64_t>> steps_;
};

}  // namespace trefoil::ml
