#include "dp/pate/pate_sensitivity.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "dp/mechanisms/rounding.h"
#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

constexpr std::int64_t kCells = 32;  // of the line below, in the step of one vote
// How far a window grows with each vote: a cell more than the vote, for the rounding of the cell that a query
// is in.
constexpr std::int64_t kStride = kCells + 1;
constexpr std::int64_t kMaxTeachers = 100'000;
// Roundings of a cost that does not rise.
constexpr double kSlack = 1e-9;

/// What an answer costs along the line on which a moved vote moves a query by kCells cells at most: at cell k
/// q is that of m - 1 classes 2 k / kCells votes behind the first, cut at 1 - 1/m. Towards lower cells there
/// is more doubt.
class AnswerCurve {
 public:
  AnswerCurve(const SmoothVoteSettings& settings, std::size_t classes, std::int64_t teachers)
      : noise_(settings.answer), classes_(static_cast<double>(classes)) {
    reach_ = kCells / 2 * teachers + 1;
    for (std::int64_t cell = 0; cell <= reach_ + 1; ++cell)
      costs_.push_back(AnswerRdp(LogQ(cell), noise_, settings.order));
    for (std::size_t k = 1; k < costs_.size(); ++k) {
      CheckParameter(costs_[k] <= costs_[k - 1] * (1 + kSlack) + kSlack * costs_.front(), "order",
                     settings.order, "one at which the cost of an answer does not fall with its doubt");
    }
  }

