#include "ml/dpsgd/training.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/plan/step_privacy.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/input.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

std::array<TrainingResult, 3> TrainSmall(const TrainingSettings& settings) {
  return RunParties(Seed{1}, [&](mpc::Context& party) {
    const OwnRecords own = MakeRecords(settings, 10 + static_cast<std::uint64_t>(party.self()), 40);
    return Train(party, settings, own, kQuiet);
  });
}

double Accuracy(const TrainingSettings& settings, const Model& model) {
  const OwnRecords test = MakeRecords(settings, 99, 300);
  Eigen::MatrixXd rows = ScaledRows(settings, test);
  for (const HiddenLayer& layer : model.hidden) {
    const Eigen::MatrixXd z = (rows * layer.weights).rowwise() + layer.bias.transpose();
    rows = z.cwiseMax(0.0).cwiseMin(model.activation_bound);
  }
  const Eigen::MatrixXd logits = (rows * model.weights).rowwise() + model.bias.transpose();
  int correct = 0;
  for (Index row = 0; row < logits.rows(); ++row) {
    Index best = 0;
    logits.row(row).maxCoeff(&best);
    correct += best == test.y[static_cast<std::size_t>(row)];
  }
  return correct / 300.0;
}

/// Guessing gives a third. Sampling and noise are the system's, so that no two runs are alike: of 1,500 runs
/// of these tests none had less than 0.7, and where the tails go on as they fall there, one in a million is
/// below this.
constexpr double kLearned = 0.5;

class TrainTest : public testing::TestWithParam<Sampling> {};

TEST_P(TrainTest, LearnsAndReleasesTheSameModelToAll) {
  TrainingSettings settings = SmallSettings();
  settings.sampling = GetParam();
  if (settings.sampling == Sampling::kFull) settings.expected_batch = 120;
  settings.steps = 60;
  settings.clip = 2;
  settings.sigma = 0.5;
  const auto results = TrainSmall(settings);
  for (const TrainingResult& result : results) {
    ASSERT_TRUE(result.model);
    EXPECT_EQ(result.model->weights, results[0].model->weights);
    EXPECT_EQ(result.model->bias, results[0].model->bias);
    ASSERT_EQ(result.record.events.size(), 1U);
    EXPECT_EQ(std::get<dp::DpSgdSteps>(result.record.events[0]).steps, 60);
    EXPECT_GT(result.plan.epsilon_insider, result.plan.epsilon_outsider);
  }
  EXPECT_GT(Accuracy(settings, *results[0].model), kLearned);
}

INSTANTIATE_TEST_SUITE_P(SamplingModes, TrainTest,
                         testing::Values(Sampling::kOwnerPoisson, Sampling::kPublic, Sampling::kFull));

TEST(Train, LearnsWithExactTruncation) {
  TrainingSettings settings = SmallSettings();
  settings.truncation = protocols::Rounding::kExact;
  settings.steps = 60;
  settings.clip = 2;
  settings.sigma = 0.5;
  const auto results = TrainSmall(settings);
  ASSERT_TRUE(results[0].model);
  EXPECT_EQ(results[1].model->weights, results[0].model->weights);
  EXPECT_GT(Accuracy(settings, *results[0].model), kLearned);
}

TrainingSettings WithPrivateInitialisation(InitialisationMethod method) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 3;
  settings.clip = 2;
  settings.sigma.reset();
  settings.target_epsilon = 20;
  settings.initialisation = InitialisationSettings{.method = method,
                                                   .local = {.steps = 30,
                                                             .expected_batch = 20,
                                                             .learning_rate = 4,
                                                             .clip = 2,
                                                             .target_epsilon = 15,
                                                             .delta = 1e-5},
                                                   .selection = Selection::kNoisy,
                                                   .selection_rows = 20,
                                                   .selection_sigma = 2};
  return settings;
}

