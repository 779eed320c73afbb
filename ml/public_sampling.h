#pragma once
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace trefoil::ml {

/// Which rows of the shared data each step takes, by coins that all parties know.
class PublicSchedule {
 public:
  /// Draws every step's rows from a joint seed. `rows`: slots of the shared data, padding included.
  PublicSchedule(SecretKey joint_seed, std::int64_t rows, double rate, int steps);

  [[nodiscard]] const std::vector<std::int64_t>& RowsOf(int step) const {
    return steps_[static_cast<std::size_t>(step)];
  }
  /// In how many of the first `steps` steps any one row is, at most.
  [[nodiscard]] std::int64_t MaxParticipation(int steps) const {
    return most_[static_cast<std::size_t>(steps)];
  }

 private:
  std::vector<std::vector<std::int64_t>> steps_;
  std::vector<std::int64_t> most_;
};

}  // namespace trefoil::ml
