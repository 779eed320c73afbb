#include "ml/plan/run_cost.h"

#include <gtest/gtest.h>

#include <utility>

#include "ml/plan/step_plan.h"
#include "ml/records.h"
#include "protocols/arithmetic/agreement.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Cost;

// A dealer, at first party 2, sends 1,000 bytes ahead; its peers 10 each; the roles turn.
Cost Dealt() {
  const Cost cost = Then(Cost::Offline({{2, 1, 1000}}), Cost::Round({{0, 1, 10}, {1, 0, 10}}));
  return cost.WithTurn();
}

/// What is planned of a run beyond its messages.
double Computing(const TrainingSettings& settings) {
  return PlannedRunSeconds(settings, protocols::Form::kBulk,
                           {.message_seconds = 0, .bytes_per_second = 1e15});
}

/// What passes over links takes as long as before, and the run would choose as before.
TEST(PlannedRunSeconds, AreShorterByWhatFastMachinesComputeLess) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.sigma = 2;
  protocols::Link link{.message_seconds = 0.01, .bytes_per_second = 1e6};
  const double slow = PlannedRunSeconds(settings, protocols::Form::kBulk, link);
  link.speed = 4;
  EXPECT_NEAR(slow - PlannedRunSeconds(settings, protocols::Form::kBulk, link), Computing(settings) * 3 / 4,
              1e-6);
  for (const double seconds : {1e-6, 1e-4, 1e-2}) {
    link = {.message_seconds = seconds, .bytes_per_second = 1e9};
    const auto form = PlannedForm(settings, link);
    link.speed = 100;
    EXPECT_EQ(PlannedForm(settings, link), form);
  }
}

TEST(PlannedRunSeconds, CountEpsilonsOfLossDistributionsOnceAMark) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.sigma = 2;
  settings.steps = 100;
  const double without = Computing(settings);
  settings.accountant = dp::AccountantKind::kPld;
  const double marks = Computing(settings) - without;
  EXPECT_GT(marks, 1);  // twenty, of a tenth of a second each
  settings.steps = 200;
  const double of_more = Computing(settings);
  settings.accountant = dp::AccountantKind::kRdp;
  EXPECT_NEAR(of_more - Computing(settings), marks, 1e-9);
  settings.sampling = Sampling::kFull;
  settings.expected_batch = 120;
  const double full = Computing(settings);
  settings.accountant = dp::AccountantKind::kPld;
  EXPECT_EQ(Computing(settings), full) << "a formula";
}

/// Computing of a second step, which is that of all later ones.
double OfAStep(TrainingSettings settings) {
  settings.steps = 1;
  const double one = Computing(settings);
  settings.steps = 2;
  return Computing(settings) - one;
}

/// As `settings`, with rows of words: with so much noise that no fewer bits will do.
TrainingSettings InWords(TrainingSettings settings) {
  settings.sigma = 1e5;
  EXPECT_FALSE(HasNarrowRows(MakeStepPlan(settings)));
  return settings;
}

TEST(PlannedRunSeconds, CountWhatRowsOfOneColumnTakeToBeRead) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.sigma = 2;
  settings.features = 20'000;
  settings.classes = 2;
  // Two classes are one column, six multiply-adds an element, but both products read all rows: seven
  // nanoseconds an element that no cache holds.
  const StepPlan plan = MakeStepPlan(settings, protocols::Form::kBulk);
  const double elements = static_cast<double>(plan.batch_rows * settings.features);
  EXPECT_GT(OfAStep(settings), (elements - 5e5) * (6e-9 + 7e-9));
}

