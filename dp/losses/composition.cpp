#include "dp/losses/composition.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <functional>

#include "base/error.h"
#include "base/fft.h"
#include "dp/accounting/infinity.h"

namespace trefoil::dp {
namespace {

/// Tilted mass that may lie on either side of the window: about this much.
constexpr double kLogOutside = 25;

/// Losses with the logarithms of their masses.
struct LogLaw {
  std::vector<double> loss;
  std::vector<double> log_mass;
};

/// log E[exp(lambda loss)].
double LogMoment(const LogLaw& law, double lambda) {
  double largest = -kInfinity;
  for (std::size_t i = 0; i < law.loss.size(); ++i)
    largest = std::max(largest, law.log_mass[i] + lambda * law.loss[i]);
  double sum = 0;
  for (std::size_t i = 0; i < law.loss.size(); ++i)
    sum += std::exp(law.log_mass[i] + lambda * law.loss[i] - largest);
  return largest + std::log(sum);
}

/// The law, or one of a few thousand points that is near it.
LogLaw Summary(const GridLaw& law) {
  constexpr std::size_t kPoints = 4096;
  const std::size_t step = law.mass.size() / kPoints + 1;
  LogLaw summary;
  for (std::size_t begin = 0; begin < law.mass.size(); begin += step) {
    double mass = 0;
    double moment = 0;
    for (std::size_t i = begin; i < std::min(begin + step, law.mass.size()); ++i) {
      mass += law.mass[i];
      moment += law.mass[i] * law.LossAt(i);
    }
    if (!(mass > 0)) continue;
    summary.loss.push_back(moment / mass);
    summary.log_mass.push_back(std::log(mass));
  }
  return summary;
}

LogLaw Whole(const GridLaw& law) {
  LogLaw whole;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    if (!(law.mass[i] > 0)) continue;
    whole.loss.push_back(law.LossAt(i));
    whole.log_mass.push_back(std::log(law.mass[i]));
  }
  return whole;
}

struct Counted {
  LogLaw law;
  double count;
};

/// log E[exp(lambda sum)].
double LogMomentOfSum(const std::vector<Counted>& laws, double lambda) {
  double sum = 0;
  for (const auto& one : laws) sum += one.count * LogMoment(one.law, lambda);
  return sum;
}

/// The argument, of a geometric sequence, that makes `value` least. Pre: `value` falls up to there, and rises
/// from there on.
double Min(double from, double to, double factor, const std::function<double(double)>& value) {
  double best = from;
  double least = kInfinity;
  for (double x = from; x <= to; x *= factor) {
    const double at = value(x);
    if (at > least) break;
    if (at < least) {
      least = at;
      best = x;
    }
  }
  return best;
}

/// log of max over x > 0 of exp(-lambda x) (1 - exp(-x)).
double LogLargestGain(double lambda) { return lambda * std::log(lambda) - (1 + lambda) * std::log1p(lambda); }

/// (k mod size) for any k.
std::size_t Wrap(std::int64_t k, std::size_t size) {
  const auto n = static_cast<std::int64_t>(size);
  return static_cast<std::size_t>(((k % n) + n) % n);
}

/// An end of the window: beyond it is tilted mass of at most `outside`, by Chernoff's bound.
struct Side {
  double end = 0;
  double outside = 0;
};

/// `direction` is 1 for the upper end and -1 for the lower one; `extreme` is the sum's own on that side, and
/// `moment` its log E[exp(lambda sum)]. The summaries serve to find a good theta only.
Side FindSide(const std::vector<Counted>& summaries, const std::vector<Counted>& wholes, double lambda,
              double moment, double direction, double extreme) {
  const double at = LogMomentOfSum(summaries, lambda);
  const auto reach = [&](double theta) {
    return (LogMomentOfSum(summaries, lambda + direction * theta) - at + kLogOutside) / theta;
  };
  double theta = Min(1e-3, 1e6, 2, reach);
  theta = Min(theta / 2, theta * 2, 1.1, reach);
  const double end =
      direction * (LogMomentOfSum(wholes, lambda + direction * theta) - moment + kLogOutside) / theta;
  if (!(direction * end < direction * extreme)) return {extreme, 0};
  return {end, std::exp(-kLogOutside)};
}

}  // namespace

Tilt ChooseTilt(const std::vector<Part>& parts, double delta) {
  std::vector<Counted> laws;
  for (const auto& part : parts) laws.push_back({Summary(part.law), part.count});
  const auto epsilon = [&](double lambda) {
    return (LogMomentOfSum(laws, lambda) - std::log(delta) + LogLargestGain(lambda)) / lambda;
  };
  double lambda = Min(1e-3, 1e6, 2, epsilon);
  lambda = Min(lambda / 2, lambda * 2, 1.05, epsilon);
  return {lambda, epsilon(lambda)};
}

