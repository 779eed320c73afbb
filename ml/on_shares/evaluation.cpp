#include "ml/on_shares/evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/on_shares/held_out.h"
#include "ml/on_shares/score_histogram.h"
#include "ml/plan/step_privacy.h"
#include "ml/scores/score_estimates.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"

namespace trefoil::ml {
namespace {

using mpc::AdditiveShare;
using mpc::ArithShare;
using mpc::Index;

Index Values(const StepPlan& plan) { return EvaluationNumbers(plan.settings); }

/// The square of the norm of the vector by which a record that is replaced by another moves what is opened.
double EvaluationSquares(const TrainingSettings& settings) {
  const EvaluationSettings& evaluation = *settings.evaluation;
  const double histograms = evaluation.bins == 0 ? 0 : settings.classes == 2 ? 1 : settings.classes;
  return std::max(1.0, 2 * (histograms + (evaluation.confusion ? 1 : 0)));
}

/// Whether histograms or a table are opened, and not how many are right.
bool HasClasses(const EvaluationSettings& settings) { return settings.bins > 0 || settings.confusion; }

/// What one record replaced by another moves of it, in units of 2^-f: the count by 1, two numbers of each
/// histogram and of the table by 1 each.
std::uint64_t CountsSensitivity(const StepPlan& plan) {
  const double moved = std::sqrt(EvaluationSquares(plan.settings));
  return static_cast<std::uint64_t>(std::ceil(std::ldexp(moved, plan.settings.fraction_bits)));
}

/// How many counts of a confusion table there are.
Index TableCounts(const TrainingSettings& settings) {
  return settings.evaluation->confusion ? static_cast<Index>(settings.classes) * settings.classes : 0;
}

/// How many records of a histogram are in the class that the threshold, an edge of its bins, takes them for.
double CorrectOf(const std::vector<double>& histogram, double threshold) {
  const auto bins = static_cast<std::int64_t>(histogram.size()) / 2;
  const std::int64_t edge = std::llround(threshold * static_cast<double>(bins));
  return std::accumulate(histogram.begin(), histogram.begin() + edge, 0.0) +
         std::accumulate(histogram.begin() + bins + edge, histogram.end(), 0.0);
}

/// How many records of a confusion table are of the class that they are taken for.
double DiagonalOf(const std::vector<double>& table) {
  const auto classes = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(table.size()))));
  double sum = 0;
  for (std::size_t k = 0; k < classes; ++k) sum += table[k * classes + k];
  return sum;
}

/// Opens the counts to the parties that the settings name.
void Open(mpc::Context& party, const StepPlan& plan, const ArithShare& counts, EvaluationResult& result) {
  const EvaluationSettings& settings = *plan.settings.evaluation;
  const bool histogram = HasClasses(settings);
  const auto opened =
      histogram
          ? protocols::RevealToEach(party, settings.to, counts, protocols::ReleaseReason::kScoreHistogram)
          : protocols::RevealToEach(party, settings.to, counts, protocols::ReleaseReason::kCorrectCount);
  if (!opened) return;
  std::vector<double> values;
  for (Index k = 0; k < opened->rows(); ++k)
    values.push_back(mpc::Decode((*opened)(k, 0), plan.settings.fraction_bits));
  if (!histogram) {
    result.correct = values[0];
    return;
  }
  const auto table_end = values.begin() + TableCounts(plan.settings);
  result.confusion.assign(values.begin(), table_end);
  result.histogram.assign(table_end, values.end());
  if (settings.choose_threshold) {
    const double deviation = CountsDeviation(plan.settings);
    result.threshold = EstimatesOf(result.histogram, deviation).threshold.value_or(result.threshold);
  }
  result.correct =
      settings.confusion ? DiagonalOf(result.confusion) : CorrectOf(result.histogram, result.threshold);
}

/// Adds what `part` sends to the result.
template <typename Part>
void Measured(mpc::Context& party, EvaluationResult& result, const Part& part) {
  const net::Counters before = party.transport().counters();
  part();
  const net::Counters& after = party.transport().counters();
  result.rounds += after.rounds - before.rounds;
  result.bytes_sent += after.bytes_sent + after.bytes_offline - before.bytes_sent - before.bytes_offline;
}