TEST(Train, StartsFromLocalModelsWithinTheTarget) {
  for (const auto method : {InitialisationMethod::kAveraging, InitialisationMethod::kAccuracy}) {
    const TrainingSettings settings = WithPrivateInitialisation(method);
    const auto results = TrainSmall(settings);
    const std::size_t phases = method == InitialisationMethod::kAccuracy ? 3 : 2;
    ASSERT_EQ(results[0].record.events.size(), phases);
    EXPECT_TRUE(std::holds_alternative<dp::LocalTraining>(results[0].record.events[0]));
    EXPECT_TRUE(std::holds_alternative<dp::DpSgdSteps>(results[0].record.events.back()));
    const dp::EpsilonPair charged = dp::Epsilons(results[0].record, settings.delta);
    EXPECT_EQ(charged.insider, results[0].plan.epsilon_insider);
    EXPECT_EQ(charged.outsider, results[0].plan.epsilon_outsider);
    EXPECT_LE(charged.insider, 20);
    EXPECT_GT(charged.insider, 19.9);
    const PrivacyPlan plan = MakePlan(settings);
    EXPECT_EQ(plan.sigma, results[0].plan.sigma);
    EXPECT_EQ(plan.epsilon_insider, charged.insider);
    TrainingSettings alone = settings;
    alone.initialisation.reset();
    EXPECT_LT(MakePlan(alone).sigma, plan.sigma);  // the whole target for the steps
    EXPECT_GT(Accuracy(settings, *results[0].model), kLearned);
  }
}

TEST(Train, ReportsTheJobsAccountantNeverBelowWhatWasSpent) {
  for (const auto sampling : {Sampling::kOwnerPoisson, Sampling::kPublic}) {
    for (const auto kind : {dp::AccountantKind::kRdp, dp::AccountantKind::kPld, dp::AccountantKind::kPea}) {
      TrainingSettings settings = SmallSettings();
      settings.sampling = sampling;
      settings.accountant = kind;
      settings.steps = 45;  // marks of PLD every third step
      settings.sigma = 20;
      const auto runs = RunParties(Seed{4}, [&](mpc::Context& party) {
        std::vector<StepReport> seen;
        const auto result = Train(party, settings, MakeRecords(settings, 3, 20),
                                  {.on_step = [&](const StepReport& report) { seen.push_back(report); },
                                   .on_record = [](const dp::TrainingRecord&) {}});
        return std::pair{seen, result};
      });
      const auto& [seen, result] = runs[0];
      const auto whole = dp::Epsilons(result.record, settings.delta, kind);
      EXPECT_EQ(result.plan.epsilon_insider, whole.insider);
      EXPECT_EQ(seen.at(0).epsilon_insider, 0);
      // Sums are rounded up, and a sum of 45 oftener than one.
      EXPECT_NEAR(seen.at(45).epsilon_insider, whole.insider, 1e-13 * whole.insider);
      EXPECT_NEAR(seen.at(45).epsilon_outsider, whole.outsider, 1e-13 * whole.outsider);
      for (int step = 1; step <= 45; ++step) {
        const auto at = static_cast<std::size_t>(step);
        EXPECT_GE(seen.at(at).epsilon_outsider, seen.at(at - 1).epsilon_outsider);
        if (sampling == Sampling::kPublic || step % 7 != 0) continue;
        auto part = std::get<dp::DpSgdSteps>(result.record.events.at(0));
        part.steps = step;
        const auto spent =
            dp::Epsilons({.job_hash = "", .run_id = "", .events = {part}}, settings.delta, kind);
        EXPECT_GE(seen.at(at).epsilon_insider, spent.insider * (1 - 1e-12)) << step;
      }
    }
  }
}

TEST(MakePlan, RefusesTheClosedFormBeyondItsRange) {
  TrainingSettings settings = SmallSettings();
  settings.accountant = dp::AccountantKind::kPea;
  settings.sigma = 0.5;
  EXPECT_THROW((void)MakePlan(settings), ConfigError);
  settings.sigma.reset();
  settings.target_epsilon = 30;
  settings.delta = 1e-5;
  EXPECT_THROW((void)MakePlan(settings), ConfigError);
  settings.target_epsilon = 3;
  EXPECT_LE(MakePlan(settings).epsilon_insider, 3);
}

