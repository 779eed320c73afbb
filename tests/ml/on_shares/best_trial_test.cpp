#include "ml/on_shares/best_trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "base/error.h"
#include "dp/laws/trial_law.h"
#include "ml/on_shares/correct_counts.h"
#include "protocols/comparison/bit_conversion.h"
#include "tests/reference/plain_classifier.h"
#include "tests/support/fixed_key.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr std::int64_t kWhole = std::int64_t{1} << dp::kTrialLawBits;

/// The bits of so many choices, a row each.
RingMatrix Choices(Seed seed, const std::vector<std::int64_t>& weights, int draws) {
  return RunOn(
             seed, [](mpc::Context&) { return 0; },
             [&](mpc::Context& party, int) {
               ArithShare all;
               for (int draw = 0; draw < draws; ++draw) {
                 const auto one = protocols::BitToArith(party, DrawCompeting(party, weights));
                 all = draw == 0 ? one : Stacked(all, one);
               }
               return all;
             })
      .value;
}

/// Three trials, of which one competes half of the time, two and three a quarter of it each: every set has
/// its exact probability. Chi-square with six degrees of freedom is above 38.3 once in a million.
TEST(DrawCompeting, TakesEverySetOfASizeAlikeAndSizesByTheirWeights) {
  constexpr int kDraws = 1200;
  const RingMatrix choices = Choices(Seed{31}, {kWhole / 2, kWhole / 4, kWhole / 4}, kDraws);
  std::array<int, 8> counts{};
  for (Index draw = 0; draw < kDraws; ++draw) {
    ASSERT_TRUE((choices.row(draw) <= 1).all());
    ++counts.at(choices(draw, 0) + 2 * choices(draw, 1) + 4 * choices(draw, 2));
  }
  EXPECT_EQ(counts[0], 0);
  double chi_square = 0;
  for (std::size_t set = 1; set < counts.size(); ++set) {
    const int size = std::popcount(set);
    const double expected = kDraws * (size == 1 ? 1.0 / 6 : size == 2 ? 1.0 / 12 : 1.0 / 4);
    chi_square += (counts.at(set) - expected) * (counts.at(set) - expected) / expected;
  }
  EXPECT_LT(chi_square, 38.3);
}

TEST(DrawCompeting, TakesAllOrOneWhereTheLawSaysSo) {
  EXPECT_TRUE((Choices(Seed{32}, dp::TrialLaw(7, 7), 5) == 1).all());
  const RingMatrix ones = Choices(Seed{33}, {kWhole, 0, 0, 0, 0, 0, 0}, 30);
  EXPECT_TRUE((ones.rowwise().sum() == 1).all());
  EXPECT_GT((ones.colwise().sum() > 0).count(), 4);  // 30 of the same three of seven: (3/7)^30 times 35
}

TEST(DrawCompeting, HasItsDeclaredCost) {
  for (const std::int64_t models : {2, 5, 64}) {
    const Outcome outcome = RunOn(
        Seed{34}, [](mpc::Context&) { return 0; },
        [&](mpc::Context& party, int) {
          return protocols::BitToArith(party,
                                       DrawCompeting(party, dp::TrialLaw(models, 0.7 * double(models))));
        });
    EXPECT_EQ(outcome.cost, Figures(Then(DrawCompetingCost(models), protocols::BitToArithCost(1, models))));
    EXPECT_GE(outcome.value.sum(), 1);
  }
}

TEST(DrawCompeting, RefusesWeightsThatAreNoLaw) {
  const auto refused = [](const std::vector<std::int64_t>& weights) {
    EXPECT_THROW((void)Choices(Seed{35}, weights, 1), ContractError);
  };
  refused({kWhole});
  refused({kWhole, 1});
  refused({});
}

