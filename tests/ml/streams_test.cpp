// A whole training draws every stream once and from the right component
// (tests/support/secrecy/stream_rules.h). Besides, any test of this program that uses a block of a key stream
// twice fails (tests/support/secrecy/prg_tracker.h).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dp/laws/trial_law.h"
#include "ml/dpsgd/training.h"
#include "ml/noise/noisy_counts.h"
#include "ml/noise/noisy_sum.h"
#include "ml/noise/noisy_votes.h"
#include "ml/on_shares/best_trial.h"
#include "ml/on_shares/classifier_average.h"
#include "ml/on_shares/ensemble_transfer.h"
#include "protocols/arithmetic/input.h"
#include "tests/support/ml_test.h"
#include "tests/support/secrecy/stream_rules.h"

namespace trefoil::ml {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Seed kSeed{4};

/// What the party holds, of 30 records each.
HeldOutRecords HeldOutOf(const TrainingSettings& settings, int party) {
  HeldOutRecords held_out;
  if (settings.evaluation && settings.evaluation->test.holder == party)
    held_out.test = MakeRecords(settings, 20, 30);
  if (settings.initialisation && settings.initialisation->selection == Selection::kPublicValidation &&
      settings.initialisation->validation.holder == party)
    held_out.validation = MakeRecords(settings, 21, 30);
  return held_out;
}

void ExpectRightStreams(const TrainingSettings& settings) {
  std::array<DrawLog, 3> logs;
  (void)RunPartiesOver(
      net::MakeLocalTransports(std::chrono::seconds(60)), LoggedPrss(kSeed, logs), [&](mpc::Context& party) {
        const OwnRecords own = MakeRecords(settings, 10 + static_cast<std::uint64_t>(party.self()), 40);
        return Train(party, settings, own,
                     {.on_step = [](const StepReport&) {}, .on_record = [](const dp::TrainingRecord&) {}},
                     HeldOutOf(settings, party.self()));
      });
  const std::array<std::vector<StreamDraw>, 3> draws{logs[0].Take(), logs[1].Take(), logs[2].Take()};
  for (const auto& of_party : draws) EXPECT_GT(of_party.size(), 50U);
  EXPECT_THAT(StreamViolations(kSeed, draws), testing::IsEmpty());
}

class TrainingStreamsTest : public testing::TestWithParam<std::pair<Sampling, Clipping>> {};

TEST_P(TrainingStreamsTest, AreRightAndDrawnOnce) {
  TrainingSettings settings = SmallSettings();
  settings.sampling = GetParam().first;
  settings.clipping = GetParam().second;
  settings.steps = 5;
  settings.sigma = 0.5;
  ExpectRightStreams(settings);
}

TEST(StepStreams, AreRightAndDrawnOnceWhateverTheLossClippingTruncationAndForm) {
  for (const protocols::Form form : {protocols::Form::kBulk, protocols::Form::kLatency}) {
    for (const Loss loss : {Loss::kOneVsRest, Loss::kSquared}) {
      TrainingSettings settings = SmallSettings();
      settings.loss = loss;
      settings.comparison = form;
      settings.steps = 5;
      settings.sigma = 0.5;
      ExpectRightStreams(settings);
      settings.truncation = protocols::Rounding::kExact;
      ExpectRightStreams(settings);
      settings.truncation = protocols::Rounding::kStochastic;
      settings.clipping = Clipping::kExamples;
      ExpectRightStreams(settings);
    }
  }
}

TEST(NetworkStreams, AreRightAndDrawnOnce) {
  for (const protocols::Form form : {protocols::Form::kBulk, protocols::Form::kLatency}) {
    TrainingSettings settings = SmallSettings();
    settings.hidden = {5, 4};
    settings.loss = Loss::kSoftmax;
    settings.momentum = 0.9;
    settings.comparison = form;
    settings.steps = 2;
    settings.sigma = 0.5;
    ExpectRightStreams(settings);
    settings.momentum = 0;  // rows are narrow
    ExpectRightStreams(settings);
  }
}

TEST(InitialisationStreams, AreRightAndDrawnOnce) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 2;
  settings.sigma = 0.5;
  settings.initialisation = InitialisationSettings{
      .method = InitialisationMethod::kAccuracy,
      .local = {.steps = 2, .expected_batch = 20, .learning_rate = 4, .clip = 2, .sigma = 1, .delta = 1e-5},
      .selection_rows = 10};
  ExpectRightStreams(settings);
}