TEST(MakePlan, HasNoEpsilonWhereASelectionIsAsPublishedAndNoiseAsIfItWereFree) {
  for (const auto kind : {dp::AccountantKind::kRdp, dp::AccountantKind::kPea}) {
    TrainingSettings settings = WithPrivateInitialisation(InitialisationMethod::kAccuracy);
    settings.accountant = kind;
    settings.initialisation->selection = Selection::kAsPublished;
    settings.sigma.reset();
    settings.target_epsilon = 20;
    const PrivacyPlan published = MakePlan(settings);
    EXPECT_TRUE(std::isinf(published.epsilon_outsider));
    EXPECT_TRUE(std::isinf(published.epsilon_insider));
    TrainingSettings averaged = settings;
    averaged.initialisation->method = InitialisationMethod::kAveraging;
    EXPECT_EQ(published.sigma, MakePlan(averaged).sigma);
    EXPECT_LE(MakePlan(averaged).epsilon_insider, 20);
  }
}

TEST(Train, RecordsASelectionAsPublishedWithoutBound) {
  TrainingSettings settings = WithPrivateInitialisation(InitialisationMethod::kAccuracy);
  settings.initialisation->selection = Selection::kAsPublished;
  const auto result = TrainSmall(settings)[0];
  EXPECT_TRUE(std::isinf(dp::Epsilons(result.record, settings.delta).outsider));
  EXPECT_TRUE(std::isinf(result.plan.epsilon_insider));
  EXPECT_EQ(dp::ToJson({.job_hash = "", .run_id = "", .events = MakePlan(settings).events}),
            dp::ToJson(result.record));
}

TEST(MakePlan, ListsTheEventsThatTheRecordWillList) {
  const TrainingSettings settings = WithPrivateInitialisation(InitialisationMethod::kAccuracy);
  const dp::TrainingRecord planned{.job_hash = "", .run_id = "", .events = MakePlan(settings).events};
  EXPECT_EQ(dp::ToJson(planned), dp::ToJson(TrainSmall(settings)[0].record));
}

/// What a training's last step sends is what is planned of it.
void ExpectStepsAsPlanned(const TrainingSettings& settings, protocols::Form form) {
  const auto sent = RunParties(Seed{3}, [&](mpc::Context& party) {
    std::vector<std::uint64_t> bytes;
    (void)Train(party, settings, MakeRecords(settings, 3, 20),
                {.on_step = [&](const StepReport& report) { bytes.push_back(report.bytes_sent); },
                 .on_record = [](const dp::TrainingRecord&) {}});
    return bytes.at(2) - bytes.at(1);
  });
  EXPECT_EQ(sent[0] + sent[1] + sent[2], PlannedStepCost(settings, form).bytes_of_all());
}

TEST(PlannedStepCost, IsWhatAStepSends) {
  for (const auto sampling : {Sampling::kOwnerPoisson, Sampling::kPublic, Sampling::kFull}) {
    for (const auto form : {protocols::Form::kLatency, protocols::Form::kBulk}) {
      TrainingSettings settings = SmallSettings();
      settings.sampling = sampling;
      if (sampling == Sampling::kFull) settings.expected_batch = 120;
      settings.comparison = form;
      settings.steps = 3;
      settings.momentum = form == protocols::Form::kBulk ? 0.5 : 0;
      ExpectStepsAsPlanned(settings, form);
      settings.row_fraction_bits = 8;
      settings.error_fraction_bits = 10;
      ExpectStepsAsPlanned(settings, form);
    }
  }
  TrainingSettings network = SmallSettings();
  network.steps = 3;
  network.comparison = protocols::Form::kLatency;
  network.hidden = {4};
  network.max_record_weight = 1.5;
  for (const int classes : {2, 3}) {
    network.classes = classes;
    EXPECT_EQ(MaskBitsBeside(MakeStepPlan(network)), classes == 2);
    ExpectStepsAsPlanned(network, protocols::Form::kLatency);
  }
}