/// Of those that compete, the first of the best; scores may be negative, and one that does not compete never
/// wins.
TEST(ChooseCompeting, TakesTheBestOfThoseThatCompete) {
  struct Case {
    std::array<std::int64_t, 4> scores;
    std::array<int, 4> competing;
    int best;
  };
  for (const Case& c : {Case{{5, 9, 7, 9}, {1, 1, 1, 1}, 1}, Case{{5, 9, 7, 9}, {1, 0, 1, 1}, 3},
                        Case{{5, 9, 7, 9}, {1, 0, 1, 0}, 2}, Case{{-3, 9, 7, 9}, {1, 0, 0, 0}, 0},
                        Case{{-3, -9, -7, 0}, {0, 1, 1, 0}, 2}, Case{{0, 0, 0, 0}, {0, 0, 1, 1}, 2},
                        Case{{-(std::int64_t{1} << 38), std::int64_t{1} << 38, 0, 0}, {1, 0, 0, 0}, 0}}) {
    RingMatrix scores(4, 1);
    mpc::BitMatrix bits(1, 4);
    for (Index k = 0; k < 4; ++k) {
      scores(k, 0) = static_cast<Word>(c.scores.at(static_cast<std::size_t>(k)) << 16);
      if (c.competing.at(static_cast<std::size_t>(k)) == 1) bits.set(0, k);
    }
    const RingMatrix all = RandomSigned(6, 4 * 3, 2, 40);
    struct Inputs {
      std::vector<ArithShare> models;
      ArithShare scores;
      mpc::BoolShare competing;
    };
    const Outcome outcome = RunOn(
        Seed{36},
        [&](mpc::Context& party) {
          Inputs inputs{.models = {},
                        .scores = InsecureDeal(party, scores),
                        .competing = InsecureDealBits(party, bits)};
          for (Index k = 0; k < 4; ++k)
            inputs.models.push_back(InsecureDeal(party, all.middleRows(3 * k, 3)));
          return inputs;
        },
        [](mpc::Context& party, const Inputs& inputs) {
          return ChooseCompeting(party, inputs.models, inputs.scores, inputs.competing);
        });
    EXPECT_TRUE((outcome.value == all.middleRows(3 * c.best, 3)).all()) << c.best;
    EXPECT_EQ(outcome.cost, Figures(ChooseCompetingCost(4, 6)));
  }
}

std::vector<ArithShare> DealAll(mpc::Context& party, const std::vector<RingMatrix>& models) {
  std::vector<ArithShare> shares;
  for (const auto& model : models) shares.push_back(InsecureDeal(party, model));
  return shares;
}

/// Where all compete and the noise is a hundredth of a record, the best is the one that a plain count finds;
/// a linear model of two or three classes, and a network.
TEST(BestTrial, IsTheOneThatAPlainCountFindsAtTheDeclaredCost) {
  for (const auto& [classes, hidden] : {std::pair{3, false}, std::pair{2, false}, std::pair{3, true}}) {
    TrainingSettings settings = SmallSettings();
    settings.classes = classes;
    if (hidden) settings.hidden = {4};
    const StepPlan plan = MakeStepPlan(settings);
    const OwnRecords test = MakeRecords(settings, 8, 200);
    const LayerShape shape = ShapeOfWeights(plan);
    const TrialSelection selection{
        .test = {.holder = 1, .rows = 200}, .sigma = 0.01, .weights = dp::TrialLaw(4, 4)};
    std::vector<RingMatrix> models;
    for (std::uint64_t k = 0; k < 4; ++k)
      models.push_back(RandomSigned(40 + k, shape.inputs, shape.outputs, 18));
    const Outcome outcome = RunOn(
        Seed{37}, [&](mpc::Context& party) { return DealAll(party, models); },
        [&](mpc::Context& party, const std::vector<ArithShare>& shares) {
          return BestTrial(party, plan, selection, shares, party.self() == 1 ? test : OwnRecords{},
                           RandomStream::FromSystem());
        });
    EXPECT_EQ(outcome.cost, Figures(BestTrialCost(plan, selection)));
    const auto same = [&](const RingMatrix& model) { return (model == outcome.value).all(); };
    if (hidden) {  // whose layers round by coins
      EXPECT_TRUE(std::any_of(models.begin(), models.end(), same));
      continue;
    }
    const RingMatrix encoded = EncodeRecords(plan, test, AllRows(test), 200);
    std::vector<std::int64_t> counts;
    for (const auto& model : models) counts.push_back(reference::PlainCorrect(plan, encoded, model));
    const auto best = std::max_element(counts.begin(), counts.end());
    ASSERT_EQ(std::count(counts.begin(), counts.end(), *best), 1) << "another seed";
    EXPECT_TRUE(same(models.at(static_cast<std::size_t>(best - counts.begin()))));
  }
}

