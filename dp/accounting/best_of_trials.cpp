#include "dp/accounting/best_of_trials.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "dp/accounting/accountant.h"
#include "dp/accounting/infinity.h"
#include "dp/accounting/rdp.h"
#include "dp/mechanisms/rounding.h"

namespace trefoil::dp {
namespace {

/// 1 - q lies between neighbours of 0, the least of these and, by this ratio, 1.
constexpr double kLeast = 1e-12;
constexpr double kRatio = 1.002;
/// More than logarithms of sums of 64 terms are rounded by.
constexpr double kLogError = 1e-12;

/// The law of K.
class Law {
 public:
  explicit Law(std::span<const std::int64_t> weights) {
    const auto sum = static_cast<double>(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}));
    for (const std::int64_t weight : weights) mass_.push_back(static_cast<double>(weight) / sum);
    for (std::size_t n = 0; n < mass_.size(); ++n) at_.push_back(AtWhole(n));
  }

  /// log N(q), rounded up.
  [[nodiscard]] double LogAbove(double q) const {
    double sum = 0;
    for (std::size_t k = mass_.size(); k > 0; --k) sum = sum * q + static_cast<double>(k) * mass_[k - 1];
    return std::log(sum) + kLogError;
  }

  /// log D(q), rounded down.
  [[nodiscard]] double LogBelow(double q) const {
    const auto last = at_.size() - 1;
    const double n = q * static_cast<double>(last);
    const auto whole = std::min(static_cast<std::size_t>(n), last);
    const double part = n - static_cast<double>(whole);
    const double above = whole < last ? at_[whole + 1] : at_[whole];
    return std::log(at_[whole] * (1 - part) + above * part) - kLogError;
  }

 private:
  /// E[K C(n, K - 1) / C(M - 1, K - 1)]: of n trials out of M - 1 all K - 1 are taken.
  [[nodiscard]] double AtWhole(std::size_t n) const {
    double sum = 0;
    double share = 1;  // C(n, k) / C(M - 1, k)
    for (std::size_t k = 0; k <= n; ++k) {
      sum += static_cast<double>(k + 1) * mass_[k] * share;
      share *= static_cast<double>(n - k) / std::max(1.0, static_cast<double>(mass_.size() - 1 - k));
    }
    return sum;
  }

  std::vector<double> mass_;  ///< of K = 1, 2, ...
  std::vector<double> at_;    ///< D at n = 0, 1, ...
};

/// The least probability under a neighbour of what has probability 1 - x, at least; it falls with x. From
///     q^a q'^(1 - a) <= exp((a - 1) r)  and  (1 - q')^a (1 - q)^(1 - a) <= exp((a - 1) r)
/// at each order a, r being the curve there.
double LeastUnderNeighbour(double x, std::span<const double> orders, std::span<const double> trial) {
  const double log_q = std::log1p(-x);
  const double log_x = std::log(x);
  double log_least = -kInfinity;
  double log_rest = 0;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double ratio = orders[i] / (orders[i] - 1);
    log_least = std::max(log_least, ratio * log_q - trial[i]);
    log_rest = std::min(log_rest, (log_x + trial[i]) / ratio);
  }
  const double least = std::max(std::exp(log_least), -std::expm1(log_rest));
  return std::clamp(least - kLogError * (1 - least), 0.0, 1.0);
}

/// Of intervals of q: the greatest log N and the least log D in each.
struct Intervals {
  std::vector<double> above;
  std::vector<double> below;
};

Intervals MakeIntervals(const Law& law, std::span<const double> orders, std::span<const double> trial) {
  Intervals intervals;
  double low = 0;  // of 1 - q
  for (double high = kLeast; low < 1; high = std::min(1.0, high * kRatio)) {
    intervals.above.push_back(law.LogAbove(1 - low));
    intervals.below.push_back(law.LogBelow(LeastUnderNeighbour(high, orders, trial)));
    low = high;
  }
  return intervals;
}

double AtOrder(double order, double trial, const Intervals& intervals) {
  double log_sup = -kInfinity;
  for (std::size_t i = 0; i < intervals.above.size(); ++i)
    log_sup = std::max(log_sup, order * intervals.above[i] - (order - 1) * intervals.below[i]);
  return std::max(0.0, trial + log_sup / (order - 1)) * (1 + kClosedFormError);
}

/// Those of `orders` first, then the default ones: more of them tell more about what q allows.
std::vector<double> WithDefaults(std::span<const double> orders) {
  std::vector<double> all(orders.begin(), orders.end());
  const auto defaults = DefaultRdpOrders();
  std::copy_if(defaults.begin(), defaults.end(), std::back_inserter(all),
               [&](double order) { return std::find(orders.begin(), orders.end(), order) == orders.end(); });
  return all;
}

}  // namespace

std::vector<double> BestOfTrialsRdp(std::span<const std::int64_t> weights, std::span<const double> orders,
                                    std::span<const double> trial) {
  const auto intervals = MakeIntervals(Law(weights), orders, trial);
  std::vector<double> curve;
  for (std::size_t i = 0; i < orders.size(); ++i) curve.push_back(AtOrder(orders[i], trial[i], intervals));
  return curve;
}

std::vector<double> CurveOfTrials(const BestOfTrials& event, std::span<const double> orders) {
  const auto all = WithDefaults(orders);
  std::vector<double> greatest(all.size(), 0.0);
  std::vector<double> sum(all.size(), 0.0);
  for (const auto& alike : event.trials) {
    RdpAccountant one(all);
    one.Add(alike.each);
    for (std::size_t i = 0; i < all.size(); ++i) {
      greatest[i] = std::max(greatest[i], one.rdp()[i]);
      sum[i] = SumAbove(sum[i], static_cast<double>(alike.count), one.rdp()[i]);
    }
  }
  auto curve = BestOfTrialsRdp(event.weights, all, greatest);
  curve.resize(orders.size());
  for (std::size_t i = 0; i < curve.size(); ++i) curve[i] = std::min(curve[i], sum[i]);
  return curve;
}

}  // namespace trefoil::dp
