#include "dp/pate/pate.h"

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <cmath>

#include "base/error.h"
#include "dp/accounting/infinity.h"
#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

constexpr double kErfcUnderflows = 20;

double LogAdd(double a, double b) {
  const double high = std::max(a, b);
  if (high == -kInfinity) return high;
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

/// log(1 - e^x) for x < 0.
double LogOneMinusExp(double x) { return x > -0.7 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x)); }

/// log erfc(x), not above it.
double LogErfcBelow(double x) {
  return LogErfc(x) + (x < kErfcUnderflows ? 0.0 : std::log1p(-1 / (2 * x * x)));
}

/// The log-odds of a normal number being below x, not below them and not above.
double LogOddsAbove(double x) { return LogErfc(-x / std::sqrt(2.0)) - LogErfcBelow(x / std::sqrt(2.0)); }
double LogOddsBelow(double x) { return LogErfcBelow(-x / std::sqrt(2.0)) - LogErfc(x / std::sqrt(2.0)); }

void CheckNoise(double noise, const char* name) {
  CheckParameter(noise > 0 && std::isfinite(noise), name, noise, "a number above 0");
}

void CheckOrder(double order) {
  CheckParameter(order > 1 && std::isfinite(order), "order", order, "a number above 1");
}

/// The sum over all classes but the first with the most votes of exp(log_term(how many votes it is behind)).
template <typename LogTerm>
double LogSumOfOthers(std::span<const std::int64_t> counts, LogTerm log_term) {
  Require(!counts.empty() && std::all_of(counts.begin(), counts.end(), [](auto count) { return count >= 0; }),
          "votes: at least one class, and no negative count");
  const auto winner = std::max_element(counts.begin(), counts.end());
  double sum = -kInfinity;
  for (auto count = counts.begin(); count != counts.end(); ++count) {
    if (count != winner) sum = LogAdd(sum, log_term(static_cast<double>(*winner - *count)));
  }
  // Somebody wins: the first with probability 1 / classes at least.
  return std::min(sum, std::log1p(-1 / static_cast<double>(counts.size())));
}

/// Bound 5 at mu_2 = sigma sqrt(-log q), mu_1 = mu_2 + 1; infinity where it does not hold.
double ConcentratedRdp(double log_q, double sigma, double order) {
  const double variance = sigma * sigma;
  const double mu2 = sigma * std::sqrt(-log_q);
  const double mu1 = mu2 + 1;
  if (mu2 <= 1 || order > mu1) return kInfinity;
  const double epsilon1 = mu1 / variance;
  const double epsilon2 = mu2 / variance;
  const double largest_log_q =
      (mu2 - 1) * epsilon2 - mu2 * (std::log(mu1 / (mu1 - 1)) + std::log(mu2 / (mu2 - 1)));
  if (log_q > largest_log_q || log_q + epsilon2 >= 0) return kInfinity;
  const double log_rest = LogOneMinusExp(log_q);
  const double log_a = log_rest - LogOneMinusExp((log_q + epsilon2) * (mu2 - 1) / mu2);
  const double log_b = epsilon1 - log_q / (mu1 - 1);
  return LogAdd(log_rest + (order - 1) * log_a, log_q + (order - 1) * log_b) / (order - 1);
}

}  // namespace

double LogErfc(double x) {
  if (x < kErfcUnderflows) return std::log(std::erfc(x));
  return -x * x - std::log(x * std::sqrt(boost::math::constants::pi<double>()));
}

double AnswerLogQ(std::span<const std::int64_t> counts, const AnswerNoise& noise) {
  CheckNoise(noise.size, noise.law == VoteNoise::kLaplace ? "Laplace scale" : "sigma");
  return LogSumOfOthers(counts, [&](double gap) { return BehindLogQ(gap, noise); });
}

double BehindLogQ(double gap, const AnswerNoise& noise) {
  const double scaled = gap / noise.size;
  return noise.law == VoteNoise::kLaplace ? std::log((2 + scaled) / 4) - scaled
                                          : LogErfc(scaled / 2) - std::log(2.0);
}

ThresholdLaw NoisyThreshold(std::span<const std::int64_t> counts, double threshold, double sigma) {
  CheckNoise(sigma, "sigma of the threshold");
  Require(!counts.empty(), "votes: at least one class");
  const double most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  const double away = (threshold - most) / (sigma * std::sqrt(2.0));
  const double log_answered = LogErfc(away) - std::log(2.0);
  return {.log_answered = log_answered, .log_q = LogErfc(std::abs(away)) - std::log(2.0)};
}

double TiltedLogOdds(std::span<const std::int64_t> counts, double threshold, double sigma, double order) {
  CheckNoise(sigma, "sigma of the threshold");
  CheckOrder(order);
  Require(!counts.empty(), "votes: at least one class");
  const double most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  // The odds of the tilted law grow with the first count and fall with the second: the farthest neighbours
  // are one vote away, fewer behind these votes and more before them.
  const auto tilted = [&](double first, double second) {
    return order * LogOddsAbove((first - threshold) / sigma) -
           (order - 1) * LogOddsBelow((second - threshold) / sigma);
  };
  return std::max(tilted(most, most - 1), tilted(most + 1, most));
}

double AnsweredRdp(double log_odds, double answer, double order) {
  CheckOrder(order);
  if (log_odds == kInfinity) return answer;
  const double log_p = -LogAdd(0, -log_odds);
  const double grown = (order - 1) * answer;
  if (grown < 1) return std::log1p(std::exp(log_p) * std::expm1(grown)) / (order - 1);
  return std::min(answer, LogAdd(-LogAdd(0, log_odds), log_p + grown) / (order - 1));
}

double LnMaxRdp(double log_q, double scale, double order) {
  CheckNoise(scale, "Laplace scale");
  CheckOrder(order);
  Require(log_q <= 0, "LnMaxRdp: a probability");
  const double pure = 2 / scale;
  const double independent = std::min(order * pure * pure / 2, pure);
  if (log_q == -kInfinity) return 0;
  if (log_q >= -std::log1p(std::exp(pure))) return independent;
  const double log_rest = LogOneMinusExp(log_q);
  const double one = log_rest + (order - 1) * (log_rest - LogOneMinusExp(pure + log_q));
  const double other = log_q + pure * (order - 1);
  return std::min(independent, LogAdd(one, other) / (order - 1));
}

double GnMaxRdp(double log_q, double sigma, double order) {
  CheckNoise(sigma, "sigma");
  CheckOrder(order);
  Require(log_q <= 0, "GnMaxRdp: a probability");
  if (log_q == -kInfinity) return 0;
  return std::max(0.0, std::min(order / (sigma * sigma), ConcentratedRdp(log_q, sigma, order)));
}

double AnswerRdp(double log_q, const AnswerNoise& noise, double order) {
  return noise.law == VoteNoise::kLaplace ? LnMaxRdp(log_q, noise.size, order)
                                          : GnMaxRdp(log_q, noise.size, order);
}

double NoisyThresholdRdp(double log_q, double sigma, double order) {
  return GnMaxRdp(log_q, std::sqrt(2.0) * sigma, order);
}

std::vector<double> PateOrders() {
  std::vector<double> orders;
  for (int twice = 4; twice <= 201; ++twice) orders.push_back(twice / 2.0);
  for (int k = 0; k < 200; ++k) orders.push_back(100 * std::pow(10.0, k / 199.0));
  return orders;
}

}  // namespace trefoil::dp