// With every record in every step, whoever draws it, and without noise, nothing differs but what is rounded.
// Rows are narrow in both ways, with momentum and without.
// Steps are dealt ahead here, each for its own learning rate.
TEST(Train, ComesToOneModelHoweverRowsAreShared) {
  for (const auto shape : {RateShape::kConstant, RateShape::kLinear, RateShape::kCosine}) {
    for (const double momentum : {0.0, 0.5}) {
      TrainingSettings settings = SmallSettings();
      settings.expected_batch = 120;
      settings.schedule.shape = shape;
      settings.momentum = momentum;
      EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
      const auto afresh = TrainSmall(settings);
      settings.sampling = Sampling::kFull;
      EXPECT_EQ(MakeStepPlan(settings).row_bits, 40);
      const auto once = TrainSmall(settings);
      EXPECT_LT((afresh[0].model->weights - once[0].model->weights).cwiseAbs().maxCoeff(), 0.01)
          << static_cast<int>(shape) << ", momentum " << momentum;
    }
  }
}

TEST(Train, ReportsTheInitialisationsEpsilonBeforeTheFirstStep) {
  const TrainingSettings settings = WithPrivateInitialisation(InitialisationMethod::kAveraging);
  const auto first = RunParties(Seed{7}, [&](mpc::Context& party) {
    std::vector<StepReport> seen;
    (void)Train(party, settings, MakeRecords(settings, 3, 20),
                {.on_step = [&](const StepReport& report) { seen.push_back(report); },
                 .on_record = [](const dp::TrainingRecord&) {}});
    return seen.at(0).epsilon_insider;
  });
  EXPECT_GT(first[0], 14.9);
  EXPECT_LE(first[0], 15);
}

TEST(MakePlan, RefusesAnInitialisationThatTakesTheWholeTarget) {
  TrainingSettings settings = WithPrivateInitialisation(InitialisationMethod::kAveraging);
  settings.target_epsilon = 14;
  EXPECT_THROW((void)MakePlan(settings), ConfigError);
}

TEST(Train, LearnsANetworkFromPublicRandomWeights) {
  TrainingSettings settings = SmallSettings();
  settings.hidden = {12};
  settings.loss = Loss::kSoftmax;
  settings.momentum = 0.5;
  settings.steps = 40;
  settings.clip = 2;
  settings.sigma = 0.2;
  const auto results = TrainSmall(settings);
  for (const TrainingResult& result : results) {
    ASSERT_TRUE(result.model);
    ASSERT_EQ(result.model->hidden.size(), 1U);
    EXPECT_EQ(result.model->hidden[0].weights, results[0].model->hidden[0].weights);
    EXPECT_EQ(result.model->weights, results[0].model->weights);
    EXPECT_EQ(result.record.events.size(), 1U);
  }
  EXPECT_EQ(results[0].model->hidden[0].weights.rows(), settings.features);
  EXPECT_EQ(results[0].model->weights.rows(), 12);
  EXPECT_GT(Accuracy(settings, *results[0].model), kLearned);
}

TEST(Train, ReleasesOnlyToTheNamedParties) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 2;
  settings.release_to = {1};
  const auto results = TrainSmall(settings);
  EXPECT_FALSE(results[0].model);
  EXPECT_TRUE(results[1].model);
  EXPECT_FALSE(results[2].model);
}

TEST(Train, AllowsEmptyBatches) {
  for (const Sampling sampling : {Sampling::kOwnerPoisson, Sampling::kPublic}) {
    TrainingSettings settings = SmallSettings();
    settings.sampling = sampling;
    settings.expected_batch = 1e-6;  // no row is ever drawn
    settings.learning_rate = 1e-6;
    settings.steps = 3;
    const auto results = TrainSmall(settings);
    EXPECT_EQ(results[0].model->weights.cwiseAbs().maxCoeff(), 0.0);
  }
}

TEST(Train, SaysThereIsNoGuaranteeWithoutNoise) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 1;
  const auto results = TrainSmall(settings);
  EXPECT_EQ(results[0].plan.epsilon_outsider, std::numeric_limits<double>::infinity());
}