TEST(HeldOutStreams, AreRightAndDrawnOnce) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 2;
  settings.sigma = 0.5;
  settings.evaluation = EvaluationSettings{.test = {.holder = 2, .rows = 30}, .sigma = 1};
  settings.initialisation = InitialisationSettings{
      .method = InitialisationMethod::kAccuracy,
      .local = {.steps = 2, .expected_batch = 20, .learning_rate = 4, .clip = 2, .sigma = 1, .delta = 1e-5},
      .selection = Selection::kPublicValidation,
      .validation = {.holder = 1, .rows = 30}};
  ExpectRightStreams(settings);
}

/// Counts, votes, sums of classifiers, steps on votes and choices of trials, three times in a session, so
/// that each role falls to each party.
TEST(ReleaseStreams, AreRightAndDrawnOnce) {
  std::array<DrawLog, 3> logs;
  const auto plan =
      MakeTransferPlan({.owners = 3, .rows = 4, .features = 2, .majority = true, .lambda = 0.2, .steps = 2});
  const mpc::RingMatrix x = EncodeTransferRows(plan, Eigen::MatrixXd::Constant(4, 2, 0.5));
  const AverageShape shape{
      .owners = {1, 1, 1}, .weights = 3, .min_sizes = {1, 4}, .margin = 1, .noisy_size = true, .width = 24};
  (void)RunPartiesOver(net::MakeLocalTransports(std::chrono::seconds(60)), LoggedPrss(kSeed, logs),
                       [&](mpc::Context& party) {
                         for (int turn = 0; turn < 3; ++turn) {
                           const auto ones = [](mpc::Index rows, mpc::Index cols) {
                             return mpc::RingMatrix::Constant(rows, cols, 1);
                           };
                           (void)OpenNoisyCounts(party, ones(4, 1), ones(4, 1), {0, 2});
                           (void)OpenNoisyCounts(party, mpc::AdditiveShare(ones(4, 1)), ones(4, 1), {1});
                           (void)NoisySum(party, ones(4, 1), ones(4, 1), {0, 1});
                           (void)NoisySum(party, mpc::AdditiveShare(ones(4, 1)), ones(4, 1), {0, 1, 2});
                           const auto votes = protocols::InputSum(party, ones(2, 3));
                           (void)OpenAboveThreshold(party, votes, ones(2, 1), 3, 24);
                           (void)OpenNoisyWinners(party, votes, ones(2, 3), 24, {1});
                           OwnAverage own{.sizes = ones(1, 1), .weights = ones(1, 3)};
                           own.noise.values() = ones(2, 3);
                           (void)AverageOfSum(party, shape, NoisyClassifierSum(party, shape, own), 20);
                           own.noise.values() = ones(1, 3);
                           (void)PublishedClassifierSum(party, shape, own);
                           (void)MinimiseTransferRisk(party, plan, x, ones(4, 1));
                           (void)DrawCompeting(party, dp::TrialLaw(3, 2));
                         }
                         return true;
                       });
  const std::array<std::vector<StreamDraw>, 3> draws{logs[0].Take(), logs[1].Take(), logs[2].Take()};
  for (const auto& of_party : draws) EXPECT_GT(of_party.size(), 50U);
  EXPECT_THAT(StreamViolations(kSeed, draws), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(SamplingAndClipping, TrainingStreamsTest,
                         testing::Values(std::pair{Sampling::kOwnerPoisson, Clipping::kFactorised},
                                         std::pair{Sampling::kPublic, Clipping::kFactorised},
                                         std::pair{Sampling::kOwnerPoisson, Clipping::kPublished}));

}  // namespace
}  // namespace trefoil::ml
