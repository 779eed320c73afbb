// Train() and ServeSteps() at parties of many machines: the model of parties of one, and what each lane
// sends.

#include "ml/ranks/serve_steps.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "ml/plan/run_cost.h"
#include "ml/ranks/rank_steps.h"
#include "protocols/arithmetic/agreement.h"
#include "tests/reference/plain_dp_sgd.h"
#include "tests/support/ml_test.h"
#include "tests/support/thread_ranks.h"
#include "tests/support/watched_ranks.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr std::int64_t kRowsOfParty = 40;

/// Every record in every step, and no noise: nothing is left to chance. With the squared loss and exact
/// truncation no number depends on a mask either.
TrainingSettings MaskFreeSettings() {
  TrainingSettings settings = SmallSettings();
  settings.expected_batch = 120;
  settings.loss = Loss::kSquared;
  settings.truncation = protocols::Rounding::kExact;
  settings.learning_rate = 1;
  settings.momentum = 0.5;
  settings.steps = 5;
  return settings;
}

/// What a party's rank 0 has of a session, and what its ranks have sent by its last step.
struct FirstRank {
  std::optional<TrainingResult> result{};
  std::map<std::int64_t, Checkpoint> checkpoints{};
  std::vector<StepReport> reports{};
  BytesSentTo sent{};                 ///< rank 0
  std::vector<BytesSentTo> others{};  ///< those above 0, in any order
};

using FirstRanks = std::array<FirstRank, net::kParties>;

/// A session of parties of so many machines; `from`, `step`: the checkpoints that it goes on from.
FirstRanks TrainOn(int ranks, const TrainingSettings& settings, const FirstRanks* from = nullptr,
                   int step = 0) {
  FirstRanks first_ranks;
  std::mutex mutex;
  RunRanks(ranks, Seed{1}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
    const auto self = static_cast<std::size_t>(party.self());
    FirstRank& first_rank = first_ranks.at(self);
    if (own_ranks.rank() > 0) {
      ServeSteps(party, settings, own_ranks);
      const std::lock_guard lock(mutex);
      first_rank.others.push_back(party.transport().counters().bytes_sent_to);
      return;
    }
    Resumption resumption;
    if (from != nullptr) {
      const Checkpoint& one = from->at(self).checkpoints.at(step);
      resumption.from.emplace(Checkpoint{
          .state = one.state, .coins = {}, .counts = one.counts, .class_counts = one.class_counts});
    }
    const TrainingHooks hooks{
        .on_step =
            [&](const StepReport& report) {
              first_rank.reports.push_back(report);
              first_rank.sent = party.transport().counters().bytes_sent_to;
            },
        .on_record = [](const dp::TrainingRecord&) {},
        .on_checkpoint =
            [&](const Checkpoint& one) {
              first_rank.checkpoints.insert_or_assign(
                  one.state.step,
                  Checkpoint{
                      .state = one.state, .coins = {}, .counts = {}, .class_counts = one.class_counts});
            },
        .checkpoint_every = 2};
    first_rank.result = Train(party, settings, MakeRecords(settings, 10 + self, kRowsOfParty), hooks, {},
                              resumption, {}, {}, &own_ranks);
  });
  return first_ranks;
}

std::uint64_t SumOf(const BytesSentTo& sent) {
  return std::accumulate(sent.begin(), sent.end(), std::uint64_t{0});
}

const Model& ModelOf(const FirstRanks& first_ranks) { return *first_ranks[0].result->model; }

void ExpectSameModel(const FirstRanks& found, const FirstRanks& expected, const std::string& what) {
  for (const FirstRank& party : found) {
    EXPECT_EQ(party.result->model->weights, ModelOf(expected).weights) << what;
    EXPECT_EQ(party.result->model->bias, ModelOf(expected).bias) << what;
  }
  EXPECT_GT(ModelOf(expected).weights.cwiseAbs().maxCoeff(), 0.01) << what;
}

