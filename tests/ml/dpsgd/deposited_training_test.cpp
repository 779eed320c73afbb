#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "ml/dpsgd/training.h"
#include "ml/plan/step_privacy.h"
#include "protocols/arithmetic/multiply.h"
#include "tests/ml/dpsgd/deposited_records.h"
#include "tests/reference/plain_integer_step.h"
#include "tests/support/error_text.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// Nobody's records in the clear: what all three hold on shares.
std::array<TrainingResult, 3> TrainDeposited(const TrainingSettings& settings, const OwnRecords& records) {
  const StepPlan plan = MakeStepPlan(settings);
  return RunParties(Seed{7}, [&](mpc::Context& party) {
    std::vector<ArithShare> deposits;
    deposits.push_back(InsecureDeal(party, Deposit(plan, records, 36)));
    return Train(party, settings, {}, kQuiet, {}, {}, std::move(deposits));
  });
}

TEST(Train, GivesTheModelOfAPartysOwnRecordsForTheSameOnesDeposited) {
  TrainingSettings settings = DepositedSettings();
  settings.steps = 6;
  const OwnRecords records = MakeRecords(settings, 9, 18);
  const auto deposited = TrainDeposited(settings, records);
  TrainingSettings own = settings;
  own.deposited = false;
  const auto results = RunParties(Seed{8}, [&](mpc::Context& party) {
    return Train(party, own, party.self() == 0 ? records : OwnRecords{}, kQuiet);
  });
  EXPECT_EQ(deposited[0].model->weights, results[0].model->weights);  // in other slots
  EXPECT_EQ(deposited[2].model->bias, results[1].model->bias);
  EXPECT_GT(results[0].model->weights.cwiseAbs().maxCoeff(), 0.1);
}

/// As TrainDeposited, with rows that are read block by block; what was asked, and sent in steps by all three
/// together.
struct BlockTraining {
  std::array<TrainingResult, 3> results;
  std::array<std::vector<std::int64_t>, 3> asked;
  std::uint64_t sent = 0;
};

BlockTraining TrainInBlocks(const TrainingSettings& settings, const OwnRecords& records) {
  const StepPlan plan = MakeStepPlan(settings);
  RingMatrix all = RingMatrix::Zero(plan.blocks * plan.block_rows, DepositedColumns(plan));
  all.topRows(36) = Deposit(plan, records, 36);
  BlockTraining training;
  std::array<std::uint64_t, 3> sent{};
  training.results = RunParties(Seed{7}, [&](mpc::Context& party) {
    const auto self = static_cast<std::size_t>(party.self());
    const ArithShare shared = InsecureDeal(party, all);
    TrainingHooks hooks = kQuiet;
    hooks.on_step = [&, self](const StepReport& report) {
      if (report.step == 0) sent.at(self) -= report.bytes_sent;
      if (report.step == settings.steps) sent.at(self) += report.bytes_sent;
    };
    return Train(party, settings, {}, hooks, {}, {}, {}, [&](std::int64_t number) {
      training.asked.at(self).push_back(number);
      return mpc::Rows(shared, (number % plan.blocks) * plan.block_rows, plan.block_rows);
    });
  });
  for (const auto of_party : sent) training.sent += of_party;
  return training;
}

std::uint64_t BytesOf(const mpc::Cost& cost) {
  std::uint64_t bytes = 0;
  for (std::size_t party = 0; party < 3; ++party)
    bytes += cost.bytes_sent().at(party) + cost.bytes_offline().at(party);
  return bytes;
}

// Six blocks, of which the last has more padding than the batch; truncation is exact, so that nothing depends
// on them.
TEST(Train, GivesTheSameModelWhereRowsAreReadInBlocks) {
  for (const int classes : {2, 3}) {
    TrainingSettings settings = DepositedSettings();
    settings.steps = 6;
    settings.classes = classes;
    const OwnRecords records = MakeRecords(settings, 9, 18);
    const auto whole = TrainDeposited(settings, records);
    settings.block_rows = 7;
    const StepPlan plan = MakeStepPlan(settings);
    EXPECT_EQ(plan.blocks, 6);
    EXPECT_EQ(plan.batch_rows, kDepositedRows);
    const auto blocks = TrainInBlocks(settings, records);
    for (const auto& result : blocks.results) {
      EXPECT_EQ(result.model->weights, whole[0].model->weights);
      EXPECT_EQ(result.model->bias, whole[0].model->bias);
      EXPECT_EQ(result.plan.epsilon_insider, whole[0].plan.epsilon_insider);
    }
    std::vector<std::int64_t> in_order(36);
    std::iota(in_order.begin(), in_order.end(), 0);
    for (const auto& asked : blocks.asked) EXPECT_EQ(asked, in_order);
    EXPECT_EQ(blocks.sent, settings.steps * BytesOf(PlannedStepCost(settings, protocols::Form::kBulk)));
    EXPECT_GT(whole[0].model->weights.cwiseAbs().maxCoeff(), 0.1);
  }
}

