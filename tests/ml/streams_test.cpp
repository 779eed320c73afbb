// A whole training draws every stream once and from the right component (tests/support/stream_rules.h).
// Besides, any test of this program that uses a block of a key stream twice fails
// (tests/support/prg_tracker.h).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ml/training.h"
#include "tests/support/ml_test.h"
#include "tests/support/stream_rules.h"

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

INSTANTIATE_TEST_SUITE_P(SamplingAndClipping, TrainingStreamsTest,
                         testing::Values(std::pair{Sampling::kOwnerPoisson, Clipping::kFactorised},
                                         std::pair{Sampling::kPublic, Clipping::kFactorised},
                                         std::pair{Sampling::kOwnerPoisson, Clipping::kPublished}));

}  // namespace
}  // namespace trefoil::ml