TEST(RankTraining, GivesTheModelOfOneMachineBitForBit) {
  std::map<std::string, TrainingSettings> all;
  all["owner-poisson"] = MaskFreeSettings();
  all["full"] = MaskFreeSettings();
  all["full"].sampling = Sampling::kFull;
  all["narrow full"] = all["full"];
  all["narrow full"].momentum = 0;
  EXPECT_TRUE(HasNarrowRows(MakeStepPlan(all["narrow full"])));
  all["narrow rows"] = MaskFreeSettings();
  all["narrow rows"].row_fraction_bits = 8;
  all["in line"] = MaskFreeSettings();
  all["in line"].steps_ahead = 0;
  all["weights of classes and records"] = MaskFreeSettings();
  all["weights of classes and records"].class_weights = {1, 0.5, 2};
  all["weights of classes and records"].max_record_weight = 2;
  all["published"] = MaskFreeSettings();
  all["published"].clipping = Clipping::kPublished;
  all["published"].comparison = protocols::Form::kLatency;
  all["hidden layers"] = MaskFreeSettings();
  all["hidden layers"].hidden = {5};
  all["hidden layers behind narrow rows"] = all["hidden layers"];
  all["hidden layers behind narrow rows"].momentum = 0;
  all["hidden layers behind narrow rows of two classes"] = all["hidden layers behind narrow rows"];
  all["hidden layers behind narrow rows of two classes"].classes = 2;
  EXPECT_TRUE(MaskBitsBeside(MakeStepPlan(all["hidden layers behind narrow rows of two classes"])));
  EXPECT_TRUE(LiftsUpdate(MakeStepPlan(all["hidden layers"])));
  EXPECT_TRUE(HasNarrowRows(MakeStepPlan(all["hidden layers behind narrow rows"])));
  for (const auto& [name, settings] : all) {
    const auto expected = TrainOn(1, settings);
    // A network begins at random weights, so that all go on from the same ones.
    const FirstRanks* first = settings.hidden.empty() ? nullptr : &expected;
    for (const int ranks : {2, 4}) ExpectSameModel(TrainOn(ranks, settings, first), expected, name);
  }
}

// As many records as the machines' slots have no room for evenly, and a machine without any slot of an
// owner's rows.
TEST(RankTraining, DividesSlotsAndWeightsThatDoNotGoUpEvenly) {
  TrainingSettings settings = MaskFreeSettings();
  settings.rows = {40, 41, 1};
  settings.max_batch_per_owner = 41;
  settings.expected_batch = 82;
  settings.features = 7;  // 24 weights among five
  const auto records = [&](int self) {
    return MakeRecords(settings, 10 + static_cast<std::uint64_t>(self), self == 2 ? 1 : 40 + self);
  };
  std::vector<Eigen::MatrixXd> weights;
  for (const int ranks : {1, 5}) {
    std::array<std::optional<Model>, net::kParties> models;
    RunRanks(ranks, Seed{2}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
      if (own_ranks.rank() > 0) return ServeSteps(party, settings, own_ranks);
      models.at(static_cast<std::size_t>(party.self())) =
          Train(party, settings, records(party.self()), kQuiet, {}, {}, {}, {}, &own_ranks).model;
    });
    weights.push_back(models[0]->weights);
  }
  EXPECT_EQ(weights[0], weights[1]);
}

/// The weights, bias included, after the steps of the plain side on the records of TrainOn, but for those
/// whose number at their party `leaves_out` says.
Eigen::MatrixXd PlainWeights(
    const TrainingSettings& settings,
    const std::function<bool(Index)>& leaves_out = [](Index) { return false; }) {
  std::vector<int> labels;
  std::vector<Eigen::RowVectorXd> rows;
  for (std::size_t self = 0; self < 3; ++self) {
    const OwnRecords records = MakeRecords(settings, 10 + self, kRowsOfParty);
    const Eigen::MatrixXd scaled = ScaledRows(settings, records);
    for (Index row = 0; row < kRowsOfParty; ++row) {
      if (leaves_out(row)) continue;
      rows.emplace_back(scaled.row(row));
      labels.push_back(records.y.at(static_cast<std::size_t>(row)));
    }
  }
  Eigen::MatrixXd x(static_cast<Index>(rows.size()), settings.features);
  for (Index row = 0; row < x.rows(); ++row) x.row(row) = rows.at(static_cast<std::size_t>(row));
  const Eigen::MatrixXd none = Eigen::MatrixXd::Zero(settings.features + 1, settings.classes);
  reference::PlainDpSgd plain{.weights = none,
                              .clip = settings.clip,
                              .learning_rate = settings.learning_rate,
                              .expected_batch = settings.expected_batch,
                              .momentum = settings.momentum};
  for (int step = 0; step < settings.steps; ++step) plain.Step(x, Targets(settings, labels), none);
  return plain.weights;
}

