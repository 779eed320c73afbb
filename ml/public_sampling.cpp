#include "ml/public_sampling.h"

#include <algorithm>
#include <utility>

#include "ml/records.h"

namespace trefoil::ml {

PublicSchedule::PublicSchedule(SecretKey joint_seed, std::int64_t rows, double rate, int steps) : most_{0} {
  RandomStream coins(std::move(joint_seed));
  std::vector<std::int64_t> taken(static_cast<std::size_t>(rows), 0);
  for (int step = 0; step < steps; ++step) {
    steps_.push_back(DrawRows(coins, rows, rate, rows));
    std::int64_t most = most_.back();
    for (const std::int64_t row : steps_.back())
      most = std::max(most, ++taken[static_cast<std::size_t>(row)]);
    most_.push_back(most);
  }
}

}  // namespace trefoil::ml