// Truncation is exact, so that each row's part is the same in whatever block it is.
TEST(Gradient, OfBlocksAddsUpToThatOfTheBatch) {
  for (const std::vector<std::int64_t>& hidden : {std::vector<std::int64_t>{}, {3}}) {
    TrainingSettings settings = DepositedSettings();
    settings.hidden = hidden;
    const StepPlan plan = MakeStepPlan(settings);
    const RingMatrix rows = Encoded(plan, MakeRecords(settings, 9, 18), kDepositedRows);
    const LayerShape shape = ShapeOfWeights(plan);
    const RingMatrix weights = RandomSigned(5, shape.inputs, shape.outputs, 15);
    const auto sum_of = [&](Index block_rows) {
      return RunOn(
                 Seed{2},
                 [&](mpc::Context& party) {
                   return std::pair{InsecureDeal(party, rows),
                                    mpc::FixedShare(InsecureDeal(party, weights), settings.fraction_bits)};
                 },
                 [&](mpc::Context& party, const auto& in) {
                   mpc::AdditiveShare sum(RingMatrix::Zero(shape.inputs, shape.outputs));
                   for (Index first = 0; first < kDepositedRows; first += block_rows) {
                     const Batch block = ToBatch(plan, mpc::Rows(in.first, first, block_rows));
                     sum = sum + Gradient(party, plan, block, in.second);
                   }
                   return protocols::Reshare(party, sum);
                 })
          .value;
    };
    const RingMatrix whole = sum_of(kDepositedRows);
    EXPECT_TRUE((sum_of(8) == whole).all());
    EXPECT_GT(whole.unaryExpr([](Word w) { return w != 0 ? Word{1} : Word{0}; }).sum(), 3U);
  }
}

TEST(Train, TakesRowsOfDepositsByPublicCoins) {
  TrainingSettings settings = DepositedSettings();
  settings.steps = 6;
  const OwnRecords records = MakeRecords(settings, 9, 18);
  const auto full = TrainDeposited(settings, records);
  settings.sampling = Sampling::kPublic;
  // Coins of probability one take all rows in every step.
  const auto all = TrainDeposited(settings, records);
  EXPECT_EQ(all[0].model->weights, full[0].model->weights);
  settings.expected_batch = kDepositedRows / 2.0;
  settings.sigma = 0.01;
  const auto half = TrainDeposited(settings, records);
  EXPECT_EQ(half[0].model->weights, half[2].model->weights);
  EXPECT_GT(half[0].model->weights.cwiseAbs().maxCoeff(), 0.1);
  const auto& steps = std::get<dp::DpSgdSteps>(half[1].record.events.at(0));
  EXPECT_EQ(steps.sampling, dp::SamplingMode::kPublic);
  EXPECT_EQ(steps.sampling_rate, 0.5);
  EXPECT_GT(steps.max_participation, 1);
  EXPECT_LE(steps.max_participation, settings.steps);
}

TrainingSettings BatchSettings() {
  TrainingSettings settings = DepositedSettings();
  settings.sampling = Sampling::kDeposited;
  settings.batches = DepositedBatches{.deposits = 2, .records = 20};
  settings.max_batch_per_owner = 20;
  settings.expected_batch = kDepositedRows / 4.0;
  settings.steps = 5;
  return settings;
}

