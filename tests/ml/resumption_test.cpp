// Train() from a checkpoint: the model of a run that was never interrupted, and a record of all that was
// executed.

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include "ml/dpsgd/training.h"
#include "ml/plan/public_sampling.h"
#include "tests/support/ml_test.h"
#include "tests/support/secrecy/recording_transport.h"

namespace trefoil::ml {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// Nothing in it is left to chance but the coins of public sampling, which a resumed run keeps, and the
/// sigmoid's last bits, which depend on its masks. No gradient is as long as the clip: where the factor falls
/// from 1 to 0.95, last bits would decide.
TrainingSettings DeterministicSettings() {
  TrainingSettings settings = SmallSettings();
  settings.sampling = Sampling::kPublic;
  settings.truncation = protocols::Rounding::kExact;
  settings.momentum = 0.5;
  settings.steps = 11;
  settings.sigma = 0;
  settings.clip = 4;
  return settings;
}

Checkpoint CopyOf(const Checkpoint& one) {
  Checkpoint copy{.state = one.state, .coins = {}, .counts = one.counts, .class_counts = one.class_counts};
  if (one.coins)
    copy.coins.emplace(PublicCoins{.schedule = SecretKey(one.coins->schedule.bytes()),
                                   .slots = SecretKey(one.coins->slots.bytes())});
  return copy;
}

/// As an operator's signal is heeded, in the report of a step.
struct Stopped : std::exception {};

/// One party's side of a session.
struct Session {
  TrainingResult result;
  std::map<std::int64_t, Checkpoint> checkpoints{};  ///< by steps done, the last of each
  std::vector<int> begun{};
  std::vector<StepReport> reports{};
  int evaluations = 0;
};

using Sessions = std::array<Session, 3>;

/// Whether the last checkpoint that a session has kept has what its evaluation counted.
bool KeptCountsOf(const Session& session) {
  return !session.checkpoints.empty() && session.checkpoints.rbegin()->second.counts.has_value();
}

/// `from`: nobody's checkpoints, or the step of those of an earlier session.
Sessions RunSession(Seed seed, const TrainingSettings& settings, const Sessions* from, int step,
                    const SessionHistory& earlier) {
  return RunParties(seed, [&](mpc::Context& party) {
    const auto self = static_cast<std::size_t>(party.self());
    Resumption resumption{.from = {}, .earlier = earlier};
    if (from != nullptr) resumption.from.emplace(CopyOf(from->at(self).checkpoints.at(step)));
    Session session;
    const TrainingHooks hooks{
        .on_step = [&](const StepReport& report) { session.reports.push_back(report); },
        .on_record = [](const dp::TrainingRecord&) {},
        .before_step = [&](int begun) { session.begun.push_back(begun); },
        // Nothing is opened before it is kept.
        .before_release = [&] { EXPECT_EQ(session.evaluations > 0, KeptCountsOf(session)); },
        .before_evaluation = [&] { ++session.evaluations; },
        .on_checkpoint =
            [&](const Checkpoint& one) { session.checkpoints.insert_or_assign(one.state.step, CopyOf(one)); },
        .checkpoint_every = 4};
    HeldOutRecords held_out;
    if (settings.evaluation && settings.evaluation->test.holder == party.self())
      held_out.test = MakeRecords(settings, 99, settings.evaluation->test.rows);
    session.result =
        Train(party, settings, MakeRecords(settings, 10 + self, 40), hooks, held_out, resumption);
    return session;
  });
}

const SessionHistory kLostThree{{.id = "ab", .from_start = true, .first = 0, .begun = 7}};

/// Of narrow rows: every record in each step, whoever draws it, at a rate that falls, so that what is dealt
/// ahead depends on the step.
TrainingSettings SettingsOfNarrowRows() {
  TrainingSettings settings = DeterministicSettings();
  settings.sampling = Sampling::kOwnerPoisson;
  settings.expected_batch = 120;
  settings.schedule.shape = RateShape::kLinear;
  return settings;
}

/// Of narrow rows that are shared again, in the slots and for the steps of the same coins.
TrainingSettings SettingsOfSharedNarrowRows() {
  TrainingSettings settings = DeterministicSettings();
  settings.momentum = 0;
  return settings;
}

const std::array<std::string, 3> kKindsOfRows{"SharedOnceWithMomentum", "Afresh", "SharedOnce"};

class ResumedModelTest : public testing::TestWithParam<TrainingSettings (*)()> {};

TEST_P(ResumedModelTest, IsThatOfARunThatWasNeverInterrupted) {
  const TrainingSettings settings = GetParam()();
  EXPECT_TRUE(HasNarrowRows(MakeStepPlan(settings)));
  const auto whole = RunSession(Seed{1}, settings, nullptr, 0, {});
  for (const Session& party : whole)
    EXPECT_THAT(party.checkpoints,
                testing::ElementsAre(testing::Key(0), testing::Key(4), testing::Key(8), testing::Key(11)));
  // From before the first step, from between, and where only the release is left.
  for (const int step : {0, 4, 8, 11}) {
    const auto resumed = RunSession(Seed{static_cast<std::uint8_t>(step + 2)}, settings, &whole, step, {});
    for (const Session& party : resumed) {
      // Some units of 2^-16 a step; what a lost velocity, another batch or a step left out makes is above
      // 0.01.
      constexpr double kSigmoids = 32 * 0x1p-16;
      const auto& model = *party.result.model;
      EXPECT_LE((model.weights - whole[0].result.model->weights).cwiseAbs().maxCoeff(), kSigmoids)
          << "from step " << step;
      EXPECT_LE((model.bias - whole[0].result.model->bias).cwiseAbs().maxCoeff(), kSigmoids);
      EXPECT_EQ(model.weights, resumed[0].result.model->weights);
      EXPECT_EQ(party.reports.front().step, step);
      EXPECT_EQ(party.reports.back().step, 11);
      EXPECT_EQ(party.begun.size(), static_cast<std::size_t>(11 - step));
      EXPECT_FALSE(party.checkpoints.contains(step));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, ResumedModelTest,
                         testing::Values(&DeterministicSettings, &SettingsOfNarrowRows,
                                         &SettingsOfSharedNarrowRows),
                         [](const auto& info) { return kKindsOfRows.at(info.index); });

// Counts that were opened once are not opened again, nor charged again, but by a run that begins anew.
TEST(Resumption, KeepsTheCountsThatItsClassWeightsFollowFrom) {
  TrainingSettings settings = DeterministicSettings();
  settings.balance_sigma = 5;
  const auto whole = RunSession(Seed{1}, settings, nullptr, 0, {});
  const auto releases = [](const Session& party) {
    const auto& events = party.result.record.events;
    return std::count_if(events.begin(), events.end(), [](const dp::RecordedEvent& event) {
      return std::holds_alternative<dp::GaussianReleases>(event);
    });
  };
  EXPECT_EQ(releases(whole[0]), 1);
  const auto resumed = RunSession(Seed{2}, settings, &whole, 4, kLostThree);
  for (const Session& party : resumed) {
    EXPECT_EQ(party.result.class_counts, whole[0].result.class_counts);
    EXPECT_EQ(party.result.class_weights, whole[0].result.class_weights);
    EXPECT_EQ(releases(party), 1);
    EXPECT_LE((party.result.model->weights - whole[0].result.model->weights).cwiseAbs().maxCoeff(),
              32 * 0x1p-16);
  }
  const auto anew = RunSession(Seed{3}, settings, nullptr, 0, kLostThree);
  for (const Session& party : anew) EXPECT_EQ(releases(party), 2);
}

// Where the clip is follows from what was opened, and no session opens that again.
TEST(Resumption, KeepsAnAdaptiveClip) {
  TrainingSettings settings = DeterministicSettings();
  settings.sampling = Sampling::kFull;
  settings.expected_batch = 120;
  settings.clip = 2;
  settings.adaptive.emplace();
  const auto whole = RunSession(Seed{1}, settings, nullptr, 0, {});
  EXPECT_EQ(whole[0].checkpoints.at(0).state.clip_at, 0);
  for (const int step : {0, 4, 11}) {
    const auto resumed = RunSession(Seed{2}, settings, &whole, step, {});
    for (const Session& party : resumed) {
      EXPECT_EQ(party.result.last_clip, whole[0].result.last_clip);
      EXPECT_LE((party.result.model->weights - whole[0].result.model->weights).cwiseAbs().maxCoeff(),
                32 * 0x1p-16);
    }
  }
  EXPECT_LT(whole[0].result.last_clip.value(), 1.9);
}

TEST(Resumption, KeepsACheckpointBeforeTheReportThatEndsTheSession) {
  const TrainingSettings settings = DeterministicSettings();
  for (const int last : {0, 4, 11}) {
    const auto newest = RunParties(Seed{1}, [&](mpc::Context& party) {
      std::int64_t kept = -1;
      const TrainingHooks hooks{.on_step =
                                    [&](const StepReport& report) {
                                      if (report.step == last) throw Stopped();
                                    },
                                .on_record = [](const dp::TrainingRecord&) {},
                                .on_checkpoint = [&](const Checkpoint& one) { kept = one.state.step; },
                                .checkpoint_every = 4};
      const auto records = MakeRecords(settings, 10 + static_cast<std::size_t>(party.self()), 40);
      EXPECT_THROW((void)Train(party, settings, records, hooks), Stopped);
      return kept;
    });
    EXPECT_THAT(newest, testing::Each(last));
  }
}

// Else a party that dies while it writes its last checkpoint takes the run back to an earlier one, and what
// it then releases is a second model.
TEST(Resumption, GivesOutNothingBeforeAllThreeHaveKeptTheLastCheckpoint) {
  for (const std::vector<int>& to : {std::vector<int>{}, {0, 1, 2}}) {
    TrainingSettings settings = DeterministicSettings();
    settings.release_to = to;
    std::atomic<int> kept = 0;
    const auto seen = RunParties(Seed{1}, [&](mpc::Context& party) {
      int at_release = 0;
      const TrainingHooks hooks{.on_step = [](const StepReport&) {},
                                .on_record = [](const dp::TrainingRecord&) {},
                                .before_release = [&] { at_release = kept.load(); },
                                .on_checkpoint =
                                    [&](const Checkpoint& one) {
                                      if (one.state.step < settings.steps) return;
                                      // As long as the others would take to go on.
                                      if (party.self() == 2)
                                        std::this_thread::sleep_for(std::chrono::milliseconds(100));
                                      ++kept;
                                    },
                                .checkpoint_every = 4};
      const auto records = MakeRecords(settings, 10 + static_cast<std::size_t>(party.self()), 40);
      (void)Train(party, settings, records, hooks);
      return std::pair{at_release, kept.load()};
    });
    EXPECT_THAT(seen, testing::Each(testing::Pair(3, 3)));
  }
}

/// How many messages with content the parties have sent behind their own stamp of keeping the record: before
/// the last of these stamps, and behind it. Offline messages, which hold nothing of the data, may come ahead.
std::pair<int, int> SentSinceKept(const std::array<Transcript, 3>& transcripts,
                                  const std::array<std::uint64_t, 3>& kept) {
  const auto last = *std::max_element(kept.begin(), kept.end());
  std::pair<int, int> sent{0, 0};
  for (std::size_t party = 0; party < kept.size(); ++party) {
    for (const auto& event : transcripts.at(party)) {
      const bool opens = !event.received && !event.payload.empty() && event.lane < net::kLanes;
      if (opens && event.stamp > kept.at(party)) ++(event.stamp < last ? sent.first : sent.second);
    }
  }
  return sent;
}

// What party 0 opens here it has from party 2, and both would go on while party 1 fails to charge it.
TEST(Resumption, GivesOutNothingBeforeAllThreeHaveKeptTheRecord) {
  for (const bool evaluates : {false, true}) {
    TrainingSettings settings = SmallSettings();
    settings.steps = 2;
    settings.sigma = 1;
    if (evaluates) settings.evaluation = EvaluationSettings{.test = {.holder = 1, .rows = 5}, .sigma = 1};
    std::array<Transcript, 3> transcripts;
    const auto kept = RunPartiesOver(MakeRecordingTransports(transcripts), Seed{1}, [&](mpc::Context& party) {
      std::uint64_t stamp = 0;
      const TrainingHooks hooks{.on_step = [](const StepReport&) {},
                                .on_record =
                                    [&](const dp::TrainingRecord&) {
                                      // As long as the others would take to go on.
                                      if (party.self() == 1)
                                        std::this_thread::sleep_for(std::chrono::milliseconds(100));
                                      stamp = NextStamp();
                                    }};
      const auto self = static_cast<std::size_t>(party.self());
      (void)Train(
          party, settings, MakeRecords(settings, 10 + self, 40), hooks,
          {.test = evaluates && self == 1 ? MakeRecords(settings, 9, 5) : OwnRecords{}, .validation = {}});
      return stamp;
    });
    const auto [before, behind] = SentSinceKept(transcripts, kept);
    EXPECT_EQ(before, 0) << (evaluates ? "with an evaluation" : "");
    EXPECT_GT(behind, 0);
  }
}

// The record says that the evaluation was executed. Who dies between the two has to know of it, or its run
// would seem to be an older copy.
TEST(Resumption, NotesTheEvaluationBeforeTheRecordOfIt) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 2;
  settings.sigma = 1;
  settings.evaluation = EvaluationSettings{.test = {.holder = 1, .rows = 5}, .to = {0, 2}, .sigma = 1};
  const auto order = RunParties(Seed{1}, [&](mpc::Context& party) {
    std::vector<std::string> calls;
    const TrainingHooks hooks{.on_step = [](const StepReport&) {},
                              .on_record = [&](const dp::TrainingRecord&) { calls.push_back("record"); },
                              .before_release = [&] { calls.push_back("release"); },
                              .before_evaluation = [&] { calls.push_back("evaluation"); }};
    const auto self = static_cast<std::size_t>(party.self());
    (void)Train(party, settings, MakeRecords(settings, 10 + self, 40), hooks,
                {.test = self == 1 ? MakeRecords(settings, 9, 5) : OwnRecords{}, .validation = {}});
    return calls;
  });
  EXPECT_THAT(order, testing::Each(testing::ElementsAre("evaluation", "release", "record")));
}

// Whoever dies behind the counting goes on with the same histogram, threshold and charge. That twenty numbers
// with new noise, of deviation 8 on a lattice of 2^-16, were the same has a probability below 2^-300.
TEST(Resumption, OpensWhatAnEarlierSessionCounted) {
  TrainingSettings settings = SmallSettings();
  settings.classes = 2;
  settings.steps = 3;
  settings.sigma = 1;
  settings.evaluation =
      EvaluationSettings{.test = {.holder = 1, .rows = 60}, .sigma = 5, .bins = 10, .choose_threshold = true};
  auto first = RunSession(Seed{1}, settings, nullptr, 0, {});
  const SessionHistory evaluated{{.id = "ab", .from_start = true, .first = 0, .begun = 3, .evaluated = true}};
  const auto same = RunSession(Seed{2}, settings, &first, 3, evaluated);
  for (Session& party : first) {
    ASSERT_TRUE(party.checkpoints.at(3).counts);
    party.checkpoints.at(3).counts.reset();
  }
  const auto other = RunSession(Seed{3}, settings, &first, 3, evaluated);
  for (std::size_t party = 0; party < first.size(); ++party) {
    const auto& before = first.at(party).result;
    const auto& again = same.at(party).result;
    EXPECT_EQ(same.at(party).evaluations, 0);
    EXPECT_TRUE(same.at(party).checkpoints.empty());
    EXPECT_EQ(again.evaluation->histogram, before.evaluation->histogram);
    EXPECT_EQ(again.evaluation->threshold, before.evaluation->threshold);
    EXPECT_LT(again.evaluation->bytes_sent, before.evaluation->bytes_sent / 2);
    EXPECT_EQ(again.model->weights, before.model->weights);
    EXPECT_EQ(dp::ToJson(again.record), dp::ToJson(before.record));
    // Of the checkpoint before it another one is counted, and charged.
    EXPECT_EQ(other.at(party).evaluations, 1);
    EXPECT_NE(other.at(party).result.evaluation->histogram, before.evaluation->histogram);
    EXPECT_EQ(other.at(party).result.record.events.size(), before.record.events.size() + 1);
  }
}

TEST(Resumption, RecordsWhatWasLost) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 11;
  settings.sigma = 1;
  const auto first = RunSession(Seed{1}, settings, nullptr, 0, {});
  const auto resumed = RunSession(Seed{2}, settings, &first, 4, kLostThree);
  for (const Session& party : resumed) {
    ASSERT_EQ(party.result.record.events.size(), 1U);
    EXPECT_EQ(std::get<dp::DpSgdSteps>(party.result.record.events[0]).steps, 11 + 3);
    EXPECT_GT(party.result.plan.epsilon_insider, first[0].result.plan.epsilon_insider);
    // What is reported after each step composes to what the record says.
    EXPECT_NEAR(party.reports.back().epsilon_insider, party.result.plan.epsilon_insider, 1e-9);
    EXPECT_GT(party.reports.front().epsilon_insider, first[0].reports.at(7).epsilon_insider * (1 - 1e-9));
    EXPECT_EQ(party.result.plan.sigma, first[0].result.plan.sigma);
  }
}

TEST(Resumption, CountsHowOftenAnyRowIsInAStepOverAllSessions) {
  TrainingSettings settings = SmallSettings();
  settings.sampling = Sampling::kPublic;
  settings.steps = 11;
  settings.sigma = 5;
  const auto first = RunSession(Seed{1}, settings, nullptr, 0, {});
  const auto resumed = RunSession(Seed{2}, settings, &first, 4, kLostThree);

  const PublicCoins& coins = *first[0].checkpoints.at(4).coins;
  const PublicSchedule schedule(SecretKey(coins.schedule.bytes()), 120, SamplingRate(settings), 11);
  std::vector<std::int64_t> taken(120, 0);
  for (const int step : {0, 1, 2, 3, 4, 5, 6, 4, 5, 6, 7, 8, 9, 10}) {
    for (const std::int64_t row : schedule.RowsOf(step)) ++taken[static_cast<std::size_t>(row)];
  }
  const auto bounds = ParticipationBounds(120, SamplingRate(settings), 11);
  for (const Session& party : resumed) {
    std::int64_t executed = 0;
    std::int64_t participation = 0;
    for (const auto& event : party.result.record.events) {
      const auto& steps = std::get<dp::DpSgdSteps>(event);
      executed += steps.steps * steps.executions;
      participation += steps.max_participation;
    }
    EXPECT_EQ(executed, 14);
    EXPECT_EQ(participation, bounds[11] + 3);  // the three that were lost may take any row
    EXPECT_GE(participation, *std::max_element(taken.begin(), taken.end()));
    EXPECT_EQ(party.result.plan.sigma, first[0].result.plan.sigma);
  }
  EXPECT_EQ(std::get<dp::DpSgdSteps>(first[0].result.record.events.at(0)).max_participation, bounds[11]);
}

TEST(Resumption, KeepsTheCoinsAndEachOwnersPlaces) {
  const TrainingSettings settings = DeterministicSettings();
  const auto first = RunSession(Seed{1}, settings, nullptr, 0, {});
  const auto second = RunSession(Seed{2}, settings, nullptr, 0, {});
  const auto bytes = [](const SecretKey& key) {
    return std::vector<std::uint8_t>(key.bytes().begin(), key.bytes().end());
  };
  const auto coins = [](const Sessions& of, std::size_t party, int step) -> const PublicCoins& {
    return *of.at(party).checkpoints.at(step).coins;
  };
  EXPECT_EQ(bytes(coins(first, 0, 0).schedule), bytes(coins(first, 2, 8).schedule));
  EXPECT_EQ(bytes(coins(first, 1, 0).slots), bytes(coins(first, 1, 8).slots));
  EXPECT_NE(bytes(coins(first, 0, 0).slots), bytes(coins(first, 1, 0).slots));  // private to each
  EXPECT_NE(bytes(coins(first, 0, 0).schedule), bytes(coins(second, 0, 0).schedule));
  EXPECT_NE(bytes(coins(first, 0, 0).slots), bytes(coins(second, 0, 0).slots));
}

}  // namespace
}  // namespace trefoil::ml
