#include "ml/dpsgd/initialisation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "dp/laws/closeness.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/rounding.h"
#include "tests/reference/plain_classifier.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using protocols::Rounding;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TrainingSettings WithInitialisation(InitialisationMethod method) {
  TrainingSettings settings = SmallSettings();
  settings.initialisation = InitialisationSettings{
      .method = method,
      .local =
          {.steps = 30, .expected_batch = 30, .learning_rate = 4, .clip = 2, .sigma = 0.5, .delta = 1e-5},
      .selection = Selection::kNoisy,
      .selection_rows = 20,
      .selection_sigma = 1};
  return settings;
}

/// Models at 16 bits from a fixed seed.
std::vector<RingMatrix> MakeModels(Index rows, Index cols, std::size_t count) {
  std::vector<RingMatrix> models;
  for (std::size_t k = 0; k < count; ++k) models.push_back(RandomSigned(20 + k, rows, cols, 18));
  return models;
}

std::vector<ArithShare> Deal(mpc::Context& party, const std::vector<RingMatrix>& models) {
  std::vector<ArithShare> shares;
  for (const RingMatrix& model : models) shares.push_back(InsecureDeal(party, model));
  return shares;
}

TEST(AverageModels, IsWithinAUnitOfTheMean) {
  std::vector<RingMatrix> models = MakeModels(7, 3, 3);
  const auto edge = static_cast<Word>(std::int64_t{1024} << 16);
  for (auto& model : models) {
    model(0, 0) = edge;
    model(0, 1) = Word{0} - edge;
    model(0, 2) = 0;
  }
  const auto average = [&](Rounding rounding) {
    return RunOn(
        Seed{1}, [&](mpc::Context& party) { return Deal(party, models); },
        [rounding](mpc::Context& party, const std::vector<ArithShare>& shares) {
          return AverageModels(party, {shares[0], shares[1], shares[2]}, rounding);
        });
  };
  const Outcome outcome = average(Rounding::kStochastic);
  EXPECT_EQ(outcome.cost, Figures(AverageModelsCost(21, Rounding::kStochastic)));
  for (Index k = 0; k < 21; ++k) {
    double mean = 0;
    for (const auto& model : models) mean += static_cast<double>(mpc::Signed(model.data()[k])) / 3;
    const double slack = 1 + std::ldexp(std::abs(mean), -23);
    ASSERT_LE(std::abs(static_cast<double>(mpc::Signed(outcome.value.data()[k])) - mean), slack) << k;
  }

  const Outcome exact = average(Rounding::kExact);
  EXPECT_EQ(exact.cost, Figures(AverageModelsCost(21, Rounding::kExact)));
  for (Index k = 0; k < 21; ++k) {
    std::int64_t sum = 0;
    for (const auto& model : models) sum += mpc::Signed(model.data()[k]);
    ASSERT_EQ(mpc::Signed(exact.value.data()[k]), 5'592'405 * sum >> 24) << k;  // 2^24 / 3, rounded
  }
}

TEST(ChooseModel, TakesTheFirstOfTheLargestCountsAtTheDeclaredCost) {
  const auto models = MakeModels(7, 3, 4);
  const std::vector<std::pair<std::vector<std::int64_t>, std::size_t>> cases{
      {{5, 4, 3, 2}, 0}, {{5, 5, 5, 5}, 0}, {{-3, -2, -1, -2}, 2}, {{1, 9, 8, 9}, 1}, {{0, 0, 0, 1}, 3}};
  for (const auto& [counts, expected] : cases) {
    struct Inputs {
      std::vector<ArithShare> models;
      ArithShare counts;
    };
    const Outcome outcome = RunOn(
        Seed{3},
        [&](mpc::Context& party) {
          return Inputs{Deal(party, models), InsecureDeal(party, Column(counts))};
        },
        [](mpc::Context& party, const Inputs& inputs) {
          return ChooseModel(party, inputs.models, ToAdditive(inputs.counts));
        });
    EXPECT_EQ(outcome.cost, Figures(ChooseModelCost(4, 21)));
    EXPECT_TRUE((outcome.value == models[expected]).all());
  }
}

class InitialiseTest : public testing::TestWithParam<std::tuple<InitialisationMethod, Rounding>> {};

