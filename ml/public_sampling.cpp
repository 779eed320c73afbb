#include "ml/public_sampling.h"

#include <algorithm>
#include <utility>

#include "ml/records.h"

namespace trefoil::ml {

PublicSchedule::PublicSchedule(SecretKey joint_seed, std::int64_t rows, double rate, int steps)
    : rows_(rows) {
  RandomStream coins(std::move(joint_seed));
  for (int step = 0; step < steps; ++step) steps_.push_back(DrawRows(coins, rows, rate, rows));
  most_ = MaxParticipationAfter({}, 0);
}

std::vector<std::int64_t> PublicSchedule::MaxParticipationAfter(const std::vector<StepRange>& done,
                                                                int first) const {
  std::vector<std::int64_t> taken(static_cast<std::size_t>(rows_), 0);
  std::int64_t most = 0;
  const auto execute = [&](std::size_t step) {
    for (const std::int64_t row : steps_[step]) most = std::max(most, ++taken[static_cast<std::size_t>(row)]);
  };
  for (const StepRange& range : done) {
    for (int step = range.first; step < range.last; ++step) execute(static_cast<std::size_t>(step));
  }
  std::vector<std::int64_t> after{most};
  for (auto step = static_cast<std::size_t>(first); step < steps_.size(); ++step) {
    execute(step);
    after.push_back(most);
  }
  return after;
}

}  // namespace trefoil::ml