TEST(RankTraining, AgreesWithPlainDoublePrecisionWithTheSigmoid) {
  TrainingSettings settings = MaskFreeSettings();
  settings.loss = Loss::kOneVsRest;
  settings.truncation = protocols::Rounding::kStochastic;
  settings.clip = 8;  // above every gradient, so that the plain side needs no table of factors
  settings.momentum = 0.5;
  settings.steps = 20;
  constexpr int kRanks = 3;
  const auto first_ranks = TrainOn(kRanks, settings);
  Eigen::MatrixXd found(settings.features + 1, settings.classes);
  found << ModelOf(first_ranks).weights, ModelOf(first_ranks).bias.transpose();
  const auto distance = [&](const Eigen::MatrixXd& plain) { return (found - plain).cwiseAbs().maxCoeff(); };
  // Three times the 0.0044 that was found. A prediction is off by at most 0.0032, the series' error.
  constexpr double kFurthest = 0.013;
  EXPECT_LE(distance(PlainWeights(settings)), kFurthest);
  // Without the 40 rows of one machine, or three of them, no weights are as close.
  for (Index rank = 0; rank < kRanks; ++rank) {
    const auto is_its_row = [rank](Index row) { return row % kRanks == rank; };
    EXPECT_GT(distance(PlainWeights(settings, is_its_row)), 20 * kFurthest) << rank;
  }
  EXPECT_GT(distance(PlainWeights(settings, [](Index row) { return row == 0; })), 1.5 * kFurthest);
}

// Counts of classes, local models and the evaluation are rank 0's; the weights of the classes, which these
// counts give, are everybody's.
TEST(RankTraining, SharesTheStepsOfATrainingWithAllThatIsAroundThem) {
  TrainingSettings settings = SmallSettings();
  settings.balance_sigma = 1;
  settings.steps = 3;
  settings.sigma = 0.5;
  settings.initialisation = InitialisationSettings{
      .local = {
          .steps = 10, .expected_batch = 20, .learning_rate = 4, .clip = 2, .sigma = 0.5, .delta = 1e-5}};
  settings.evaluation = EvaluationSettings{.test = {.holder = 2, .rows = 30}, .sigma = 2};
  std::array<std::optional<TrainingResult>, net::kParties> results;
  RunRanks(3, Seed{7}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
    if (own_ranks.rank() > 0) return ServeSteps(party, settings, own_ranks);
    HeldOutRecords held_out;
    if (party.self() == 2) held_out.test = MakeRecords(settings, 99, 30);
    const auto self = static_cast<std::size_t>(party.self());
    results.at(self) = Train(party, settings, MakeRecords(settings, 10 + self, 40), kQuiet, held_out, {}, {},
                             {}, &own_ranks);
  });
  for (const auto& result : results) {
    EXPECT_EQ(result->model->weights, results[0]->model->weights);
    EXPECT_EQ(result->class_counts, results[0]->class_counts);
    EXPECT_EQ(result->record.events.size(), 4U);
    EXPECT_TRUE(result->evaluation && result->evaluation->correct);
  }
  EXPECT_EQ(results[0]->class_weights.size(), 3U);
}

// Of no records, so that the weights after a step are the noise alone. The squares of a machine's 2,001
// numbers add up to their expectation within 17 % but once in some ten million runs; a party's noise that is
// missing or there twice makes a third.
TEST(RankTraining, AddsTheNoiseOfThreePartiesToEachWeight) {
  TrainingSettings settings = MaskFreeSettings();
  settings.features = 2000;
  settings.sigma = 1;
  settings.steps = 1;
  settings.learning_rate = 64;
  settings.expected_batch = 60;
  std::optional<TrainingResult> result;
  RunRanks(3, Seed{8}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
    if (own_ranks.rank() > 0) return ServeSteps(party, settings, own_ranks);
    auto trained = Train(party, settings, {}, kQuiet, {}, {}, {}, {}, &own_ranks);
    if (party.self() == 0) result = std::move(trained);
  });
  const StepPlan plan = MakeStepPlan(settings);
  const double rate = std::ldexp(static_cast<double>(plan.step_size.mantissa), -plan.step_size.exponent);
  // Three halves of the variance that an insider sees two of.
  const double variance = std::pow(rate * result->plan.sigma * plan.sensitivity, 2) * 1.5;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> all(2001, 3);
  all << result->model->weights, result->model->bias.transpose();
  for (Index rank = 0; rank < 3; ++rank) {
    const Eigen::Map<const Eigen::VectorXd> slice(all.data() + rank * 2001, 2001);
    EXPECT_NEAR(slice.squaredNorm() / 2001 / variance, 1, 0.17) << rank;
  }
}