TEST(Train, ChargesAnInsiderThePublicParticipationWithoutAmplification) {
  TrainingSettings settings = SmallSettings();
  settings.sampling = Sampling::kPublic;
  settings.steps = 30;
  settings.sigma.reset();
  settings.target_epsilon = 5;
  settings.against = Adversary::kInsider;
  const auto results = TrainSmall(settings);
  const auto& event = std::get<dp::DpSgdSteps>(results[0].record.events[0]);
  EXPECT_GE(event.max_participation, 30 / 4);  // the mean is a quarter of the steps
  EXPECT_LE(event.max_participation, 30);
  EXPECT_LE(results[0].plan.epsilon_insider, 5);
  EXPECT_GT(results[0].plan.epsilon_insider, 4.9);
}

// An outsider that reads the noise multiplier, or counts bytes, learns nothing of the common coins.
TEST(Train, ShowsNothingOfCommonCoins) {
  TrainingSettings settings = SmallSettings();
  settings.sampling = Sampling::kPublic;
  settings.steps = 12;
  settings.sigma.reset();
  settings.target_epsilon = 5;
  settings.against = Adversary::kInsider;
  const auto shown = [&](Seed seed) {
    return RunParties(seed, [&](mpc::Context& party) {
      std::string text;
      const auto on_step = [&](const StepReport& report) {
        text += std::to_string(report.bytes_sent) + ' ' + std::to_string(report.rounds) + ' ' +
                std::to_string(report.epsilon_insider) + ' ' + std::to_string(report.epsilon_outsider) + '\n';
      };
      const auto result = Train(party, settings, MakeRecords(settings, 3, 20),
                                {.on_step = on_step, .on_record = [](const dp::TrainingRecord&) {}});
      return text + dp::ToJson(result.record).dump();
    });
  };
  const auto one = shown(Seed{1});
  for (const Seed seed : {Seed{2}, Seed{3}, Seed{4}}) EXPECT_EQ(shown(seed), one);
  const auto planned = dp::ToJson({.job_hash = "", .run_id = "", .events = MakePlan(settings).events}).dump();
  EXPECT_TRUE(one[0].ends_with(planned));
}

TEST(Train, ReportsEveryStepWithTheEpsilonSoFar) {
  TrainingSettings settings = SmallSettings();
  settings.sigma = 1;
  settings.steps = 4;
  const auto reports = RunParties(Seed{2}, [&](mpc::Context& party) {
    std::vector<StepReport> seen;
    const OwnRecords own = MakeRecords(settings, 3, 20);
    (void)Train(party, settings, own,
                {.on_step = [&](const StepReport& report) { seen.push_back(report); },
                 .on_record = [](const dp::TrainingRecord&) {}});
    return seen;
  });
  ASSERT_EQ(reports[0].size(), 5U);
  for (int step = 0; step <= 4; ++step) EXPECT_EQ(reports[0][static_cast<std::size_t>(step)].step, step);
  EXPECT_EQ(reports[0][0].epsilon_outsider, 0);
  for (std::size_t step = 1; step < 5; ++step) {
    EXPECT_GT(reports[0][step].epsilon_outsider, reports[0][step - 1].epsilon_outsider);
    EXPECT_GT(reports[0][step].bytes_sent, reports[0][step - 1].bytes_sent);
  }
}

// The next batch is input beside a step, so that a step takes its own rounds only. Which form is run depends
// on the links.
TEST(Train, TakesNoRoundForTheNextBatch) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 8;
  const auto parts = RunParties(Seed{2}, [&](mpc::Context& party) {
    std::vector<std::uint64_t> rounds;
    (void)Train(party, settings, MakeRecords(settings, 3, 20),
                {.on_step = [&](const StepReport& report) { rounds.push_back(report.rounds); },
                 .on_record = [](const dp::TrainingRecord&) {}});
    return rounds.at(7) - rounds.at(1);
  });
  const auto rounds_of_six_steps = [&](protocols::Form form) {
    const StepPlan plan = MakeStepPlan(settings, form);
    const mpc::Cost step = Parallel(DpSgdStepCost(plan, plan.batch_rows), protocols::InputCost(0, 1));
    const mpc::Cost three = Then(Then(step, step), step);
    return static_cast<std::uint64_t>(Then(three, three).rounds());
  };
  const std::uint64_t latency = rounds_of_six_steps(protocols::Form::kLatency);
  const std::uint64_t bulk = rounds_of_six_steps(protocols::Form::kBulk);
  for (const std::uint64_t rounds : parts) {
    EXPECT_THAT(rounds, testing::AnyOf(testing::AllOf(testing::Le(latency), testing::Gt(latency - 6)),
                                       testing::AllOf(testing::Le(bulk), testing::Gt(bulk - 6))));
  }
}

