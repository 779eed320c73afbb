#include "ml/batches/deposited_rows.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/ml/dpsgd/deposited_records.h"
#include "tests/reference/plain_integer_step.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

void ExpectEncodedAsOwnRecords(TrainingSettings settings) {
  const StepPlan plan = MakeStepPlan(settings);
  const OwnRecords records = MakeRecords(settings, 4, 15);
  const auto outcome = RunOn(
      Seed{2},
      [&](mpc::Context& party) { return InsecureDeal(party, Deposit(plan, records, kDepositedRows)); },
      [&](mpc::Context& party, const ArithShare& rows) { return EncodeDeposited(party, plan, rows); });
  EXPECT_TRUE((outcome.value == Encoded(plan, records, kDepositedRows)).all());
  EXPECT_EQ(outcome.cost, Figures(EncodeDepositedCost(plan, kDepositedRows)));
}

TEST(EncodeDeposited, GivesTheNumbersOfAPartysOwnRecords) {
  TrainingSettings settings = DepositedSettings();
  ExpectEncodedAsOwnRecords(settings);
  settings.classes = 2;
  settings.row_norm = 0.7;
  ExpectEncodedAsOwnRecords(settings);
  settings.hidden = {4};
  ExpectEncodedAsOwnRecords(settings);
}

TEST(EncodeDeposited, RoundsTargetsToTheNearest) {
  for (const int fraction_bits : {16, 8, 24}) {
    TrainingSettings settings = SmallHuberSettings(8);
    settings.sampling = Sampling::kFull;
    settings.deposited = true;
    settings.rows = {kDepositedRows, 0, 0};
    settings.expected_batch = kDepositedRows;
    settings.fraction_bits = fraction_bits;
    settings.learning_rate = 0.01;
    settings.clip = 0.5;
    SCOPED_TRACE(fraction_bits);
    ExpectEncodedAsOwnRecords(settings);
  }
}

TEST(LiftDeposited, GivesTheRowsThatWereDepositedModulo2ToTheB) {
  const StepPlan plan = MakeStepPlan(DepositedSettings());
  EXPECT_EQ(DepositedFeatureBits(1.0, 16), 19);
  EXPECT_EQ(DepositedFeatureBits(0.999, 16), 18);
  const RingMatrix rows = Deposit(plan, MakeRecords(plan.settings, 4, 15), kDepositedRows);
  const RingMatrix cut = AsDeposited(plan, rows);
  const auto outcome = RunOn(
      Seed{2}, [&](mpc::Context& party) { return InsecureDeal(party, cut); },
      [&](mpc::Context& party, const ArithShare& dealt) { return LiftDeposited(party, plan, dealt); });
  EXPECT_TRUE((outcome.value == rows).all());
  EXPECT_EQ(outcome.cost, Figures(LiftDepositedCost(plan, kDepositedRows)));
}

TEST(DepositedNorms, FitWhereSquaresAreBelow2ToThe63) {
  // b = 19: 2^40 (p + 1) < 2^63.
  EXPECT_TRUE(DepositedNormsFit((1 << 23) - 2, 1.0, 16));
  EXPECT_FALSE(DepositedNormsFit((1 << 23) - 1, 1.0, 16));
  EXPECT_FALSE(DepositedNormsFit(1, 0x1p20, 16));  // 39 bits
  // With 27 bits 2^56 (p + 1).
  EXPECT_EQ(MostDepositedBits(126, 1.0, 8, 24), 24);
  EXPECT_EQ(MostDepositedBits(127, 1.0, 8, 24), 23);
  EXPECT_EQ(MostDepositedBits(126, 0.5, 8, 24), 24);
  EXPECT_EQ(MostDepositedBits(126, 0x1p16, 8, 24), 8);
  EXPECT_EQ(MostDepositedBits(126, 0x1p17, 8, 24), std::nullopt);
}

TEST(EncodeDeposited, RefusesAnotherWidth) {
  const StepPlan plan = MakeStepPlan(DepositedSettings());
  (void)RunParties(Seed{2}, [&](mpc::Context& party) {
    EXPECT_THROW((void)EncodeDeposited(party, plan, ArithShare::Zero(2, DepositedColumns(plan) + 1)),
                 ContractError);
    std::vector<ArithShare> more;
    more.push_back(ArithShare::Zero(kDepositedRows + 1, DepositedColumns(plan)));
    EXPECT_THROW((void)BatchOfDeposited(party, plan, std::move(more)), ContractError);
    return 0;
  });
}

/// Of all three together, the sum of what each adds.
RingMatrix NoiseOf(const StepPlan& plan, int party) {
  const LayerShape shape = ShapeOfWeights(plan);
  return RandomSigned(60 + static_cast<std::uint64_t>(party), shape.inputs, shape.outputs, 28);
}

// Two owners of which one has less than it could, so that the batch ends with padding; noise included, bit
// for bit.
TEST(BatchOfDeposited, TrainsAsPlainIntegerArithmeticDoes) {
  const StepPlan plan = MakeStepPlan(DepositedSettings());
  const std::array owners{MakeRecords(plan.settings, 5, 8), MakeRecords(plan.settings, 6, 5)};
  const std::array<Index, 2> capacities{20, 12};
  constexpr int kSteps = 4;
  const auto outcome = RunOn(
      Seed{3},
      [&](mpc::Context& party) {
        std::vector<ArithShare> deposits;
        for (std::size_t k = 0; k < owners.size(); ++k)
          deposits.push_back(InsecureDeal(party, Deposit(plan, owners.at(k), capacities.at(k))));
        return std::pair{std::move(deposits), DealStart(party, plan, NoNoise(plan))};
      },
      [&](mpc::Context& party, const auto& in) {
        const Batch batch = BatchOfDeposited(party, plan, in.first);
        TrainingState state = in.second;
        for (int step = 0; step < kSteps; ++step)
          state = DpSgdStep(party, plan, batch, state, NoiseOf(plan, party.self()));
        return state.weights.ring();
      });
  RingMatrix all = RingMatrix::Zero(kDepositedRows, EncodedColumns(plan));
  all.topRows(20) = Encoded(plan, owners[0], 20);
  all.middleRows(20, 12) = Encoded(plan, owners[1], 12);
  const reference::PlainIntegerStep plain(plan, all);
  RingMatrix weights = NoNoise(plan);
  RingMatrix velocity = weights;
  for (int step = 0; step < kSteps; ++step) {
    velocity = plain.Velocity(velocity, plain.Errors(weights),
                              NoiseOf(plan, 0) + NoiseOf(plan, 1) + NoiseOf(plan, 2), step);
    weights -= velocity;
  }
  EXPECT_TRUE((outcome.value == weights).all());
  EXPECT_GT(weights.unaryExpr([](Word w) { return mpc::Signed(w) != 0 ? Word{1} : Word{0}; }).sum(), 10U);
}

}  // namespace
}  // namespace trefoil::ml