  /// The cell that a query is in.
  [[nodiscard]] std::int64_t CellOf(double log_q) const {
    std::int64_t low = 0;
    std::int64_t high = reach_;
    while (low < high) {
      const auto middle = (low + high + 1) / 2;
      if (LogQ(middle) >= log_q) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  [[nodiscard]] double At(std::int64_t cell) const {
    return costs_[static_cast<std::size_t>(std::clamp<std::int64_t>(cell, 0, reach_ + 1))];
  }

  /// By how much one step towards more doubt may raise the cost of a query in this cell. Nothing where no
  /// votes of so many teachers are: a window may end there, and all windows of that many moved votes must be
  /// one, or the bound would not be smooth.
  [[nodiscard]] double Step(std::int64_t cell) const {
    return cell > reach_ ? 0 : At(cell - kCells) - At(cell + 1);
  }

 private:
  [[nodiscard]] double LogQ(std::int64_t cell) const {
    const double gap = 2 * static_cast<double>(cell) / static_cast<double>(kCells);
    return std::min(std::log(classes_ - 1) + BehindLogQ(gap, noise_), std::log1p(-1 / classes_));
  }

  AnswerNoise noise_;
  double classes_;
  std::int64_t reach_ = 0;  ///< no query is above this cell: teachers / 2 votes, and one for rounding
  std::vector<double> costs_{};
};

/// e^x - 1 over `order` - 1, the most by which a small probability's cost grows with it: infinity where that
/// overflows.
double GrowthOf(double answer, double order) { return std::expm1((order - 1) * answer) / (order - 1); }

/// What the threshold does, by the largest count.
class ThresholdCurve {
 public:
  /// `dearest` is the most that an answer costs.
  ThresholdCurve(const SmoothVoteSettings& settings, std::int64_t teachers, double dearest) {
    for (std::int64_t most = 0; most <= teachers; ++most) {
      if (!settings.threshold) {
        log_odds_.push_back(std::numeric_limits<double>::infinity());
        costs_.push_back(0);
      } else {
        const std::int64_t counts[] = {most};
        const auto law = NoisyThreshold(counts, *settings.threshold, settings.threshold_sigma);
        log_odds_.push_back(
            TiltedLogOdds(counts, *settings.threshold, settings.threshold_sigma, settings.order));
        costs_.push_back(NoisyThresholdRdp(law.log_q, settings.threshold_sigma, settings.order));
      }
      weights_.push_back(1 / (1 + std::exp(-log_odds_.back())));
      dearest_.push_back(AnsweredRdp(log_odds_.back(), dearest, settings.order));
    }
  }

  [[nodiscard]] double LogOdds(std::int64_t most) const { return At(log_odds_, most); }
  [[nodiscard]] double Cost(std::int64_t most) const { return At(costs_, most); }
  /// What changes from this largest count to the next: the tilted probability of an answer, what the dearest
  /// answer adds, and what the threshold itself costs.
  [[nodiscard]] double WeightStep(std::int64_t most) const { return Step(weights_, most); }
  [[nodiscard]] double DearestStep(std::int64_t most) const { return Step(dearest_, most); }
  [[nodiscard]] double CostStep(std::int64_t most) const { return Step(costs_, most); }

 private:
  static double At(const std::vector<double>& values, std::int64_t most) {
    return values[static_cast<std::size_t>(
        std::clamp<std::int64_t>(most, 0, static_cast<std::int64_t>(values.size()) - 1))];
  }
  static double Step(const std::vector<double>& values, std::int64_t most) {
    return std::abs(At(values, most + 1) - At(values, most));
  }

  std::vector<double> log_odds_{};
  std::vector<double> weights_{};
  std::vector<double> dearest_{};
  std::vector<double> costs_{};
};

/// One query, and the largest steps within the votes that it has been looked at around.
struct Query {
  std::int64_t cell = 0;
  std::int64_t most = 0;  ///< the largest count
  double answer_step = 0;
  double log_odds = -std::numeric_limits<double>::infinity();  ///< the largest
  double weight_step = 0;
  double dearest_step = 0;
  double threshold_step = 0;
};

struct Curves {
  double order;
  AnswerCurve answers;
  ThresholdCurve threshold;
};

/// Widens the windows to all votes that are `distance` moved ones away, and returns by how much one more may
/// change the query's cost there. With P the tilted probability of an answer and g what it costs, AnsweredRdp
/// moves by |g' - g| times its slope in g, which is largest for the largest P and g; and by what P' for P
/// changes at g, which grows with g: so it is at most that at the dearest g of all, and, as it is concave in
/// e^((order - 1) g), at most its first slope there times |P' - P|.
double WorstStep(const Curves& curves, Query& query, std::int64_t distance) {
  const auto& [order, answers, threshold] = curves;
  const auto lowest = query.cell - 1 - kStride * distance;
  const auto highest = query.cell + 1 + kStride * (distance + 1);
  // All of the first window, then what each distance adds at its ends.
  const auto lows = distance == 0 ? highest : lowest + kStride - 1;
  for (auto cell = lowest; cell <= lows; ++cell)
    query.answer_step = std::max(query.answer_step, answers.Step(cell));
  for (auto cell = std::max(lows, highest - kStride) + 1; cell <= highest; ++cell)
    query.answer_step = std::max(query.answer_step, answers.Step(cell));
  for (const auto most : {query.most - distance - 1, query.most + distance}) {
    query.weight_step = std::max(query.weight_step, threshold.WeightStep(most));
    query.dearest_step = std::max(query.dearest_step, threshold.DearestStep(most));
    query.threshold_step = std::max(query.threshold_step, threshold.CostStep(most));
    for (const auto end : {most, most + 1}) query.log_odds = std::max(query.log_odds, threshold.LogOdds(end));
  }
  const double slope = 1 / (1 + std::exp(-query.log_odds - (order - 1) * answers.At(lowest - kStride)));
  // Weights may be too small for a double where the growth is too large for one.
  const double weight_step = std::max(query.weight_step, std::numeric_limits<double>::denorm_min());
  const double answered = std::min(query.dearest_step, weight_step * GrowthOf(answers.At(lowest), order));
  return slope * query.answer_step + answered + query.threshold_step;
}

std::int64_t TeachersOf(std::span<const std::vector<std::int64_t>> votes) {
  Require(!votes.empty() && !votes.front().empty(), "SmoothCostOfVotes: a query of a class");
  const auto sum = [](const auto& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  };
  const auto teachers = sum(votes.front());
  for (const auto& counts : votes)
    Require(counts.size() == votes.front().size() && sum(counts) == teachers,
            "SmoothCostOfVotes: as many classes and votes for every query");
  CheckParameter(teachers <= kMaxTeachers, "teachers", static_cast<double>(teachers), "at most 100000");
  return teachers;
}

}  // namespace

SmoothVoteCost SmoothCostOfVotes(std::span<const std::vector<std::int64_t>> votes,
                                 const SmoothVoteSettings& settings) {
  const auto teachers = TeachersOf(votes);
  CheckParameter(settings.beta > 0 && std::isfinite(settings.beta), "beta", settings.beta,
                 "a number above 0");
  const auto classes = votes.front().size();
  AnswerCurve answers(settings, std::max<std::size_t>(classes, 2), teachers);
  ThresholdCurve threshold(settings, teachers, answers.At(0));
  const Curves curves{
      .order = settings.order, .answers = std::move(answers), .threshold = std::move(threshold)};
  SmoothVoteCost cost;
  std::vector<Query> queries;
  for (const auto& counts : votes) {
    const double log_q = AnswerLogQ(counts, settings.answer);
    auto& query = queries.emplace_back();
    query.cell = curves.answers.CellOf(log_q);
    query.most = *std::max_element(counts.begin(), counts.end());
    cost.rdp = SumAbove(cost.rdp, 1, curves.threshold.Cost(query.most));
    cost.rdp = SumAbove(cost.rdp, 1,
                        AnsweredRdp(curves.threshold.LogOdds(query.most),
                                    AnswerRdp(log_q, settings.answer, settings.order), settings.order));
  }
  for (std::int64_t distance = 0; distance <= teachers; ++distance) {
    double step = 0;
    for (auto& query : queries) step = SumAbove(step, 1, WorstStep(curves, query, distance));
    cost.sensitivity =
        std::max(cost.sensitivity, std::exp(-settings.beta * static_cast<double>(distance)) * step);
  }
  return cost;
}

double SmoothNoiseRdp(double beta, double noise, double order) {
  CheckParameter(beta > 0 && std::isfinite(beta), "beta", beta, "a number above 0");
  CheckParameter(noise > 0 && std::isfinite(noise), "noise", noise, "a number above 0");
  CheckParameter(order > 1 && std::isfinite(order), "order", order, "a number above 1");
  // Of the laws' deviations s and r s, the divergence has (1 - order) s^2 + order (r s)^2 in its denominator.
  const auto mixed = [&](double ratio) { return 1 + order * (ratio * ratio - 1); };
  const double narrow = mixed(std::exp(-beta));
  const double wide = mixed(std::exp(beta));
  CheckParameter(narrow > 0, "beta", beta, "one with order (1 - e^(-2 beta)) below 1");
  const double by_means = order / (2 * noise * noise);
  // Means are as far apart as the narrower law's S lets them.
  const double narrower =
      by_means * std::exp(-2 * beta) / narrow - (std::log(narrow) / 2 + order * beta) / (order - 1);
  const double wider = by_means + (order * beta - std::log(wide) / 2) / (order - 1);
  return std::max(narrower, wider);
}

double OffsetOfSmoothBound(double beta, double noise, double failure) {
  CheckParameter(failure > 0 && failure < 0.5, "failure", failure, "a probability above 0, below 1/2");
  const double deviations = -boost::math::quantile(boost::math::normal(), failure);
  const double growth = deviations * noise * std::expm1(beta);
  CheckParameter(growth < 1, "beta", beta,
                 "less of it, or of the noise: there is no bound with such a failure");
  return deviations * noise / (1 - growth);
}

}  // namespace trefoil::dp
