// One fault at one message of one party, in what a job is made of.

#include "tests/support/faults/fault_runs.h"

#include <gtest/gtest.h>

#include "dp/laws/trial_law.h"
#include "ml/dpsgd/initialisation.h"
#include "ml/noise/noisy_counts.h"
#include "ml/noise/noisy_sum.h"
#include "ml/noise/noisy_votes.h"
#include "ml/on_shares/best_trial.h"
#include "ml/on_shares/classifier_average.h"
#include "ml/on_shares/ensemble_transfer.h"
#include "ml/on_shares/evaluation.h"
#include "ml/on_shares/prediction.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct FaultCase {
  std::string name;
  std::function<void(mpc::Context& party)> run;
  Flipped flipped = Flipped::kAnyValue;
};

void PrintTo(const FaultCase& c, std::ostream* out) { *out << c.name; }

mpc::FixedShare SomeWeights(mpc::Context& party, const StepPlan& plan) {
  const LayerShape shape = ShapeOfWeights(plan);
  return {InsecureDeal(party, RandomSigned(8, shape.inputs, shape.outputs, 14)), 16};
}

TrainingSettings Network() {
  TrainingSettings settings = SmallSettings();
  settings.hidden = {4};
  settings.activation_bound = 4;
  settings.delta_bound = 2;
  return settings;
}

void RunStep(mpc::Context& party, const TrainingSettings& settings, protocols::Form form) {
  const StepPlan plan = MakeStepPlan(settings, form);
  const Batch batch = DealBatch(party, plan, MakeRecords(settings, 9, 5), 6);
  (void)DpSgdStep(party, plan, batch, StartFrom(SomeWeights(party, plan)), NoNoise(plan));
}

void RunEvaluation(mpc::Context& party) {
  TrainingSettings settings = SmallSettings();
  settings.evaluation = EvaluationSettings{.test = {.holder = 1, .rows = 5}, .to = {0, 2}, .sigma = 1};
  const StepPlan plan = MakeStepPlan(settings);
  (void)EvaluateOnShares(party, plan, SomeWeights(party, plan),
                         party.self() == 1 ? MakeRecords(settings, 9, 5) : OwnRecords{});
}

void RunPrediction(mpc::Context& party, bool scores) {
  const StepPlan plan = MakeStepPlan(SmallSettings());
  (void)PredictOnShares(party, plan, SomeWeights(party, plan), {.client = 2, .rows = 5, .scores = scores},
                        party.self() == 2 ? MakeRecords(plan.settings, 9, 4) : OwnRecords{});
}

void RunSelection(mpc::Context& party, Selection selection) {
  TrainingSettings settings = SmallSettings();
  settings.initialisation = InitialisationSettings{
      .method = InitialisationMethod::kAccuracy,
      .local = {.steps = 2, .expected_batch = 30, .learning_rate = 4, .clip = 2, .sigma = 0.5, .delta = 1e-5},
      .selection = selection,
      .selection_rows = 20,
      .selection_sigma = 1,
      .validation = {.holder = 0, .rows = 5}};
  const StepPlan plan = MakeStepPlan(settings);
  const bool validates = selection == Selection::kPublicValidation && party.self() == 0;
  (void)Initialise(party, plan, MakeInitialisationPlan(settings), MakeRecords(settings, 10, 40),
                   validates ? MakeRecords(settings, 9, 5) : OwnRecords{});
}

void RunTraining(mpc::Context& party, Sampling sampling) {
  TrainingSettings settings = SmallSettings();
  settings.sampling = sampling;
  settings.steps = 3;
  settings.sigma = 0.5;
  settings.clip = 2;
  (void)Train(party, settings, MakeRecords(settings, 10, 40),
              {.on_step = [](const StepReport&) {}, .on_record = [](const dp::TrainingRecord&) {}});
}

/// Every step opens a count, by which the next one clips.
void RunAdaptiveTraining(mpc::Context& party) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 3;
  settings.sigma = 2;
  settings.adaptive.emplace();
  (void)Train(party, settings, MakeRecords(settings, 10, 40), kQuiet);
}

void RunBestTrial(mpc::Context& party) {
  const StepPlan plan = MakeStepPlan(SmallSettings());
  const std::vector<mpc::ArithShare> models{SomeWeights(party, plan).ring(), SomeWeights(party, plan).ring(),
                                            SomeWeights(party, plan).ring()};
  (void)BestTrial(party, plan, {.test = {.holder = 1, .rows = 5}, .sigma = 1, .weights = dp::TrialLaw(3, 2)},
                  models, party.self() == 1 ? MakeRecords(plan.settings, 9, 5) : OwnRecords{},
                  RandomStream::FromSystem());
}