Composition::Composition(const std::vector<Part>& parts, double lambda)
    : width_(parts.at(0).law.width), lambda_(lambda) {
  std::vector<Counted> summaries;
  std::vector<Counted> wholes;
  double least = 0;
  double most = 0;
  for (const auto& part : parts) {
    Require(part.law.width == width_ && part.count >= 1, "Composition: one width, counts from 1");
    summaries.push_back({Summary(part.law), part.count});
    wholes.push_back({Whole(part.law), part.count});
    releases_ += part.count;
    infinite_ += part.count * part.law.infinite;
    least += part.count * part.law.LossAt(0);
    most += part.count * part.law.LossAt(part.law.mass.size() - 1);
    log_moments_.push_back(LogMoment(wholes.back().law, lambda));
    log_moment_ += part.count * log_moments_.back();
  }
  Require(lambda > 0 && releases_ <= 1e9, "Composition: a tilt above 0, at most 1e9 releases");
  const Side above = FindSide(summaries, wholes, lambda, log_moment_, 1, most);
  const Side below = FindSide(summaries, wholes, lambda, log_moment_, -1, least);
  outside_ = above.outside + below.outside;
  fits_ = (above.end - below.end) / width_ < kMaxPoints - 4;
  if (!fits_) return;
  first_ = static_cast<std::int64_t>(std::floor(below.end / width_)) - 1;
  last_ = static_cast<std::int64_t>(std::ceil(above.end / width_)) + 1;
  Compose(parts);
}

void Composition::Compose(const std::vector<Part>& parts) {
  const auto size = std::bit_ceil(static_cast<std::size_t>(last_ - first_ + 1));
  const Fourier fourier(size);
  const double unit = FourierError(size);
  std::vector<std::complex<double>> logs(size / 2 + 1);
  std::vector<double> largest_logs(size / 2 + 1);  // of powers, where transforms have their largest errors
  std::vector<double> sensitivity(size / 2 + 1);   // of powers to these errors, relative
  std::int64_t shift = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const GridLaw& law = parts[k].law;
    std::vector<double> tilted(law.mass.size());
    double mean = 0;
    for (std::size_t i = 0; i < tilted.size(); ++i) {
      if (law.mass[i] > 0)
        tilted[i] = std::exp(std::log(law.mass[i]) + lambda_ * law.LossAt(i) - log_moments_[k]);
      mean += tilted[i] * static_cast<double>(i);
    }
    // Transforms turn slowly where they are large if the law is centred, so that their powers keep their
    // digits.
    const auto centre = static_cast<std::int64_t>(std::llround(mean));
    shift += static_cast<std::int64_t>(parts[k].count) * (law.first + centre);
    std::vector<double> folded(size);
    for (std::size_t i = 0; i < tilted.size(); ++i)
      folded[Wrap(static_cast<std::int64_t>(i) - centre, size)] += tilted[i];
    const auto transform = fourier.Forward(folded);
    for (std::size_t i = 0; i < transform.size(); ++i) {
      logs[i] += parts[k].count * std::log(transform[i]);
      const double largest = std::abs(transform[i]) + 2 * unit;
      largest_logs[i] += parts[k].count * std::log(largest);
      sensitivity[i] += parts[k].count / largest;
    }
  }
  double squares = 0;
  double magnitudes = 0;
  std::vector<std::complex<double>> powers(logs.size());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double weight = i == 0 || i + 1 == logs.size() ? 1 : 2;  // its conjugate
    const double error = unit * sensitivity[i] * std::exp(largest_logs[i]);
    powers[i] = std::exp(logs[i]);
    squares += weight * error * error;
    magnitudes += weight * std::abs(powers[i]);
  }
  // The root of a sum of squares of N errors bounds the sum of their transforms, of which each is divided by
  // N.
  error_ = std::sqrt(squares) + unit * magnitudes;
  const auto values = fourier.Inverse(std::move(powers));
  for (std::int64_t point = first_; point <= last_; ++point)
    tilted_.push_back(values[Wrap(point - shift, size)]);
}

double Composition::Crossing(double delta, double sign, double infinite) const {
  const double log_gain = LogLargestGain(lambda_);
  const double error = error_ + outside_;
  const auto charge_at = [&](double loss) {
    return sign * error * std::exp(log_moment_ - lambda_ * loss + log_gain) + infinite;
  };
  double above = 0;       // of the losses above: their mass
  double discounted = 0;  // and the same times exp(point - loss)
  for (std::int64_t point = last_; point >= first_; --point) {
    const double loss = static_cast<double>(point) * width_;
    const double charge = charge_at(loss);
    if (above - discounted + charge > delta) {
      const double step = discounted > 0 ? std::log((above + charge - delta) / discounted) : width_;
      return std::max(0.0, loss + std::clamp(step, 0.0, width_));
    }
    if (loss < 0) return 0;
    const double mass = tilted_[static_cast<std::size_t>(point - first_)];
    const double weighted = mass * std::exp(log_moment_ - lambda_ * loss);
    above += weighted;
    discounted = (discounted + weighted) * std::exp(-width_);
  }
  return sign > 0 ? std::max(0.0, static_cast<double>(first_) * width_) : 0.0;
}

double Composition::EpsilonAbove(double delta) const {
  Require(fits_, "Composition: a wider grid");
  if (!(infinite_ < delta)) return kInfinity;
  // Beyond the window there is no more than what is outside of it.
  const double beyond =
      (log_moment_ + LogLargestGain(lambda_) + std::log((error_ + outside_) / (delta - infinite_))) / lambda_;
  if (beyond > static_cast<double>(last_) * width_) return beyond;
  return Crossing(delta, 1, infinite_);
}

double Composition::EpsilonBelow(double delta) const {
  Require(fits_, "Composition: a wider grid");
  return Crossing(delta, -1, 0);
}

}  // namespace trefoil::dp
