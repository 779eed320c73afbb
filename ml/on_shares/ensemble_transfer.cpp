#include "ml/on_shares/ensemble_transfer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "base/ceil_log2.h"
#include "base/error.h"
#include "ml/plan/settings.h"
#include "mpc/simd/kernels.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/comparison/threshold_comparison.h"

namespace trefoil::ml {
namespace {

using mpc::AdditiveShare;
using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

constexpr int kCoefficientBits = 28;  // of a series
constexpr int kGridPoints = 1 << 16;
// Of the slopes. What their sums are off is charged with the gap, for every owner's sensitivity again.
constexpr protocols::SigmoidOptions kSlopes{.words = protocols::SeriesWords::kWhole};
constexpr int kUpdateBits = 61;  // an update before its truncation stays below 2^61
constexpr int kMostShift = 62;   // of a truncation

struct Slopes {
  double least = 0;
  double most = 0;
};

double Frequency(const protocols::SigmoidSeries& series, std::size_t term) {
  return 2 * std::numbers::pi * (2.0 * static_cast<double>(term) + 1) / std::ldexp(1.0, series.log2_period);
}

double Coefficient(const protocols::SigmoidSeries& series, std::size_t term) {
  return std::ldexp(static_cast<double>(series.coefficients[term]), -kCoefficientBits);
}

double SlopeAt(const protocols::SigmoidSeries& series, double x) {
  double slope = 0;
  for (std::size_t j = 0; j < series.coefficients.size(); ++j)
    slope += Coefficient(series, j) * Frequency(series, j) * std::cos(Frequency(series, j) * x);
  return slope;
}

/// Bounds of the slope on |x| <= reach: its values on a grid, and what its own slope may add between them.
Slopes SlopesOf(const protocols::SigmoidSeries& series, double reach) {
  double curvature = 0;
  for (std::size_t j = 0; j < series.coefficients.size(); ++j)
    curvature += std::abs(Coefficient(series, j)) * std::pow(Frequency(series, j), 2);
  Slopes slopes{.least = SlopeAt(series, 0), .most = SlopeAt(series, 0)};
  const double step = reach / kGridPoints;
  for (int k = 1; k <= kGridPoints; ++k) {
    const double slope = SlopeAt(series, k * step);
    slopes.least = std::min(slopes.least, slope);
    slopes.most = std::max(slopes.most, slope);
  }
  return {.least = slopes.least - curvature * step, .most = slopes.most + curvature * step};
}

template <typename Found>
[[noreturn]] void Refuse(const char* key, Found found, const char* expected) {
  std::ostringstream text;
  text << key << ": found " << found << ", expected " << expected;
  throw ConfigError(text.str());
}

double RowBound(const TransferSettings& settings) {
  return std::sqrt(settings.row_norm * settings.row_norm + 1);
}

/// The step's integers: a as large as the ring lets it be and contraction allows, b and c in proportion to
/// it.
void ChooseIntegers(TransferPlan& plan, double smoothness) {
  const auto& s = plan.settings;
  const double bound = RowBound(s);
  const double wanted = 1 / smoothness;  // the step's length
  // |a Xᵀf| + |b w| + |c Xᵀv| is at most 3 (1 + excess) times the step's length, L and 2^(shift + f).
  // A smaller shift makes all of it smaller.
  plan.shift = std::min(
      kMostShift, kUpdateBits - s.fraction_bits - CeilLog2(3 * (1 + plan.series->excess) * wanted * bound));
  const double one = std::ldexp(1.0, plan.shift);
  const double a = std::floor(wanted / static_cast<double>(s.rows) * std::ldexp(one, -s.fraction_bits));
  if (!(plan.shift >= 1 && a >= 1))
    Refuse("fraction_bits", s.fraction_bits, "fewer: a step on so many rows would have no bits left");
  const double length = a * static_cast<double>(s.rows) * std::ldexp(1.0, s.fraction_bits) / one;
  plan.a = static_cast<std::uint64_t>(a);
  plan.b = static_cast<std::uint64_t>(std::llround(length * s.lambda * one));
  plan.c = static_cast<std::uint64_t>(
      std::llround(std::ldexp(a, s.fraction_bits) / static_cast<double>(s.owners)));
  if (plan.b == 0 || plan.c == 0)
    Refuse("ensemble.lambda", s.lambda, "a larger one, or more fraction_bits: a step has no bits for it");
}

/// The bounds of what the integers really do.
void Certify(TransferPlan& plan, const Slopes& slopes) {
  const auto& s = plan.settings;
  const double bound = RowBound(s);
  const double unit = std::ldexp(1.0, -s.fraction_bits);
  const double one = std::ldexp(1.0, plan.shift);
  const double rows = static_cast<double>(s.rows);
  const double length =
      static_cast<double>(plan.a) * rows / one / unit;           // of a step, in front of the mean risk
  const double decay = static_cast<double>(plan.b) / one;        // length * lambda
  const double vote = static_cast<double>(plan.c) * rows / one;  // of one owner's votes in a step, over L
  const double convexity = decay + length * std::min(0.0, slopes.least) * bound * bound;
  const double smoothness = decay + length * slopes.most * bound * bound;
  if (!(convexity > 0 && smoothness < 1))
    Refuse("ensemble.lambda", s.lambda, "a larger one: the sigmoid's series falls too steeply for it");
  const double wrong = std::sqrt(static_cast<double>(plan.weights())) * unit +
                       length * bound * (unit + protocols::EvaluationError(kSlopes.words));
  if (!((length * (1 + plan.series->excess) * bound + wrong) / decay <= plan.largest_weight))
    Refuse("fraction_bits", s.fraction_bits,
           "more, or a smaller ensemble.lambda: roundings could carry the weights away");
  // Of an owner's votes for all rows; all of them where they decide the majority.
  const double moved = vote * bound * (s.majority ? static_cast<double>(s.owners) : 1);
  plan.shift_of_owner = moved / convexity;
  plan.gap = std::pow(1 - convexity, s.steps) * plan.largest_weight + wrong / convexity;
  const double units = (plan.shift_of_owner + 2 * plan.gap) / unit * (1 + 1e-9) + 1;
  if (!(units < 0x1p40)) Refuse("ensemble.steps", s.steps, "more of them, or a larger ensemble.lambda");
  plan.sensitivity = static_cast<std::uint64_t>(std::ceil(units));
}

RingMatrix PublicProduct(mpc::Context& party, const RingMatrix& x, const RingMatrix& part) {
  return mpc::MatrixProduct(party.pool(), x, part);
}

/// Of comparing twice the votes of so many owners with their number.
int MajorityWidth(std::int64_t owners) { return CeilLog2(static_cast<double>(2 * owners + 2)) + 2; }

/// Votes for class 1, all owners', or `owners` where they are the majority.
ArithShare Labels(mpc::Context& party, const TransferPlan& plan, const RingMatrix& votes) {
  ArithShare sum = protocols::InputSum(party, votes);
  if (!plan.settings.majority) return sum;
  const auto owners = plan.settings.owners;
  const ArithShare below =
      protocols::BelowThresholds(party, Word{2} * sum, {owners + 1}, MajorityWidth(owners));
  const ArithShare above = AddPublic(party, -Transposed(below), Word{1});
  return static_cast<Word>(owners) * above;
}

}  // namespace

TransferPlan MakeTransferPlan(const TransferSettings& settings) {
  Require(settings.owners >= 1 && settings.rows >= 1 && settings.features >= 1 && settings.steps >= 1 &&
              settings.lambda > 0 && settings.row_norm > 0,
          "MakeTransferPlan: positive settings");
  CheckRowUnits("ensemble.row_norm", settings.row_norm, settings.fraction_bits);
  TransferPlan plan;
  plan.settings = settings;
  const double bound = RowBound(settings);
  // At every iterate, and at the minimiser, lambda w is a mean of terms of norm (1 + excess) L; a little more
  // for the integers' rounding.
  constexpr double kRoom = 1.1;
  const double reach = kRoom * bound * bound / settings.lambda;
  if (!(reach <= 64)) Refuse("ensemble.lambda", settings.lambda, "a larger one: logits could be beyond 64");
  plan.series = &protocols::SigmoidSeriesFor(reach);
  plan.largest_weight = kRoom * bound / settings.lambda;
  const Slopes slopes = SlopesOf(*plan.series, reach);
  ChooseIntegers(plan, settings.lambda + slopes.most * bound * bound);
  Certify(plan, slopes);
  return plan;
}

RingMatrix EncodeTransferRows(const TransferPlan& plan, const Eigen::Ref<const Eigen::MatrixXd>& rows) {
  const auto& s = plan.settings;
  Require(rows.rows() == s.rows && rows.cols() == s.features, "EncodeTransferRows: rows x features");
  RingMatrix encoded(s.rows, plan.weights());
  for (Index i = 0; i < encoded.rows(); ++i) {
    const double norm = rows.row(i).norm();
    // Less by more than double precision rounds, so that no lattice row is longer than row_norm.
    const double scale = norm > s.row_norm ? s.row_norm / norm * (1 - 0x1p-50) : 1;
    for (Index k = 0; k < rows.cols(); ++k)
      encoded(i, k) = static_cast<Word>(
          static_cast<std::int64_t>(std::trunc(std::ldexp(scale * rows(i, k), s.fraction_bits))));
    encoded(i, s.features) = Word{1} << s.fraction_bits;
  }
  return encoded;
}

mpc::FixedShare MinimiseTransferRisk(mpc::Context& party, const TransferPlan& plan, const RingMatrix& x,
                                     const RingMatrix& votes) {
  const auto& s = plan.settings;
  Require(x.rows() == s.rows && x.cols() == plan.weights() && votes.rows() == s.rows && votes.cols() == 1,
          "MinimiseTransferRisk: rows, and a vote for each");
  const RingMatrix transposed = x.transpose();
  const RingMatrix labels = PublicProduct(party, transposed, ToAdditive(Labels(party, plan, votes)).part());
  const AdditiveShare pull(RingMatrix(mpc::Word{0} - plan.c * labels));
  ArithShare weights = ArithShare::Zero(plan.weights(), 1);
  for (int step = 0; step < s.steps; ++step) {
    const AdditiveShare own = ToAdditive(weights);
    const AdditiveShare logits(PublicProduct(party, x, own.part()));
    const mpc::FixedShare slopes = protocols::SigmoidOfProduct(party, logits, 2 * s.fraction_bits,
                                                               s.fraction_bits, *plan.series, kSlopes);
    const AdditiveShare sum(PublicProduct(party, transposed, ToAdditive(slopes.ring()).part()));
    weights = weights - protocols::Truncate(party, plan.a * sum + plan.b * own + pull, plan.shift);
  }
  return {weights, s.fraction_bits};
}

mpc::Cost TransferLabelsCost(const TransferPlan& plan) {
  const auto& s = plan.settings;
  const mpc::Cost votes = protocols::InputSumCost(s.rows);
  if (!s.majority) return votes;
  return Then(votes, protocols::BelowThresholdsCost(s.rows, 1, MajorityWidth(s.owners)));
}

mpc::Cost TransferStepCost(const TransferPlan& plan) {
  const auto& s = plan.settings;
  return Then(
      protocols::SigmoidOfProductCost(s.rows, 2 * s.fraction_bits, s.fraction_bits, *plan.series, kSlopes),
      protocols::TruncateProductCost(plan.weights()));
}

mpc::Cost MinimiseTransferRiskCost(const TransferPlan& plan) {
  mpc::Cost cost = TransferLabelsCost(plan);
  for (int k = 0; k < plan.settings.steps; ++k) cost = Then(cost, TransferStepCost(plan));
  return cost;
}

}  // namespace trefoil::ml