TEST(RankTraining, GoesOnFromTheCheckpointsOfAnyNumberOfMachines) {
  const TrainingSettings settings = MaskFreeSettings();
  const auto whole = TrainOn(1, settings);
  const auto of_two = TrainOn(2, settings);
  const auto of_one_after_two = TrainOn(1, settings, &of_two, 2);
  for (const FirstRank& party : of_two)
    EXPECT_THAT(party.checkpoints,
                testing::ElementsAre(testing::Key(0), testing::Key(2), testing::Key(4), testing::Key(5)));
  ExpectSameModel(of_one_after_two, whole, "one machine from two");
  ExpectSameModel(TrainOn(3, settings, &of_two, 4), whole, "three machines from two");
  ExpectSameModel(TrainOn(2, settings, &whole, 2), whole, "two machines from one");
  ExpectSameModel(TrainOn(2, settings, &whole, 5), whole, "behind the last step");
}

// Rank 0, whose first lane does all that comes before the steps, too.
TEST(PlannedRunCost, IsWhatTheFirstLaneSends) {
  TrainingSettings settings = SmallSettings();
  settings.steps = 4;
  for (const auto sampling : {Sampling::kOwnerPoisson, Sampling::kFull}) {
    settings.sampling = sampling;
    if (sampling == Sampling::kFull) settings.expected_batch = 120;
    const RunCost planned = PlannedRunCost(settings, protocols::Form::kBulk, 3);
    const auto first_ranks = TrainOn(3, settings);
    int rounds = 0;
    for (std::size_t self = 0; self < first_ranks.size(); ++self) {
      const auto& [result, checkpoints, reports, sent, others] = first_ranks.at(self);
      const StepReport& last = reports.back();
      // Keys, which the plan counts, were agreed on before there was a context.
      EXPECT_EQ(SumOf(sent) + 64, planned.bytes_sent.at(self));
      rounds = std::max(rounds, static_cast<int>(last.rounds) + 1);
    }
    EXPECT_EQ(rounds, planned.rounds);
  }
}

// Of all ranks, to the byte, though nothing is sent to rank 0 but what a step gathers in any case.
TEST(RankTraining, ReportsWhatAllMachinesHaveSent) {
  for (const auto sampling : {Sampling::kOwnerPoisson, Sampling::kFull}) {
    TrainingSettings settings = SmallSettings();
    settings.steps = 4;
    settings.sampling = sampling;
    if (sampling == Sampling::kFull) settings.expected_batch = 120;
    const auto first_ranks = TrainOn(3, settings);
    for (const FirstRank& party : first_ranks) {
      ASSERT_EQ(party.reports.size(), 5U);
      ASSERT_EQ(party.others.size(), 2U);
      BytesSentTo all = party.sent;
      for (const BytesSentTo& other : party.others) {
        EXPECT_GT(SumOf(other), 10000U);
        for (std::size_t peer = 0; peer < all.size(); ++peer) all.at(peer) += other.at(peer);
      }
      EXPECT_EQ(party.reports.back().bytes_sent_to, all);
      for (const StepReport& report : party.reports)
        EXPECT_EQ(report.bytes_sent, SumOf(report.bytes_sent_to));
    }
    // Dealers take turns, so that the parties together send as much in each step, on each lane.
    const auto sent_by = [&](std::size_t report) {
      std::uint64_t sent = 0;
      for (const FirstRank& party : first_ranks) sent += party.reports[report].bytes_sent;
      return sent;
    };
    const auto step = 3 * PlannedStepCost(settings, protocols::Form::kBulk, 3).bytes_of_all();
    for (std::size_t k = 2; k <= 4; ++k) EXPECT_EQ(sent_by(k) - sent_by(k - 1), step);
  }
}

// Rank 0 takes its time to note a step, and the other's lane waits for nobody else.
TEST(RankTraining, BeginsNoStepThatIsNotNoted) {
  TrainingSettings settings = MaskFreeSettings();
  settings.momentum = 0;
  std::array<std::atomic<int>, net::kParties> noted{};
  RunRanks(2, Seed{9}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
    auto& of_party = noted.at(static_cast<std::size_t>(party.self()));
    WatchedRanks watched(own_ranks, [&](int step) { EXPECT_GT(of_party, step); });
    if (own_ranks.rank() > 0) return ServeSteps(party, settings, watched);
    TrainingHooks hooks = kQuiet;
    hooks.before_step = [&](int step) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      of_party = step + 1;
    };
    (void)Train(party, settings, MakeRecords(settings, 10, kRowsOfParty), hooks, {}, {}, {}, {}, &own_ranks);
  });
}