/// Six nanoseconds to make an element, seven as both products read it, and what it takes to pack it or to
/// write two words, five or three; and what its owner sends of it.
TEST(PlannedRunSeconds, CountWhatAnElementOfLargeBatchesTakes) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.rows = {4'000, 4'000, 4'000};
  settings.expected_batch = 12'000;
  settings.max_batch_per_owner = 4'000;
  settings.sigma = 2;
  settings.classes = 2;
  for (const auto& [of, expected] :
       {std::pair{settings, 6e-9 + 7e-9 + 5e-9}, std::pair{InWords(settings), 6e-9 + 7e-9 + 3e-9}}) {
    TrainingSettings wide = of;
    wide.features = 2'000;
    TrainingSettings narrow = of;
    narrow.features = 1'000;
    const StepPlan plan = MakeStepPlan(wide);
    const double bytes = plan.row_bits / 8.0;
    const double elements = static_cast<double>(plan.batch_rows) * 1'000;
    EXPECT_NEAR((OfAStep(wide) - OfAStep(narrow)) / elements, expected + bytes / 3 * 4.9e-9, 0.5e-9);
  }
}

/// Of a public batch each is copied out of all shared ones, and read by both products; it is not sent again.
TEST(PlannedRunSeconds, CountWhatAnElementOfPublicBatchesTakes) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.sampling = Sampling::kPublic;
  settings.rows = {4'000, 4'000, 4'000};
  settings.expected_batch = 12'000;
  settings.sigma = 2;
  settings.classes = 2;
  EXPECT_TRUE(HasNarrowRows(MakeStepPlan(settings)));
  for (const auto& [of, expected] :
       {std::pair{settings, 8e-9 + 7e-9}, std::pair{InWords(settings), 17e-9 + 7e-9}}) {
    TrainingSettings wide = of;
    wide.features = 2'000;
    TrainingSettings narrow = of;
    narrow.features = 1'000;
    EXPECT_NEAR((OfAStep(wide) - OfAStep(narrow)) / (12'000.0 * 1'000), expected, 0.5e-9);
  }
}

/// A third less where rows stay packed: of what others input one component is zero.
TEST(PlannedRunSeconds, CountMultiplyAddsOfEachClass) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.rows = {4'000, 4'000, 4'000};
  settings.expected_batch = 12'000;
  settings.max_batch_per_owner = 4'000;
  settings.sigma = 2;
  const auto of_ten_classes = [](TrainingSettings of, std::int64_t features) {
    of.features = features;
    of.classes = 20;
    const double twenty = OfAStep(of);
    of.classes = 10;
    return twenty - OfAStep(of);
  };
  ASSERT_TRUE(HasNarrowRows(MakeStepPlan(settings)));
  ASSERT_FALSE(HasNarrowRows(MakeStepPlan(InWords(settings))));
  const double multiply_adds = 6.0 * 12'000 * 1'000 * 10;
  for (const auto& [of, expected] : {std::pair{settings, 0.16e-9}, std::pair{InWords(settings), 0.24e-9}})
    EXPECT_NEAR((of_ten_classes(of, 2'000) - of_ten_classes(of, 1'000)) / multiply_adds, expected, 0.01e-9);
}

/// What batches of many rows and few features spend most on.
TEST(PlannedRunSeconds, CountTheTermsOfSigmoids) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.sigma = 2;
  settings.logit_bound = 16;
  const double short_series = OfAStep(settings);
  settings.logit_bound = 32;
  const StepPlan plan = MakeStepPlan(settings);
  // Eight terms more, each of a sine and a cosine that one party deals in four bytes each.
  const auto terms = static_cast<double>(8 * plan.batch_rows * plan.columns);
  EXPECT_NEAR((OfAStep(settings) - short_series) / terms, 54e-9 + 8 * 4.9e-9 / 3, 2e-9);
}

/// By how much longer a run takes for each element that batches have more, its steps left out.
double NewMemory(TrainingSettings settings) {
  settings.steps = 1;
  settings.features = 100;
  const double narrow = Computing(settings) - OfAStep(settings);
  settings.features = 1'000;
  const double wide = Computing(settings) - OfAStep(settings);
  return (wide - narrow) / static_cast<double>(MakeStepPlan(settings).batch_rows * 900);
}

TEST(PlannedRunSeconds, CountTheMemoryOfTheFirstStepsOnce) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.sigma = 2;
  EXPECT_NEAR(NewMemory(settings), 20e-9, 1e-9);
  EXPECT_NEAR(NewMemory(InWords(settings)), 40e-9, 1e-9);
}

