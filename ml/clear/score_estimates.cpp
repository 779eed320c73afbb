#include "ml/clear/score_estimates.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace trefoil::ml {
namespace {

/// Counts of the two classes, none below zero.
struct Counts {
  std::vector<double> no;
  std::vector<double> yes;
  double all_no = 0;
  double all_yes = 0;

  [[nodiscard]] std::size_t bins() const { return no.size(); }
  [[nodiscard]] double middle(std::size_t bin) const {
    return (static_cast<double>(bin) + 0.5) / static_cast<double>(bins());
  }
};

Counts CountsOf(const std::vector<double>& histogram) {
  Require(histogram.size() >= 4 && histogram.size() % 2 == 0, "EstimatesOf: two bins or more of two classes");
  const auto half = histogram.begin() + static_cast<std::ptrdiff_t>(histogram.size() / 2);
  Counts counts{.no = {histogram.begin(), half}, .yes = {half, histogram.end()}};
  for (auto* of_class : {&counts.no, &counts.yes})
    std::replace_if(
        of_class->begin(), of_class->end(), [](double count) { return count < 0; }, 0.0);
  counts.all_no = std::accumulate(counts.no.begin(), counts.no.end(), 0.0);
  counts.all_yes = std::accumulate(counts.yes.begin(), counts.yes.end(), 0.0);
  return counts;
}

double Auc(const Counts& counts) {
  double ordered = 0;
  double below = 0;
  for (std::size_t bin = 0; bin < counts.bins(); ++bin) {
    ordered += counts.yes[bin] * (below + counts.no[bin] / 2);
    below += counts.no[bin];
  }
  return ordered / (counts.all_no * counts.all_yes);
}

void ChooseThreshold(const Counts& counts, ScoreEstimates& estimates) {
  const auto bins = static_cast<double>(counts.bins());
  double no_below = 0;
  double yes_below = 0;
  for (std::size_t edge = 1; edge < counts.bins(); ++edge) {
    no_below += counts.no[edge - 1];
    yes_below += counts.yes[edge - 1];
    const double balanced = (no_below / counts.all_no + 1 - yes_below / counts.all_yes) / 2;
    const double threshold = static_cast<double>(edge) / bins;
    const double best = estimates.balanced_accuracy.value_or(0);
    const bool nearer = std::abs(threshold - 0.5) < std::abs(estimates.threshold - 0.5);
    if (estimates.balanced_accuracy && (balanced < best || (balanced == best && !nearer))) continue;
    estimates.balanced_accuracy = balanced;
    estimates.threshold = threshold;
  }
}

}  // namespace

ScoreEstimates EstimatesOf(const std::vector<double>& histogram) {
  const Counts counts = CountsOf(histogram);
  ScoreEstimates estimates;
  const double all = counts.all_no + counts.all_yes;
  if (all > 0) {
    double loss = 0;
    double error = 0;
    for (std::size_t bin = 0; bin < counts.bins(); ++bin) {
      const double said = counts.middle(bin);
      const double records = counts.no[bin] + counts.yes[bin];
      loss -= counts.yes[bin] * std::log(said) + counts.no[bin] * std::log1p(-said);
      error += std::abs(counts.yes[bin] - said * records);
    }
    estimates.log_loss = loss / all;
    estimates.calibration_error = error / all;
  }
  if (counts.all_no > 0 && counts.all_yes > 0) {
    estimates.auc = Auc(counts);
    ChooseThreshold(counts, estimates);
  }
  return estimates;
}

}  // namespace trefoil::ml