void RunNoisyCounts(mpc::Context& party) {
  const mpc::RingMatrix counts = mpc::RingMatrix::Constant(4, 1, 5);
  (void)OpenNoisyCounts(party, counts, counts, {0, 1, 2});
  (void)OpenNoisyCounts(party, mpc::AdditiveShare(counts), counts, {0, 1});
}

void RunNoisySums(mpc::Context& party) {
  const mpc::RingMatrix vector = mpc::RingMatrix::Constant(4, 1, 5);
  (void)NoisySum(party, vector, vector, {0, 1, 2});
  (void)NoisySum(party, mpc::AdditiveShare(vector), vector, {0, 1});
}

void RunNoisyVotes(mpc::Context& party) {
  const mpc::RingMatrix counts = mpc::RingMatrix::Constant(2, 3, 5);
  const mpc::ArithShare votes = protocols::InputSum(party, counts);
  (void)OpenAboveThreshold(party, votes, mpc::RingMatrix::Zero(2, 1), 3, 24);
  (void)OpenNoisyWinners(party, votes, counts, 24, {0, 1, 2});
}

void RunClassifierSums(mpc::Context& party) {
  const AverageShape shape{
      .owners = {1, 1, 1}, .weights = 3, .min_sizes = {1, 4}, .margin = 1, .noisy_size = true, .width = 24};
  OwnAverage own{.sizes = mpc::RingMatrix::Constant(1, 1, 5), .weights = mpc::RingMatrix::Constant(1, 3, 7)};
  own.noise.values() = mpc::RingMatrix::Constant(2, 3, 9);
  (void)NoisyClassifierSum(party, shape, own);
  own.noise.values() = mpc::RingMatrix::Constant(1, 3, 9);
  (void)AverageOfSum(party, shape, PublishedClassifierSum(party, shape, own), 30);
}

void RunTransferredEnsemble(mpc::Context& party) {
  const auto plan =
      MakeTransferPlan({.owners = 3, .rows = 4, .features = 2, .majority = true, .lambda = 0.2, .steps = 2});
  (void)MinimiseTransferRisk(party, plan, EncodeTransferRows(plan, Eigen::MatrixXd::Constant(4, 2, 0.5)),
                             mpc::RingMatrix::Constant(4, 1, 1));
}

class FaultTest : public testing::TestWithParam<FaultCase> {};

TEST_P(FaultTest, EndsInATypedErrorEverywhereAndNeverHangs) {
  ExpectTypedEndsUnderFaults(GetParam().run, GetParam().flipped);
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, FaultTest,
    testing::Values(
        FaultCase{"StepBulk",
                  [](mpc::Context& party) { RunStep(party, SmallSettings(), protocols::Form::kBulk); }},
        FaultCase{"StepLatency",
                  [](mpc::Context& party) { RunStep(party, SmallSettings(), protocols::Form::kLatency); }},
        FaultCase{"NetworkStep",
                  [](mpc::Context& party) { RunStep(party, Network(), protocols::Form::kBulk); }},
        FaultCase{"Evaluation", RunEvaluation},
        FaultCase{"PredictedClasses", [](mpc::Context& party) { RunPrediction(party, false); }},
        FaultCase{"PredictedScores", [](mpc::Context& party) { RunPrediction(party, true); }},
        FaultCase{"NoisySelection", [](mpc::Context& party) { RunSelection(party, Selection::kNoisy); }},
        FaultCase{"Validation",
                  [](mpc::Context& party) { RunSelection(party, Selection::kPublicValidation); }},
        FaultCase{"NoisyCounts", RunNoisyCounts}, FaultCase{"NoisySums", RunNoisySums},
        FaultCase{"BestTrial", RunBestTrial}, FaultCase{"NoisyVotes", RunNoisyVotes},
        FaultCase{"ClassifierSums", RunClassifierSums},
        FaultCase{"TransferredEnsemble", RunTransferredEnsemble},
        FaultCase{"Training", [](mpc::Context& party) { RunTraining(party, Sampling::kOwnerPoisson); },
                  Flipped::kAnyEnd},
        FaultCase{"AdaptiveTraining", RunAdaptiveTraining, Flipped::kAnyEnd},
        FaultCase{"TrainingOnPublicBatches",
                  [](mpc::Context& party) { RunTraining(party, Sampling::kPublic); }, Flipped::kAnyEnd}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trefoil::ml