TEST(Train, KeepsTheRecordBeforeItReleases) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 2;
  const auto messages = RunParties(Seed{6}, [&](mpc::Context& party) {
    std::uint64_t at_record = 0;
    const OwnRecords own = MakeRecords(settings, 3, 20);
    (void)Train(party, settings, own,
                {.on_step = [](const StepReport&) {},
                 .on_record =
                     [&](const dp::TrainingRecord& record) {
                       EXPECT_EQ(std::get<dp::DpSgdSteps>(record.events.at(0)).steps, 2);
                       at_record = party.transport().counters().messages;
                     }});
    // Every party tells both others that it has the record, then sends its part of the release to the party
    // after it.
    return party.transport().counters().messages - at_record;
  });
  EXPECT_EQ(messages, (std::array<std::uint64_t, 3>{3, 3, 3}));
}

// What a party may still refuse, it refuses before anybody has sent anything of records: coins and public
// constants only.
TEST(Train, SendsNothingOfRecordsBeforeAllHaveSeenThePlan) {
  for (const Sampling sampling : {Sampling::kOwnerPoisson, Sampling::kPublic}) {
    TrainingSettings settings = SmallSettings();
    settings.steps = 2;
    settings.sampling = sampling;
    std::array<std::uint64_t, 3> sent{};
    EXPECT_THROW((void)RunParties(
                     Seed{6},
                     [&](mpc::Context& party) {
                       const auto self = static_cast<std::size_t>(party.self());
                       const auto bytes = [&] { return party.transport().counters().bytes_sent; };
                       std::uint64_t at_plan = 0;
                       const auto on_plan = [&](const dp::TrainingRecord& record, const dp::TrainingRecord&) {
                         EXPECT_EQ(std::get<dp::DpSgdSteps>(record.events.at(0)).steps, 2);
                         at_plan = bytes();
                         if (self == 1) throw BudgetError("no more");
                       };
                       try {
                         return Train(party, settings, MakeRecords(settings, 3, 20),
                                      {.on_step = kQuiet.on_step,
                                       .on_record = kQuiet.on_record,
                                       .on_plan = on_plan,
                                       .before_steps = [](const dp::TrainingRecord&, int) { FAIL(); }});
                       } catch (...) {
                         sent[self] = bytes() - at_plan;
                         throw;
                       }
                     }),
                 BudgetError);
    const std::uint64_t constants = protocols::RequireSameEverywhereCost().bytes_sent()[0];
    EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{constants, 0, constants}));
  }
}