/// What makes a party's noise.
RandomStream NoiseOf(int seed, int party) {
  return RandomStream(FixedKey(static_cast<std::uint8_t>(3 * seed + party)));
}

/// Five trials, two and a half of which compete on average, and noise of as many records as set them apart.
/// Against plain counts with the three parties' noise, among those that the same coins let compete.
TEST(BestTrial, IsThatOfPlainCountsGivenTheSameNoiseAndCoins) {
  constexpr Index kModels = 5;
  const StepPlan plan = MakeStepPlan(SmallSettings());
  const OwnRecords test = MakeRecords(plan.settings, 8, 200);
  const RingMatrix encoded = EncodeRecords(plan, test, AllRows(test), 200);
  const LayerShape shape = ShapeOfWeights(plan);
  const TrialSelection selection{
      .test = {.holder = 1, .rows = 200}, .sigma = 40, .weights = dp::TrialLaw(kModels, 2.5)};
  std::vector<RingMatrix> models;
  for (std::uint64_t k = 0; k < kModels; ++k)
    models.push_back(RandomSigned(40 + k, shape.inputs, shape.outputs, 18));
  RingMatrix counts(kModels, 1);
  for (Index k = 0; k < kModels; ++k) {
    const auto correct = reference::PlainCorrect(plan, encoded, models[static_cast<std::size_t>(k)]);
    counts(k, 0) = static_cast<Word>(correct) << plan.settings.fraction_bits;
  }
  const auto best_of = [](const RingMatrix& scores, const RingMatrix& competing) {
    Index best = -1;
    for (Index k = 0; k < kModels; ++k) {
      if (competing(0, k) == 1 && (best < 0 || mpc::Signed(scores(k, 0)) > mpc::Signed(scores(best, 0))))
        best = k;
    }
    return best;
  };
  int moved_by_noise = 0;
  int moved_by_coins = 0;
  for (const int seed : {60, 61, 62, 63, 64, 65, 66, 67}) {
    const RingMatrix competing = Choices(Seed{static_cast<std::uint8_t>(seed)}, selection.weights, 1);
    RingMatrix scores = counts;
    for (int party = 0; party < 3; ++party) {
      scores += CountNoise(NoiseOf(seed, party), selection.sigma,
                           std::uint64_t{1} << plan.settings.fraction_bits, kModels)
                    .values();
    }
    const Outcome outcome = RunOn(
        Seed{static_cast<std::uint8_t>(seed)}, [&](mpc::Context& party) { return DealAll(party, models); },
        [&](mpc::Context& party, const std::vector<ArithShare>& shares) {
          return BestTrial(party, plan, selection, shares, party.self() == 1 ? test : OwnRecords{},
                           NoiseOf(seed, party.self()));
        });
    const Index best = best_of(scores, competing);
    EXPECT_TRUE((outcome.value == models[static_cast<std::size_t>(best)]).all()) << seed;
    moved_by_noise += best == best_of(counts, competing) ? 0 : 1;
    moved_by_coins += best == best_of(scores, RingMatrix::Ones(1, kModels)) ? 0 : 1;
  }
  EXPECT_GT(moved_by_noise, 1);
  EXPECT_GT(moved_by_coins, 1);
}

TEST(ScoreEvent, IsOfOneNumberThatARecordMovesByOne) {
  const auto event = ScoreEvent(MakeStepPlan(SmallSettings()), 3);
  EXPECT_EQ(event.sigma, 3);
  EXPECT_EQ(event.coordinates, 1);
  EXPECT_NEAR(event.party_deviation, 3 * 65536 / std::sqrt(2), 1);
  EXPECT_THROW((void)ScoreEvent(MakeStepPlan(SmallSettings()), 0.0001), ConfigError);
}

}  // namespace
}  // namespace trefoil::ml
