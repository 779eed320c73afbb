#include "ml/on_shares/best_trial.h"

#include <numeric>
#include <utility>

#include "base/error.h"
#include "dp/laws/trial_law.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/on_shares/held_out.h"
#include "ml/plan/step_privacy.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/comparison/threshold_comparison.h"
#include "protocols/functions/maximum.h"

namespace trefoil::ml {
namespace {

using mpc::AdditiveShare;
using mpc::ArithShare;
using mpc::BoolShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

constexpr int kRankWidth =
    dp::kTrialRankBits + 1;  // that differences of ranking numbers have, with their sign
constexpr int kLawWidth = dp::kTrialLawBits + 2;
constexpr int kNumberWidth = 8;  // of differences of numbers of models, at most 64
// What is added to the score of a model that competes, so that it is above the 0 of those that do not.
constexpr Word kCompetes = Word{1} << 57;
constexpr int kScoreWidth = 60;

std::uint64_t Sensitivity(int fraction_bits) { return std::uint64_t{1} << fraction_bits; }

Index PairsOf(Index models) { return models * (models - 1) / 2; }

/// Bits that no party knows: each lacks a component. The streams are those that a sharing of zero takes
/// differences of.
BoolShare RandomBits(mpc::Context& party, Index planes, Index count) {
  const auto operation = party.NextOperation();
  return {party.DrawBits(party.self(), mpc::Purpose::kZero, operation, planes, count),
          party.DrawBits(party.next(), mpc::Purpose::kZero, operation, planes, count)};
}

/// The numbers whose bits are the first `planes` rows, a column each: 1 x columns.
RingMatrix Numbers(const RingMatrix& bits, Index planes) {
  RingMatrix numbers = RingMatrix::Zero(1, bits.cols());
  for (Index k = planes - 1; k >= 0; --k) numbers = numbers * Word{2} + bits.row(k);
  return numbers;
}

ArithShare Numbers(const ArithShare& bits, Index planes) {
  return {Numbers(bits.own(), planes), Numbers(bits.next(), planes)};
}

/// x of the second of each pair of models, less x of the first: 1 x pairs.
RingMatrix Differences(const RingMatrix& x, Index models) {
  RingMatrix differences(1, PairsOf(models));
  Index pair = 0;
  for (Index first = 0; first < models; ++first) {
    for (Index second = first + 1; second < models; ++second)
      differences(0, pair++) = x(0, second) - x(0, first);
  }
  return differences;
}

/// Of each model how many others are before it, where 1 says of a pair that the second is before the first;
/// but for the public number that is in RankOffsets.
RingMatrix Ranks(const RingMatrix& second_before, Index models) {
  RingMatrix ranks = RingMatrix::Zero(1, models);
  Index pair = 0;
  for (Index first = 0; first < models; ++first) {
    for (Index second = first + 1; second < models; ++second, ++pair) {
      ranks(0, first) += second_before(0, pair);
      ranks(0, second) -= second_before(0, pair);
    }
  }
  return ranks;
}

/// Of each model how many have a smaller number: those are before it unless their pair says otherwise.
RingMatrix RankOffsets(Index models) {
  RingMatrix offsets(1, models);
  for (Index k = 0; k < models; ++k) offsets(0, k) = static_cast<Word>(k);
  return offsets;
}

void CheckWeights(const std::vector<std::int64_t>& weights) {
  const auto models = static_cast<std::int64_t>(weights.size());
  Require(models >= 2 && models <= dp::kMaxTrials &&
              std::accumulate(weights.begin(), weights.end(), std::int64_t{0}) == std::int64_t{1}
                                                                                      << dp::kTrialLawBits,
          "DrawCompeting: 2 to 64 weights that add up to 2^40");
}

/// How many compete: all, less one for each number of models below which a uniform number says they are.
ArithShare HowMany(mpc::Context& party, const ArithShare& uniform, const std::vector<std::int64_t>& weights) {
  std::vector<std::int64_t> thresholds;  // `uniform` is below the k-th where k or fewer compete
  std::int64_t sum = 0;
  for (std::size_t k = 0; k + 1 < weights.size(); ++k) thresholds.push_back(sum += weights[k]);
  const ArithShare fewer = protocols::BelowThresholds(party, uniform, thresholds, kLawWidth);
  return AddPublic(party, -RowSums(Transposed(fewer)), static_cast<Word>(weights.size()));
}

/// All models' counts for every block of test records.
AdditiveShare Counts(mpc::Context& party, const StepPlan& plan, const HeldOut& declared,
                     const std::vector<ArithShare>& models, const OwnRecords& test) {
  const int f = plan.settings.fraction_bits;
  const auto logits = [&](mpc::Context& branch, const mpc::FixedShare& x) {
    const auto count = static_cast<Index>(models.size());
    RingMatrix all(x.rows(), count * plan.columns);
    for (Index k = 0; k < count; ++k) {
      const auto one = Logits(branch, plan, x, {models[static_cast<std::size_t>(k)], f});
      all.middleCols(k * plan.columns, plan.columns) = one.part();
    }
    return AboveDecision(branch, plan, AdditiveShare(std::move(all)));
  };
  return CountHeldOut(party, plan, declared, test, logits, kClassifiedWidth);
}

}  // namespace

dp::NoisyEvaluation ScoreEvent(const StepPlan& plan, double sigma) {
  const auto sensitivity = Sensitivity(plan.settings.fraction_bits);
  (void)dp::DiscreteGaussian(CountVariance(sigma, sensitivity));
  return {.sigma = OnSigmaLattice(sigma), .party_deviation = CountDeviation(sigma, sensitivity)};
}

BoolShare DrawCompeting(mpc::Context& party, const std::vector<std::int64_t>& weights) {
  CheckWeights(weights);
  const auto models = static_cast<Index>(weights.size());
  const ArithShare bits = protocols::BitToArith(party, RandomBits(party, dp::kTrialRankBits, models + 1));
  const ArithShare ranking = Numbers(Columns(bits, 0, models), dp::kTrialRankBits);
  const ArithShare uniform = Numbers(Columns(bits, models, 1), dp::kTrialLawBits);
  const ArithShare number = HowMany(party, uniform, weights);
  const ArithShare differences(Differences(ranking.own(), models), Differences(ranking.next(), models));
  const ArithShare before =
      protocols::BitToArith(party, protocols::LessThanZero(party, differences, kRankWidth));
  const ArithShare ranks = AddPublic(
      party, ArithShare(Ranks(before.own(), models), Ranks(before.next(), models)), RankOffsets(models));
  return protocols::LessThanZero(party, ranks - Reshaped(RepeatedColumn(number, models), 1, models),
                                 kNumberWidth);
}

mpc::Cost DrawCompetingCost(Index models) {
  const mpc::Cost numbers = protocols::BitToArithCost(dp::kTrialRankBits, models + 1);
  const mpc::Cost how_many =
      protocols::BelowThresholdsCost(1, static_cast<std::size_t>(models - 1), kLawWidth);
  const mpc::Cost ranked =
      Then(protocols::MsbCost(PairsOf(models), kRankWidth), protocols::BitToArithCost(1, PairsOf(models)));
  return Then(Then(Then(numbers, how_many), ranked), protocols::MsbCost(models, kNumberWidth));
}

ArithShare ChooseCompeting(mpc::Context& party, const std::vector<ArithShare>& models,
                           const ArithShare& scores, const BoolShare& competing) {
  const ArithShare masked =
      protocols::BitTimes(party, competing, Transposed(AddPublic(party, scores, kCompetes)));
  const ArithShare best = protocols::RowArgMax(party, masked, kScoreWidth);  // 1 x models
  ArithShare all = Reshaped(models.front(), 1, models.front().size());
  for (std::size_t k = 1; k < models.size(); ++k)
    all = Stacked(all, Reshaped(models[k], 1, models[k].size()));
  return Reshaped(protocols::MatMul(party, best, all), models.front().rows(), models.front().cols());
}

mpc::Cost ChooseCompetingCost(Index models, Index parameters) {
  return Then(Then(protocols::BitTimesCost(models), protocols::RowArgMaxCost(1, models, kScoreWidth)),
              protocols::MatMulCost(1, parameters));
}

ArithShare BestTrial(mpc::Context& party, const StepPlan& plan, const TrialSelection& selection,
                     const std::vector<ArithShare>& models, const OwnRecords& test, RandomStream stream) {
  const auto count = static_cast<Index>(models.size());
  Require(models.size() == selection.weights.size(), "BestTrial: a weight a model");
  const BoolShare competing = DrawCompeting(party, selection.weights);
  const AdditiveShare counts = Counts(party, plan, selection.test, models, test);
  const StepNoise noise =
      CountNoise(std::move(stream), selection.sigma, Sensitivity(plan.settings.fraction_bits), count);
  const ArithShare scores = protocols::Reshare(party, AddNoise(counts, noise.values()));
  return ChooseCompeting(party, models, scores, competing);
}

mpc::Cost BestTrialCost(const StepPlan& plan, const TrialSelection& selection) {
  const auto models = static_cast<Index>(selection.weights.size());
  const auto logits = [&](Index rows) {
    mpc::Cost cost;
    for (Index k = 0; k < models; ++k) cost = Then(cost, LogitsCost(plan, rows));
    return cost;
  };
  const mpc::Cost counted =
      CountHeldOutCost(DrawCompetingCost(models), plan, selection.test, models, logits, kClassifiedWidth);
  return Then(Then(counted, protocols::ReshareCost(models)),
              ChooseCompetingCost(models, ShapeOfWeights(plan).weights()));
}

}  // namespace trefoil::ml