TEST(Train, StandardisesRecordsBeforeAnythingOfThemIsUsed) {
  for (const Sampling sampling : {Sampling::kOwnerPoisson, Sampling::kPublic}) {
    TrainingSettings settings = SmallSettings();
    settings.sampling = sampling;
    settings.steps = 60;
    settings.clip = 2;
    settings.sigma = 0.5;
    settings.ranges = dp::GaussianReleases{.count = 1, .coordinates = 9, .sigma = 5, .party_deviation = 1e9};
    settings.standardisation =
        dp::GaussianReleases{.count = 1, .coordinates = 3, .sigma = 4, .party_deviation = 1e9};
    const auto results = RunParties(Seed{7}, [&](mpc::Context& party) {
      OwnRecords own;  // until they are there
      std::vector<std::string> calls;
      TrainingHooks hooks = kQuiet;
      hooks.on_plan = [&](const dp::TrainingRecord& planned, const dp::TrainingRecord&) {
        EXPECT_EQ(std::get<dp::GaussianReleases>(planned.events.at(0)).sigma, 5);
        EXPECT_EQ(std::get<dp::GaussianReleases>(planned.events.at(1)).sigma, 4);
        calls.emplace_back("planned");
      };
      hooks.before_steps = [&](const dp::TrainingRecord& announced, int) {
        EXPECT_EQ(std::get<dp::GaussianReleases>(announced.events.at(0)).coordinates, 9);
        EXPECT_EQ(std::get<dp::GaussianReleases>(announced.events.at(1)).coordinates, 3);
        if (calls.size() == 1) calls.emplace_back("announced");
      };
      hooks.before_records = [&](mpc::Context&) {
        calls.emplace_back("standardised");
        own = MakeRecords(settings, 10 + static_cast<std::uint64_t>(party.self()), 40);
      };
      auto result = Train(party, settings, own, hooks);
      EXPECT_EQ(calls, (std::vector<std::string>{"planned", "announced", "standardised"}));
      return result;
    });
    EXPECT_EQ(results[1].record.events.size(), 3U);
    EXPECT_GT(Accuracy(settings, *results[0].model), kLearned);
    auto declared = settings;
    declared.ranges.reset();
    EXPECT_LT(MakePlan(declared).epsilon_insider, MakePlan(settings).epsilon_insider);
    auto unstandardised = declared;
    unstandardised.standardisation.reset();
    EXPECT_LT(MakePlan(unstandardised).epsilon_insider, MakePlan(declared).epsilon_insider);
    EXPECT_THROW((void)TrainSmall(settings), ContractError);  // who opens nothing
  }
}

/// Of either sum before the steps, by the last bit, as another library's logarithm might make it.
TEST(Train, OpensNothingWithPartiesThatTookOtherNoiseForIt) {
  TrainingSettings settings = SmallSettings();
  settings.sigma = 1;
  settings.ranges = dp::GaussianReleases{.count = 1, .coordinates = 9, .sigma = 5, .party_deviation = 1e9};
  settings.standardisation =
      dp::GaussianReleases{.count = 1, .coordinates = 3, .sigma = 4, .party_deviation = 1e9};
  for (auto* opened : {&settings.ranges, &settings.standardisation}) {
    const double sigma = (*opened)->sigma;
    const auto run = [&] {
      (void)RunParties(Seed{7}, [&](mpc::Context& party) {
        auto own = settings;
        if (party.self() == 1) {
          auto& other = opened == &settings.ranges ? own.ranges : own.standardisation;
          other->sigma = std::nextafter(sigma, 6);
        }
        TrainingHooks hooks = kQuiet;
        hooks.before_records = [](mpc::Context&) { ADD_FAILURE() << "opens a sum all the same"; };
        return Train(party, own, MakeRecords(own, 3, 20), hooks);
      });
    };
    EXPECT_THAT(run, testing::ThrowsMessage<ConfigError>(testing::HasSubstr("constants of the training")));
  }
}

TEST(Train, AnnouncesStepsBeforeItExecutesThem) {
  for (const Sampling sampling : {Sampling::kOwnerPoisson, Sampling::kPublic}) {
    TrainingSettings settings = SmallSettings();
    settings.steps = 120;
    settings.sigma = 1;
    settings.sampling = sampling;
    (void)RunParties(Seed{6}, [&](mpc::Context& party) {
      dp::TrainingRecord planned;
      dp::TrainingRecord announced;
      int announcements = 0;
      const auto steps_of = [](const dp::TrainingRecord& record) {
        return record.events.empty() ? dp::DpSgdSteps{} : std::get<dp::DpSgdSteps>(record.events.at(0));
      };
      const auto result = Train(party, settings, MakeRecords(settings, 3, 20),
                                {.on_step =
                                     [&](const StepReport& report) {
                                       EXPECT_GE(steps_of(announced).steps, report.step) << report.step;
                                       EXPECT_LE(steps_of(announced).steps, report.step + 3);
                                       // Never less than what the accountant of the progress has counted.
                                       EXPECT_GE(dp::Epsilons(announced, settings.delta).insider,
                                                 report.epsilon_insider * (1 - 1e-12));
                                     },
                                 .on_record = [](const dp::TrainingRecord&) {},
                                 .on_plan =
                                     [&](const dp::TrainingRecord& record, const dp::TrainingRecord& before) {
                                       planned = record;
                                       EXPECT_TRUE(before.events.empty());
                                     },
                                 .before_steps =
                                     [&](const dp::TrainingRecord& record, int) {
                                       announced = record;
                                       ++announcements;
                                     }});
      EXPECT_EQ(announcements, 40);
      EXPECT_EQ(dp::ToJson(announced), dp::ToJson(result.record));
      EXPECT_EQ(dp::ToJson(planned), dp::ToJson(result.record));
      return 0;
    });
  }
}