/// All rows are shared, as eight bytes by one of three parties, and put together once.
TEST(PlannedRunSeconds, CountRowsThatArePutTogetherOfColumns) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.sigma = 2;
  settings.sampling = Sampling::kPublic;
  settings.rows = {40, 0, 0};
  settings.vertical = VerticalSettings{.features = {2, 2, 2}, .label_party = 2};
  const double few = Computing(settings) - OfAStep(settings);
  settings.rows = {10'040, 0, 0};
  const double many = Computing(settings) - OfAStep(settings);
  const StepPlan plan = MakeStepPlan(settings);
  double shared = 0;
  for (const int owner : {0, 1, 2}) shared += static_cast<double>(BlockColumns(plan, owner));
  const auto joined = static_cast<double>(EncodedColumns(plan));
  EXPECT_NEAR((many - few) / 10'000, joined * (40e-9 + 25e-9) + shared * 8 / 3 * 17e-9, joined * 2e-9);
}

/// Of its rows each party reads, encodes and multiplies some in each of its own steps, and draws noise.
TEST(PlannedRunSeconds, CountThePartiesOwnTrainings) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.sigma = 2;
  settings.initialisation = InitialisationSettings{
      .local = {.steps = 1, .expected_batch = 20, .learning_rate = 1, .clip = 1, .sigma = 2}};
  const double one = Computing(settings);
  settings.initialisation->local.steps = 101;
  const double step = (Computing(settings) - one) / 100;
  const StepPlan plan = MakeStepPlan(settings);
  const auto inputs = static_cast<double>(settings.features + 1);
  const auto columns = static_cast<double>(plan.columns);
  EXPECT_NEAR(step, 20 * inputs * (10e-9 + columns * 1.8e-9) + inputs * columns * 350e-9, 1e-9);
}

TEST(SessionCost, IsThatOfAllPartsAfterTheKeys) {
  SessionCost session;
  EXPECT_EQ(session.total().rounds, protocols::AgreeOnKeysCost().rounds());
  session.Add(Dealt(), 2);
  session.AddUnturned(Cost::Round({{0, 1, 7}}));
  session.Add(Dealt());
  EXPECT_EQ(session.total().rounds, 4);
  // Each has been the dealer; what is between parties as numbered does not turn.
  const std::array<std::uint64_t, 3> expected{64 + 1020 + 7, 64 + 1020, 64 + 1020};
  EXPECT_EQ(session.total().bytes_sent, expected);
}

TEST(SessionCost, WaitsForThePartyThatSendsMostInEachPart) {
  const protocols::Link link{.message_seconds = 0.5, .bytes_per_second = 100};
  SessionCost session;
  const double keys = session.Seconds({}, link);
  EXPECT_NEAR(keys, 0.5 + 0.64, 0.01);
  session.Add(Dealt(), 3);
  // Each of the three sends a thousand bytes, one after another.
  EXPECT_NEAR(session.Seconds({}, link) - keys, 3 * 0.5 + 3 * 10, 0.01);
}

TEST(SessionCost, AddsComputation) {
  const protocols::Link link{.message_seconds = 0, .bytes_per_second = 1e12};
  const SessionCost session;
  const double nothing = session.Seconds({}, link);
  EXPECT_NEAR(session.Seconds({.comparison_seconds = 3, .clear_seconds = 2}, link), nothing + 5, 1e-9);
  for (const Work& work :
       {Work{.draws = 1e9}, Work{.elements = 1e9}, Work{.lines = 1e8}, Work{.multiply_adds = 1e9}}) {
    EXPECT_GT(session.Seconds(work, link), nothing + 0.1);
    EXPECT_LT(session.Seconds(work, link), nothing + 1000);
  }
  auto fast = link;
  fast.speed = 4;
  EXPECT_NEAR(session.Seconds({.comparison_seconds = 3, .clear_seconds = 2}, fast), (nothing + 5) / 4, 1e-9);
}

}  // namespace
}  // namespace trefoil::ml
