#include "ml/scores/binary_scores.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace trefoil::ml {
namespace {

/// Counts of both kinds.
struct Kinds {
  std::int64_t yes = 0;
  std::int64_t no = 0;
};

/// Calls `at(above, equal)` for each score that occurs, from the largest: how many records have a larger one,
/// and this one. Returns how many there are.
template <typename At>
Kinds ByScore(std::vector<ScoredRecord>& records, const At& at) {
  std::sort(records.begin(), records.end(),
            [](const ScoredRecord& a, const ScoredRecord& b) { return a.score > b.score; });
  Kinds above;
  for (std::size_t first = 0; first < records.size();) {
    Kinds equal;
    std::size_t end = first;
    for (; end < records.size() && records[end].score == records[first].score; ++end)
      ++(records[end].yes ? equal.yes : equal.no);
    at(above, equal);
    above = {.yes = above.yes + equal.yes, .no = above.no + equal.no};
    first = end;
  }
  return above;
}

}  // namespace

std::optional<double> Auc(std::vector<ScoredRecord> records) {
  std::int64_t twice = 0;  // pairs that are in order, twice: an integer below 2 * 2^30 * 2^30
  const auto all = ByScore(records, [&](const Kinds& above, const Kinds& equal) {
    twice += equal.no * (2 * above.yes + equal.yes);
  });
  if (all.yes == 0 || all.no == 0) return {};
  return static_cast<double>(twice) / (2 * static_cast<double>(all.yes) * static_cast<double>(all.no));
}

std::vector<RocPoint> RocCurve(std::vector<ScoredRecord> records, int most) {
  Require(most >= 1, "a ROC curve has at least one step");
  const auto count = static_cast<std::int64_t>(records.size());
  std::vector<Kinds> reached{{}};
  const auto all = ByScore(records, [&](const Kinds& above, const Kinds& equal) {
    const auto step = [&](std::int64_t done) { return done * most / count; };
    const Kinds now{.yes = above.yes + equal.yes, .no = above.no + equal.no};
    if (step(now.yes + now.no) > step(reached.back().yes + reached.back().no)) reached.push_back(now);
  });
  if (all.yes == 0 || all.no == 0) return {};
  std::vector<RocPoint> curve;
  curve.reserve(reached.size());
  for (const auto& [yes, no] : reached)
    curve.push_back({.false_positives = static_cast<double>(no) / static_cast<double>(all.no),
                     .true_positives = static_cast<double>(yes) / static_cast<double>(all.yes)});
  return curve;
}

std::vector<CalibrationBin> CalibrationOf(const std::vector<ScoredRecord>& records, int bins) {
  Require(bins >= 1, "calibration has at least one bin");
  std::vector<CalibrationBin> result(static_cast<std::size_t>(bins));
  for (const auto& [score, yes] : records) {
    Require(score >= 0 && score <= 1, "calibration is of probabilities");
    auto& bin = result[static_cast<std::size_t>(std::min(bins - 1, static_cast<int>(score * bins)))];
    ++bin.records;
    bin.said += score;
    bin.true_share += yes ? 1 : 0;
  }
  for (auto& bin : result) {
    if (bin.records == 0) continue;
    bin.said /= static_cast<double>(bin.records);
    bin.true_share /= static_cast<double>(bin.records);
  }
  return result;
}

double ExpectedCalibrationError(const std::vector<CalibrationBin>& bins) {
  double sum = 0;
  std::int64_t records = 0;
  for (const auto& bin : bins) {
    sum += static_cast<double>(bin.records) * std::abs(bin.said - bin.true_share);
    records += bin.records;
  }
  Require(records > 0, "a calibration error is of at least one record");
  return sum / static_cast<double>(records);
}

}  // namespace trefoil::ml