TEST(Train, ChargesGroupsForAllTheirRows) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 3;
  settings.sigma = 1;
  const auto plan = MakePlan(settings);
  settings.groups = true;
  settings.group_rows = 3;
  const auto results = RunParties(Seed{6}, [&](mpc::Context& party) {
    OwnRecords own = MakeRecords(settings, 3, 20);
    for (int row = 0; row < 20; ++row) own.groups.push_back(row / 3);
    return Train(party, settings, own, kQuiet);
  });
  const auto& steps = std::get<dp::DpSgdSteps>(results[0].record.events.at(0));
  EXPECT_EQ(steps.limits.group_rows, 3);
  EXPECT_EQ(steps.sensitivity, 3 * plan.sensitivity);
  EXPECT_EQ(results[0].plan.sensitivity, 3 * plan.sensitivity);
  // Noise in proportion.
  TrainingSettings alone = settings;
  alone.groups = false;
  alone.group_rows = 1;
  const double ratio = std::sqrt((NoiseVariance(MakeStepPlan(settings), 1.0).convert_to<double>()) /
                                 NoiseVariance(MakeStepPlan(alone), 1.0).convert_to<double>());
  EXPECT_NEAR(ratio, 3, 1e-6);
}

TEST(Train, RefusesLargerGroupsAndWhatGroupsDoNotCover) {
  TrainingSettings settings = SmallSettings();
  settings.groups = true;
  settings.group_rows = 3;
  EXPECT_THROW((void)RunParties(Seed{6},
                                [&](mpc::Context& party) {
                                  OwnRecords own = MakeRecords(settings, 3, 20);
                                  for (int row = 0; row < 20; ++row) own.groups.push_back(row / 4);
                                  return Train(party, settings, own, kQuiet);
                                }),
               DataError);
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
  TrainingSettings other = settings;
  other.sampling = Sampling::kPublic;
  EXPECT_THROW((void)MakeStepPlan(other), ConfigError);
  other = settings;
  other.initialisation = InitialisationSettings{};
  EXPECT_THROW((void)MakeStepPlan(other), ConfigError);
  other = settings;
  other.evaluation = EvaluationSettings{.test = {.holder = 0, .rows = 5}, .sigma = 1};
  EXPECT_THROW((void)MakeStepPlan(other), ConfigError);
  other = settings;
  other.groups = false;
  EXPECT_THROW((void)MakeStepPlan(other), ConfigError);
}

TEST(Train, RefusesMoreRowsThanDeclaredAndOtherFeatures) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 1;
  EXPECT_THROW((void)RunParties(Seed{3},
                                [&](mpc::Context& party) {
                                  return Train(party, settings, MakeRecords(settings, 1, 41), kQuiet);
                                }),
               DataError);
  TrainingSettings wider = settings;
  wider.features = 7;
  EXPECT_THROW((void)RunParties(Seed{4},
                                [&](mpc::Context& party) {
                                  return Train(party, settings, MakeRecords(wider, 1, 20), kQuiet);
                                }),
               DataError);
}

TEST(Train, NamesAPartyThatDerivedOtherConstants) {
  EXPECT_THROW((void)RunParties(Seed{5},
                                [&](mpc::Context& party) {
                                  TrainingSettings settings = SmallSettings();
                                  if (party.self() == 1) settings.clip = 0.6;
                                  return Train(party, settings, MakeRecords(settings, 1, 20), kQuiet);
                                }),
               ConfigError);
}

}  // namespace
}  // namespace trefoil::ml