/// What is counted of the test records, without noise: Values() x 1.
AdditiveShare CountTests(mpc::Context& party, const StepPlan& plan, const mpc::FixedShare& weights,
                         const OwnRecords& test) {
  const EvaluationSettings& settings = *plan.settings.evaluation;
  if (settings.bins > 0) {
    return SumHeldOut(party, plan, settings.test, test, [&](mpc::Context& branch, const Batch& batch) {
      const AdditiveShare logits = Logits(branch, plan, batch.x, weights);
      if (!settings.confusion) return ScoreHistogram(branch, plan, batch, logits);
      const AdditiveShare table = ConfusionCounts(branch, batch, logits, kClassifiedWidth);
      return AdditiveShare(mpc::Stacked(table.part(), ScoreHistogram(branch, plan, batch, logits).part()));
    });
  }
  const auto logits = [&](mpc::Context& branch, const mpc::FixedShare& x) {
    return AboveDecision(branch, plan, Logits(branch, plan, x, weights));
  };
  if (settings.confusion) {
    return SumHeldOut(party, plan, settings.test, test, [&](mpc::Context& branch, const Batch& batch) {
      return ConfusionCounts(branch, batch, logits(branch, batch.x), kClassifiedWidth);
    });
  }
  return CountHeldOut(party, plan, settings.test, test, logits, kClassifiedWidth);
}

/// The same with noise, as fresh shares.
ArithShare NoisyCounts(mpc::Context& party, const StepPlan& plan, const mpc::FixedShare& weights,
                       const OwnRecords& test) {
  AdditiveShare counts = CountTests(party, plan, weights, test);
  if (const auto& sigma = plan.settings.evaluation->sigma) {
    const StepNoise noise =
        CountNoise(RandomStream::FromSystem(), *sigma, CountsSensitivity(plan), Values(plan));
    counts = AddNoise(counts, noise.values());
  }
  return protocols::Reshare(party, counts);
}

mpc::Cost CountTestsCost(const StepPlan& plan) {
  const EvaluationSettings& settings = *plan.settings.evaluation;
  if (settings.bins > 0) {
    return SumHeldOutCost({}, plan, settings.test, [&](const mpc::Cost& before, Index rows) {
      const mpc::Cost logits = Then(before, LogitsCost(plan, rows));
      const mpc::Cost table =
          settings.confusion ? ConfusionCountsCost(rows, plan.columns, kClassifiedWidth) : mpc::Cost();
      return Then(Then(logits, table), ScoreHistogramCost(plan, rows));
    });
  }
  if (settings.confusion) {
    return SumHeldOutCost({}, plan, settings.test, [&](const mpc::Cost& before, Index rows) {
      return Then(Then(before, LogitsCost(plan, rows)),
                  ConfusionCountsCost(rows, plan.columns, kClassifiedWidth));
    });
  }
  const auto logits = [&](Index rows) { return LogitsCost(plan, rows); };
  return CountHeldOutCost({}, plan, settings.test, 1, logits, kClassifiedWidth);
}

}  // namespace

Index EvaluationNumbers(const TrainingSettings& settings) {
  if (!settings.evaluation) return 0;
  const Index histograms = settings.classes == 2 ? 1 : settings.classes;
  const Index in_bins = 2 * static_cast<Index>(settings.evaluation->bins) * histograms;
  return std::max<Index>(1, TableCounts(settings) + in_bins);
}

double CountsDeviation(const TrainingSettings& settings) {
  return std::sqrt(1.5 * EvaluationSquares(settings)) * settings.evaluation->sigma.value();
}

std::vector<dp::RecordedEvent> EvaluationEvents(const StepPlan& plan) {
  const auto& settings = plan.settings.evaluation;
  if (!settings || !settings->sigma) return {};
  (void)dp::DiscreteGaussian(CountVariance(*settings->sigma, CountsSensitivity(plan)));
  return {dp::NoisyEvaluation{.sigma = OnSigmaLattice(*settings->sigma),
                              .party_deviation = CountDeviation(*settings->sigma, CountsSensitivity(plan)),
                              .coordinates = Values(plan)}};
}

EvaluationResult EvaluateOnShares(mpc::Context& party, const StepPlan& plan, const mpc::FixedShare& weights,
                                  const OwnRecords& test, const KeptCounts& kept) {
  EvaluationResult result{.records = plan.settings.evaluation->test.rows,
                          .threshold = plan.settings.threshold};
  auto counts = kept.counts;
  Measured(party, result, [&] {
    if (!counts) counts = NoisyCounts(party, plan, weights, test);
  });
  if (kept.before_opening) kept.before_opening(*counts);
  Measured(party, result, [&] { Open(party, plan, *counts, result); });
  return result;
}

mpc::Cost EvaluateOnSharesCost(const StepPlan& plan) {
  const mpc::Cost cost = Then(CountTestsCost(plan), protocols::ReshareCost(Values(plan)));
  return ThenUnturned(cost, protocols::RevealToEachCost(plan.settings.evaluation->to, Values(plan)));
}

}  // namespace trefoil::ml