TEST_P(InitialiseTest, ClassifiesBetterThanGuessingAtTheDeclaredCost) {
  const auto [method, rounding] = GetParam();
  TrainingSettings settings = WithInitialisation(method);
  settings.truncation = rounding;
  settings.rows = {60, 40, 45};  // parties that do not send alike
  const StepPlan plan = MakeStepPlan(settings);
  const InitialisationPlan initialisation = MakeInitialisationPlan(settings);
  const Outcome outcome = RunOn(
      Seed{4}, [](mpc::Context&) { return 0; },
      [&](mpc::Context& party, int) {
        const OwnRecords own = MakeRecords(settings, 10 + static_cast<std::uint64_t>(party.self()), 40);
        return Initialise(party, plan, initialisation, own).ring();
      });
  EXPECT_EQ(outcome.cost, Figures(InitialiseCost(plan, initialisation)));
  const OwnRecords test = MakeRecords(settings, 99, 300);
  const RingMatrix encoded = EncodeRecords(plan, test, AllRows(test), 300);
  EXPECT_GT(reference::PlainCorrect(plan, encoded, outcome.value), 200);  // guessing gives 100
}

INSTANTIATE_TEST_SUITE_P(Methods, InitialiseTest,
                         testing::Combine(testing::Values(InitialisationMethod::kAveraging,
                                                          InitialisationMethod::kAccuracy),
                                          testing::Values(Rounding::kStochastic, Rounding::kExact)));

/// Whichever party holds the validation records, and though the parties are not alike.
TEST(Initialise, ChoosesTheCandidateThatIsBestOnTheValidationRecords) {
  for (const int holder : {0, 1, 2}) {
    TrainingSettings settings = WithInitialisation(InitialisationMethod::kAccuracy);
    settings.initialisation->selection = Selection::kPublicValidation;
    settings.initialisation->validation = {.holder = holder, .rows = 1100};  // two blocks
    settings.initialisation->local.sigma = 0;
    settings.rows = {60, 40, 45};
    const StepPlan plan = MakeStepPlan(settings);
    const InitialisationPlan initialisation = MakeInitialisationPlan(settings);
    const OwnRecords validation = MakeRecords(settings, 99, 1100);
    // Party 1 alone has labels that mean something; the others' are shuffled, and spoil the average.
    const auto records_of = [&](int party) {
      OwnRecords own = MakeRecords(settings, 10 + static_cast<std::uint64_t>(party), 40);
      if (party != 1) {
        for (int& label : own.y) label = (label + 1) % settings.classes;
      }
      return own;
    };
    const Outcome outcome = RunOn(
        Seed{5}, [](mpc::Context&) { return 0; },
        [&](mpc::Context& party, int) {
          return Initialise(party, plan, initialisation, records_of(party.self()),
                            party.self() == holder ? validation : OwnRecords{})
              .ring();
        });
    EXPECT_EQ(outcome.cost, Figures(InitialiseCost(plan, initialisation))) << holder;
    const RingMatrix encoded = EncodeRecords(plan, validation, AllRows(validation), 1100);
    EXPECT_GT(reference::PlainCorrect(plan, encoded, outcome.value), 700);  // guessing gives 367
  }
}

/// The models, the average's coins and the compared records are the same each time; only the noise is not,
/// which is from the system. It is so much that each of four candidates wins equally often: a right build
/// chooses one candidate in all runs, and fails, with probability 4^-23.
TEST(Initialise, ChoosesByCountsWithNoise) {
  TrainingSettings settings = WithInitialisation(InitialisationMethod::kAccuracy);
  settings.initialisation->local.expected_batch = 40;  // all rows
  settings.initialisation->local.sigma = 0;
  settings.initialisation->selection_rows = 40;
  settings.initialisation->selection_sigma = 1e5;
  const StepPlan plan = MakeStepPlan(settings);
  const InitialisationPlan initialisation = MakeInitialisationPlan(settings);
  ASSERT_EQ(initialisation.selection_rate, 1);
  std::set<std::vector<Word>> chosen;
  for (int run = 0; run < 24; ++run) {
    const Outcome outcome = RunOn(
        Seed{6}, [](mpc::Context&) { return 0; },
        [&](mpc::Context& party, int) {
          const OwnRecords own = MakeRecords(settings, 10 + static_cast<std::uint64_t>(party.self()), 40);
          return Initialise(party, plan, initialisation, own).ring();
        });
    chosen.emplace(outcome.value.data(), outcome.value.data() + outcome.value.size());
  }
  EXPECT_GT(chosen.size(), 1U);
  EXPECT_LE(chosen.size(), 4U);
}

