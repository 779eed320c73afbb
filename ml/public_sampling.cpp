#include "ml/public_sampling.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ml/records.h"

namespace trefoil::ml {

std::int64_t PublicHeightUnit(double expected_batch) {
  constexpr std::int64_t kHeightsOfABatch = 32;
  return std::max<std::int64_t>(1, std::llround(expected_batch) / kHeightsOfABatch);
}

PublicSchedule::PublicSchedule(SecretKey joint_seed, std::int64_t rows, double rate, int steps)
    : rows_(rows), unit_(PublicHeightUnit(rate * static_cast<double>(rows))) {
  RandomStream coins(std::move(joint_seed));
  for (int step = 0; step < steps; ++step) steps_.push_back(DrawRows(coins, rows, rate, rows));
  most_ = MaxParticipationAfter({}, 0);
}

std::int64_t PublicSchedule::HeightOf(int step) const {
  const auto taken = static_cast<std::int64_t>(RowsOf(step).size());
  return std::min(rows_, (taken + unit_ - 1) / unit_ * unit_);
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
