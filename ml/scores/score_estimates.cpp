#include "ml/scores/score_estimates.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace trefoil::ml {
namespace {

/// Counts of the two classes, as they are.
struct ClassCounts {
  std::vector<double> no;
  std::vector<double> yes;
  double all_no = 0;
  double all_yes = 0;

  [[nodiscard]] std::size_t bins() const { return no.size(); }
  [[nodiscard]] double middle(std::size_t bin) const {
    return (static_cast<double>(bin) + 0.5) / static_cast<double>(bins());
  }
};

ClassCounts CountsOf(const std::vector<double>& histogram) {
  Require(histogram.size() >= 4 && histogram.size() % 2 == 0, "EstimatesOf: two bins or more of two classes");
  const auto half = histogram.begin() + static_cast<std::ptrdiff_t>(histogram.size() / 2);
  ClassCounts counts{.no = {histogram.begin(), half}, .yes = {half, histogram.end()}};
  counts.all_no = std::accumulate(counts.no.begin(), counts.no.end(), 0.0);
  counts.all_yes = std::accumulate(counts.yes.begin(), counts.yes.end(), 0.0);
  return counts;
}

/// With r_b the share of no's below bin b and s_b that of yes's above it, half of the bin's own each, the
/// area is sum yes_b r_b / all_yes. A count of yes more moves it by (r_b - area) / all_yes, one of no by (s_b
/// - area) / all_no.
void EstimateAuc(const ClassCounts& counts, double deviation, ScoreEstimates& estimates) {
  std::vector<double> r;
  std::vector<double> s;
  double no_below = 0;
  double yes_below = 0;
  double area = 0;
  for (std::size_t bin = 0; bin < counts.bins(); ++bin) {
    r.push_back((no_below + counts.no[bin] / 2) / counts.all_no);
    s.push_back(1 - (yes_below + counts.yes[bin] / 2) / counts.all_yes);
    no_below += counts.no[bin];
    yes_below += counts.yes[bin];
    area += counts.yes[bin] * r.back() / counts.all_yes;
  }
  double squares = 0;
  for (std::size_t bin = 0; bin < counts.bins(); ++bin) {
    const double of_yes = (r[bin] - area) / counts.all_yes;
    const double of_no = (s[bin] - area) / counts.all_no;
    squares += of_yes * of_yes + of_no * of_no;
  }
  estimates.auc = std::clamp(area, 0.0, 1.0);
  estimates.auc_noise = deviation * std::sqrt(squares);
}

void EstimateProbabilities(const ClassCounts& counts, ScoreEstimates& estimates) {
  double loss = 0;
  double error = 0;
  for (std::size_t bin = 0; bin < counts.bins(); ++bin) {
    const double said = counts.middle(bin);
    loss -= counts.yes[bin] * std::log(said) + counts.no[bin] * std::log1p(-said);
    error += std::abs(counts.yes[bin] - said * (counts.no[bin] + counts.yes[bin]));
  }
  const double all = counts.all_no + counts.all_yes;
  estimates.log_loss = std::max(loss / all, 0.0);
  estimates.calibration_error = std::min(error / all, 1.0);
}

void ChooseThreshold(const ClassCounts& counts, ScoreEstimates& estimates) {
  double no_below = 0;
  double yes_below = 0;
  for (std::size_t edge = 1; edge < counts.bins(); ++edge) {
    no_below += counts.no[edge - 1];
    yes_below += counts.yes[edge - 1];
    const double found = (no_below / counts.all_no + 1 - yes_below / counts.all_yes) / 2;
    const double balanced = std::clamp(found, 0.0, 1.0);
    const double threshold = static_cast<double>(edge) / static_cast<double>(counts.bins());
    if (estimates.threshold) {
      const double best = *estimates.balanced_accuracy;
      const bool nearer = std::abs(threshold - 0.5) < std::abs(*estimates.threshold - 0.5);
      if (balanced < best || (balanced == best && !nearer)) continue;
    }
    estimates.balanced_accuracy = balanced;
    estimates.threshold = threshold;
  }
}

/// `right` of `all`, a sum of so many counts with noise of this deviation, `right` being one of them. A count
/// more of `right` moves the share by (1 - share) / all, one of the others by -share / all.
std::optional<ShareEstimate> EstimateOf(double right, double all, std::size_t counts, double deviation) {
  if (!(all > 3 * deviation * std::sqrt(static_cast<double>(counts)))) return {};
  const double share = std::clamp(right / all, 0.0, 1.0);
  const double squares = (1 - share) * (1 - share) + static_cast<double>(counts - 1) * share * share;
  return ShareEstimate{.value = share, .noise = deviation / all * std::sqrt(squares)};
}

}  // namespace

TableEstimates TableEstimatesOf(const std::vector<double>& table, double deviation) {
  const auto classes = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(table.size()))));
  Require(classes >= 2 && classes * classes == table.size(), "TableEstimatesOf: two classes or more");
  TableEstimates estimates;
  double recalls = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    double of_class = 0;
    double taken_for_it = 0;
    for (std::size_t other = 0; other < classes; ++other) {
      of_class += table[k * classes + other];
      taken_for_it += table[other * classes + k];
    }
    const double right = table[k * classes + k];
    estimates.recall.push_back(EstimateOf(right, of_class, classes, deviation));
    estimates.precision.push_back(EstimateOf(right, taken_for_it, classes, deviation));
    recalls += estimates.recall.back().value_or(ShareEstimate{}).value;
  }
  const bool all = std::all_of(estimates.recall.begin(), estimates.recall.end(),
                               [](const auto& recall) { return recall.has_value(); });
  if (all) estimates.balanced_accuracy = recalls / static_cast<double>(classes);
  return estimates;
}

ScoreEstimates EstimatesOf(const std::vector<double>& histogram, double deviation) {
  const ClassCounts counts = CountsOf(histogram);
  const double noise = 3 * deviation * std::sqrt(static_cast<double>(counts.bins()));
  if (!(std::min(counts.all_no, counts.all_yes) > noise)) return {};
  ScoreEstimates estimates;
  EstimateAuc(counts, deviation, estimates);
  EstimateProbabilities(counts, estimates);
  ChooseThreshold(counts, estimates);
  return estimates;
}

}  // namespace trefoil::ml