// Steps have batches of their own, drawn by fixed coins as owners draw them; without noise, bit for bit.
TEST(Train, TakesTheBatchOfEachStepThatWasDeposited) {
  const TrainingSettings settings = BatchSettings();
  const StepPlan plan = MakeStepPlan(settings);
  ASSERT_EQ(plan.batch_rows, kDepositedRows);
  const OwnRecords records = MakeRecords(settings, 9, 18);
  RandomStream coins(FixedKey(3));
  std::vector<std::vector<std::int64_t>> slots;
  for (int step = 0; step < settings.steps; ++step)
    slots.push_back(PlaceRows(coins, DrawRows(coins, records.rows(), 0.25, kDepositedRows), kDepositedRows));
  const Index features = settings.features;
  const auto deposited = [&](int step) {
    const RingMatrix encoded =
        EncodeRecords(plan, records, slots.at(static_cast<std::size_t>(step)), kDepositedRows);
    RingMatrix rows = encoded.leftCols(DepositedColumns(plan));
    rows.rightCols(1 + plan.columns) =
        rows.rightCols(1 + plan.columns).unaryExpr([&](Word word) { return word >> settings.fraction_bits; });
    return rows;
  };
  std::array<std::vector<int>, 3> asked;
  std::array<std::uint64_t, 3> start{};
  std::array<std::uint64_t, 3> end{};
  const auto results = RunParties(Seed{7}, [&](mpc::Context& party) {
    std::vector<ArithShare> batches;
    for (int step = 0; step < settings.steps; ++step) batches.push_back(InsecureDeal(party, deposited(step)));
    const auto self = static_cast<std::size_t>(party.self());
    TrainingHooks hooks = kQuiet;
    hooks.on_step = [&, self](const StepReport& report) {
      if (report.step == 0) start.at(self) = report.bytes_sent;
      end.at(self) = report.bytes_sent;
    };
    return Train(party, settings, {}, hooks, {}, {}, {}, [&](std::int64_t step) {
      asked.at(static_cast<std::size_t>(party.self())).push_back(static_cast<int>(step));
      return batches.at(static_cast<std::size_t>(step));
    });
  });
  RingMatrix weights = NoNoise(plan);
  RingMatrix velocity = weights;
  for (int step = 0; step < settings.steps; ++step) {
    const reference::PlainIntegerStep plain(
        plan, EncodeRecords(plan, records, slots.at(static_cast<std::size_t>(step)), kDepositedRows));
    velocity = plain.Velocity(velocity, plain.Errors(weights), NoNoise(plan), step);
    weights -= velocity;
  }
  const Eigen::MatrixXd expected = mpc::Decode(weights, settings.fraction_bits);
  for (const auto& result : results) {
    EXPECT_EQ(result.model->weights, expected.topRows(features));
    EXPECT_EQ(result.model->bias, expected.bottomRows(1).transpose());
    const auto& steps = std::get<dp::DpSgdSteps>(result.record.events.at(0));
    EXPECT_EQ(steps.sampling, dp::SamplingMode::kDeposited);
    EXPECT_EQ(steps.sampling_rate, 0.25);
    EXPECT_EQ(steps.limits.capacity, (std::array<std::int64_t, 3>{20, 0, 0}));
    EXPECT_EQ(steps.executions, 1);
  }
  for (const auto& steps : asked)
    EXPECT_EQ(steps, (std::vector<int>{0, 1, 2, 3, 4})) << "each once, in order";
  EXPECT_GT(expected.cwiseAbs().maxCoeff(), 0.1);
  std::uint64_t sent = 0;
  for (std::size_t party = 0; party < 3; ++party) sent += end.at(party) - start.at(party);
  EXPECT_EQ(sent, settings.steps * BytesOf(PlannedStepCost(settings, protocols::Form::kBulk)))
      << "lifting included";
  (void)RunParties(Seed{7}, [&](mpc::Context& party) {
    EXPECT_THROW((void)Train(party, settings, {}, kQuiet), ContractError);
    return 0;
  });
}

TEST(Train, ChargesAStepWithAllRowsAsAPlainGaussian) {
  TrainingSettings settings = DepositedSettings();
  settings.sigma = 4;
  settings.accountant = dp::AccountantKind::kPld;
  const auto results = TrainDeposited(settings, MakeRecords(settings, 9, 18));
  for (const auto& result : results) {
    ASSERT_EQ(result.record.events.size(), 1U);
    const auto& steps = std::get<dp::DpSgdSteps>(result.record.events[0]);
    EXPECT_EQ(steps.sampling, dp::SamplingMode::kFull);
    EXPECT_EQ(steps.steps, settings.steps);
    EXPECT_EQ(steps.limits.max_batch, steps.limits.capacity);
    const dp::GaussianReleases plain{.count = settings.steps,
                                     .coordinates = steps.coordinates,
                                     .sigma = 4,
                                     .party_deviation = steps.party_deviation};
    const auto expected =
        dp::Epsilons({.job_hash = {}, .run_id = {}, .events = {plain}}, 1e-5, settings.accountant);
    EXPECT_EQ(result.plan.epsilon_insider, expected.insider);
    EXPECT_EQ(result.plan.epsilon_outsider, expected.outsider);
  }
}

TEST(Train, RefusesWhatDepositedRowsCannotBe) {
  const auto refused = [](auto change) {
    TrainingSettings settings = DepositedSettings();
    change(settings);
    return ErrorText<ConfigError>([&] { CheckDomains(settings); });
  };
  const auto sampling = [](Sampling one) { return [one](TrainingSettings& s) { s.sampling = one; }; };
  EXPECT_EQ(refused(sampling(Sampling::kOwnerPoisson)),
            "privacy.sampling: found \"owner-poisson\", expected \"full\", \"public\" or \"deposited\" with "
            "deposited "
            "rows, which no party has in the clear");
  EXPECT_EQ(refused(sampling(Sampling::kPublic)), "");
  EXPECT_NE(refused([](TrainingSettings& s) { s.groups = true; }), "");
  EXPECT_NE(refused([](TrainingSettings& s) { s.initialisation.emplace(); }), "");
  EXPECT_NE(refused([](TrainingSettings& s) { s.balance_sigma = 3; }), "");
  EXPECT_NE(refused([](TrainingSettings& s) { s.standardisation.emplace(); }), "");
  EXPECT_EQ(refused([](TrainingSettings& s) { s.expected_batch = kDepositedRows - 1; }),
            "training.expected_batch: found 39, expected all rows with full batches");
  (void)RunParties(Seed{7}, [&](mpc::Context& party) {
    EXPECT_THROW((void)Train(party, DepositedSettings(), {}, kQuiet), ContractError);
    return 0;
  });
}

}  // namespace
}  // namespace trefoil::ml