/// Party 0 has one record of class 0, party 1 a shorter one of class 1, which its own model alone classifies
/// correctly: that model is chosen where party 1's record is drawn for the comparison and party 0's is not.
/// The coins are from the system; by Chernoff's bound a right build fails with probability below 10^-12.
TEST(Initialise, DrawsTheComparedRowsAtTheSelectionRate) {
  TrainingSettings settings = WithInitialisation(InitialisationMethod::kAccuracy);
  settings.initialisation->local.steps = 1;
  settings.initialisation->local.expected_batch = 40;  // all rows
  settings.initialisation->local.sigma = 0;
  settings.initialisation->selection = Selection::kAsPublished;
  settings.initialisation->selection_rows = 4;
  const StepPlan plan = MakeStepPlan(settings);
  const InitialisationPlan initialisation = MakeInitialisationPlan(settings);
  ASSERT_DOUBLE_EQ(initialisation.selection_rate, 0.1);
  const auto records_of = [&](int party) {
    OwnRecords own = MakeRecords(settings, 10, party == 2 ? 0 : 1);
    own.x.setZero();
    if (party == 0) own.x(0, 0) = 1;
    if (party == 1) own.x(0, 0) = 0.5;
    for (int& label : own.y) label = party;
    return own;
  };
  int chosen = 0;
  for (int run = 0; run < 1000; ++run) {
    const Outcome outcome = RunOn(
        Seed{7}, [](mpc::Context&) { return 0; },
        [&](mpc::Context& party, int) {
          return Initialise(party, plan, initialisation, records_of(party.self())).ring();
        });
    if (mpc::Signed(outcome.value(0, 1)) > 0) ++chosen;
  }
  // 90 are expected: 0.1 times 0.9 of them. A rate of 0.3 gives 210, one of 1 none.
  EXPECT_GE(chosen, 30);
  EXPECT_LE(chosen, 165);
}

TEST(EventsOf, ChargeTheLocalTrainingAndTheNoisySelection) {
  EXPECT_TRUE(EventsOf(std::nullopt).empty());
  EXPECT_EQ(EventsOf(MakeInitialisationPlan(WithInitialisation(InitialisationMethod::kAveraging))).size(),
            1U);

  TrainingSettings settings = WithInitialisation(InitialisationMethod::kAccuracy);
  const auto events = EventsOf(MakeInitialisationPlan(settings));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(std::get<dp::LocalTraining>(events[0]).steps, 30);
  const auto& selection = std::get<dp::NoisySelection>(events[1]);
  EXPECT_EQ(selection.candidates, 4);
  EXPECT_DOUBLE_EQ(selection.sampling_rate, 0.5);
  EXPECT_EQ(selection.sigma, 1);
  // sigma sqrt(K) / sqrt(2) counts, in units of 2^-16.
  EXPECT_NEAR(selection.party_deviation, std::ldexp(2 / std::sqrt(2.0), 16), 2);
  EXPECT_LT(dp::OverflowProbability(selection.limits, 0.5), 1e-11);

  settings.initialisation->selection = Selection::kPublicValidation;
  settings.initialisation->validation.rows = 10;
  EXPECT_EQ(EventsOf(MakeInitialisationPlan(settings)).size(), 1U);
}

TEST(EventsOf, HaveNoBoundWhereTheSelectionIsAsPublished) {
  TrainingSettings settings = WithInitialisation(InitialisationMethod::kAccuracy);
  settings.initialisation->selection = Selection::kAsPublished;
  const auto events = EventsOf(MakeInitialisationPlan(settings));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(std::get<dp::LocalTraining>(events[0]).steps, 30);
  EXPECT_EQ(std::get<dp::UnboundedReleases>(events[1]).count, 1);
  // Only a selection is published without noise: an average chooses nothing.
  settings.initialisation->method = InitialisationMethod::kAveraging;
  EXPECT_EQ(EventsOf(MakeInitialisationPlan(settings)).size(), 1U);
}

TEST(MakeInitialisationPlan, RefusesWhatIsOutsideItsDomain) {
  TrainingSettings settings = WithInitialisation(InitialisationMethod::kAccuracy);
  settings.initialisation->selection_sigma = 0;
  EXPECT_THROW((void)MakeInitialisationPlan(settings), ConfigError);
  settings = WithInitialisation(InitialisationMethod::kAccuracy);
  settings.initialisation->selection_rows = -1;
  EXPECT_THROW((void)MakeInitialisationPlan(settings), ConfigError);
  settings = WithInitialisation(InitialisationMethod::kAccuracy);
  settings.initialisation->selection = Selection::kPublicValidation;  // of no rows
  EXPECT_THROW((void)MakeInitialisationPlan(settings), ConfigError);
  settings = WithInitialisation(InitialisationMethod::kAveraging);
  settings.initialisation->local.steps = 0;
  EXPECT_THROW((void)MakeInitialisationPlan(settings), ConfigError);
}

}  // namespace
}  // namespace trefoil::ml
