#pragma once
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace trefoil::ml {

/// Steps first ... last - 1.
struct StepRange {
  int first = 0;
  int last = 0;
};

/// Batches of public sampling are padded with empty rows to a multiple of so many rows, about a thirtieth of
/// the expected number: few heights, so that what a step of each deals can be dealt ahead.
[[nodiscard]] std::int64_t PublicHeightUnit(double expected_batch);

/// Which rows of the shared data each step takes, by coins that all parties know.
class PublicSchedule {
 public:
  /// Draws every step's rows from a joint seed. `rows`: slots of the shared data, padding included.
  PublicSchedule(SecretKey joint_seed, std::int64_t rows, double rate, int steps);

  [[nodiscard]] const std::vector<std::int64_t>& RowsOf(int step) const {
    return steps_[static_cast<std::size_t>(step)];
  }
  /// Rows of a step's batch with its padding; never more than all rows.
  [[nodiscard]] std::int64_t HeightOf(int step) const;
  /// In how many of the first `steps` steps any one row is, at most.
  [[nodiscard]] std::int64_t MaxParticipation(int steps) const {
    return most_[static_cast<std::size_t>(steps)];
  }
  /// Entry k: in how many steps any one row is, at most, once those of `done`, each as often as it is in one
  /// of these ranges, and then first ... first + k - 1 have been executed. As many entries as it takes to the
  /// last step's.
  [[nodiscard]] std::vector<std::int64_t> MaxParticipationAfter(const std::vector<StepRange>& done,
                                                                int first) const;

 private:
  std::int64_t rows_;
  std::int64_t unit_;
  std::vector<std::vector<std::int64_t>> steps_;
  std::vector<std::int64_t> most_;
};

}  // namespace trefoil::ml