/// Ends as a rank's machine might, in the middle of a step.
struct Died : std::exception {};

template <typename Error>
bool EndedIn(const std::exception_ptr& end) {
  try {
    if (end) std::rethrow_exception(end);
  } catch (const Error&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

// With batches dealt ahead, whose thread waits on a channel of its own, and in line.
TEST(RankTraining, EndsAtAllWhereOneRankFails) {
  for (const std::int64_t ahead : {0, 2}) {
    for (const int failing : {0, 1, 2}) {
      TrainingSettings settings = MaskFreeSettings();
      settings.steps_ahead = ahead;
      settings.steps = 50;
      const auto ends = EndsOfRanks(3, Seed{4}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
        const bool fails = own_ranks.rank() == failing && party.self() == 1;
        WatchedRanks dying(own_ranks, [fails](int sum) {
          if (fails && sum == 3) throw Died();
        });
        if (own_ranks.rank() > 0) return ServeSteps(party, settings, dying);
        (void)Train(party, settings, MakeRecords(settings, 10, kRowsOfParty), kQuiet, {}, {}, {}, {}, &dying);
      });
      for (std::size_t rank = 0; rank < ends.size(); ++rank) {
        for (std::size_t party = 0; party < 3; ++party) {
          const auto& end = ends[rank].at(party);
          const bool failed = static_cast<int>(rank) == failing && party == 1;
          EXPECT_TRUE(failed ? EndedIn<Died>(end) : EndedIn<NetworkError>(end))
              << "rank " << rank << " of party " << party;
        }
      }
    }
  }
}

TEST(RankTraining, RefusesLanesOfOtherConstants) {
  const TrainingSettings settings = MaskFreeSettings();
  TrainingSettings other = settings;
  other.learning_rate = 2;
  // All ranks 1 have another job than their parties' ranks 0, so that their lane's constants are alike.
  const auto of_party = EndsOfRanks(2, Seed{5}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
    if (own_ranks.rank() > 0) return ServeSteps(party, other, own_ranks);
    (void)Train(party, settings, MakeRecords(settings, 10, kRowsOfParty), kQuiet, {}, {}, {}, {}, &own_ranks);
  });
  EXPECT_TRUE(EndedIn<ConfigError>(of_party[1][0]) || EndedIn<ConfigError>(of_party[1][1]) ||
              EndedIn<ConfigError>(of_party[1][2]));
  EXPECT_TRUE(EndedIn<NetworkError>(of_party[0][0]));
  // Lanes of which a party takes another for this one.
  const auto of_lane = EndsOfRanks(3, Seed{6}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
    protocols::RequireSameEverywhere(
        party,
        own_ranks.rank() == 1 && party.self() == 0 ? std::string("alike") : LaneConstants("alike", own_ranks),
        "constants");
  });
  EXPECT_TRUE(EndedIn<ConfigError>(of_lane[1][1]));
  EXPECT_FALSE(of_lane[2][1]);
}

TEST(CheckRanks, NamesWhatMachinesCannotShare) {
  const auto refused = [](const std::function<void(TrainingSettings&)>& change) -> std::string {
    TrainingSettings settings = SmallSettings();
    change(settings);
    EXPECT_NO_THROW(CheckRanks(settings, 1));
    try {
      CheckRanks(settings, 4);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  const std::string with = ", with [party] ranks above 1";
  EXPECT_EQ(refused([](TrainingSettings&) {}), "");
  EXPECT_EQ(refused([](TrainingSettings& s) { s.sampling = Sampling::kPublic; }),
            "privacy.sampling: found \"public\", expected \"owner-poisson\" or \"full\"" + with);
  EXPECT_EQ(refused([](TrainingSettings& s) { s.vertical.emplace(); }),
            "data.partition: found \"vertical\", expected \"horizontal\"" + with);
  EXPECT_EQ(refused([](TrainingSettings& s) { s.deposited = true; }),
            "data.source: found \"store\", expected \"files\"" + with);
  EXPECT_EQ(refused([](TrainingSettings& s) { s.adaptive.emplace(); }),
            "privacy.clip: found \"adaptive\", expected a number" + with);
}

}  // namespace
}  // namespace trefoil::ml
