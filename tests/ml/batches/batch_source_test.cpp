#include "ml/batches/batch_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "protocols/arithmetic/input_ahead.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

// An owner much smaller than its batch's height: most slots are padding, whole pieces of them. What is read
// in their place is chosen over the whole batch, anew for each: chosen piece by piece, each piece of padding
// read the same records again, and how few others were read told how many were drawn.
TEST(BatchSource, ReadsOtherRecordsForPaddingInEachBatch) {
  constexpr std::int64_t kHeld = 10'000;
  constexpr std::int64_t kHeight = 300;
  constexpr std::size_t kBatches = 3;
  TrainingSettings settings = SmallSettings();
  settings.rows = {kHeld, kHeld, kHeld};
  settings.expected_batch = 60;  // of batches in which nothing was drawn all would read the same
  settings.max_batch_per_owner = kHeight;
  const StepPlan plan = MakeStepPlan(settings);
  std::mutex mutex;
  std::set<std::int64_t> seen;
  OwnRecords stored{.x = {}, .y = std::vector<int>(kHeld, 1)};
  stored.stored = StoredFeatures{
      .rows = kHeld, .features = settings.features, .read = [&](std::int64_t row, std::span<float> out) {
        const std::lock_guard lock(mutex);
        seen.insert(row);
        std::fill(out.begin(), out.end(), 0.25F);
      }};
  const OwnRecords none;
  (void)RunParties(Seed{1}, [&](mpc::Context& party) {
    const auto source = MakeBatchSource(party, plan, party.self() == 0 ? stored : none, {}, {}, {});
    source->Share(party);
    Batch last;
    for (std::size_t k = 0; k < kBatches; ++k) last = *source->Next(party, static_cast<int>(k), 0);
    return last;
  });
  // Of 10,000 in 900 reads that fall anywhere: 861 on average, with a standard deviation of 6. Coins are the
  // system's.
  EXPECT_GT(seen.size(), 820U);
}

/// Of narrow rows behind a network of one column: 1 of the batch's records and 0 of padding, in words, of
/// which the components that a party draws or receives are as good as drawn anew for each slot.
TEST(BatchSource, SharesMaskBitsInWordsBesideNarrowRows) {
  TrainingSettings settings = SmallSettings();
  settings.classes = 2;
  settings.hidden = {4};
  settings.expected_batch = 60;  // half of all records
  settings.row_fraction_bits = 9;
  const StepPlan plan = MakeStepPlan(settings);
  ASSERT_TRUE(MaskBitsBeside(plan));
  const auto batches = RunParties(Seed{1}, [&](mpc::Context& party) {
    const auto self = static_cast<std::size_t>(party.self());
    const OwnRecords own = MakeRecords(settings, 3, settings.rows.at(self));
    const auto source = MakeBatchSource(party, plan, own, {}, {}, {});
    source->Share(party);
    return *source->Next(party, 0, 0);
  });
  RingMatrix bits = RingMatrix::Zero(plan.batch_rows, 1);
  RingMatrix in_rows = bits;
  // Two of three components of each slot; the third is zero by the protocol.
  std::set<Word> seen;
  double ones = 0;
  for (const Batch& batch : batches) {
    const RingMatrix& own = batch.mask_bits.own();
    bits += own;
    in_rows += MaskBits(batch).own();
    for (Index row = 0; row < own.size(); ++row) {
      if (own(row, 0) == 0) continue;
      seen.insert(own(row, 0));
      ones += std::popcount(own(row, 0));
    }
  }
  EXPECT_TRUE((Reduced(in_rows, plan.row_bits) * (Word{1} << 7) == bits).all());
  const auto records = (bits == Word{1} << 16).count();
  EXPECT_EQ((bits == 0).count(), bits.size() - records);
  EXPECT_GT(records, 20);
  EXPECT_LT(records, 100);
  EXPECT_EQ(static_cast<Index>(seen.size()), 2 * bits.size());
  // Of so many fair bits the share of ones is within 6 deviations of a half but for 2e-9.
  const double drawn = 64.0 * static_cast<double>(seen.size());
  EXPECT_NEAR(ones / drawn, 0.5, 6 * 0.5 / std::sqrt(drawn));
}

/// Every record in each step, whoever draws it, and rows that are shared once.
TrainingSettings SettingsOfOneSharing(Sampling sampling, Loss loss = Loss::kSquared) {
  TrainingSettings settings = SmallSettings();
  settings.sampling = sampling;
  settings.expected_batch = 120;
  settings.loss = loss;
  settings.learning_rate = 1;
  settings.truncation = protocols::Rounding::kExact;
  settings.max_record_weight = 1.3;
  return settings;
}

/// The same at all three parties but for the slots, and in each run.
PublicCoins CoinsOfEachRun(int self) {
  const auto key = [](int byte) {
    std::array<std::uint8_t, SecretKey::kBytes> bytes{};
    bytes.fill(static_cast<std::uint8_t>(byte));
    return SecretKey(bytes);
  };
  return {.schedule = key(1), .slots = key(2 + self)};
}

std::unique_ptr<BatchSource> SourceOfRows(mpc::Context& party, const StepPlan& plan, const OwnRecords& own) {
  std::optional<PublicCoins> coins;
  if (plan.settings.sampling == Sampling::kPublic) coins.emplace(CoinsOfEachRun(party.self()));
  return MakeBatchSource(party, plan, own, coins, {}, {});
}

OwnRecords OwnedBy(const StepPlan& plan, int owner) {
  return MakeRecords(plan.settings, 10 + static_cast<std::uint64_t>(owner), 38);
}

/// Rows in an order that does not depend on where they lie.
std::multiset<std::vector<Word>> InNoOrder(const RingMatrix& rows) {
  std::multiset<std::vector<Word>> out;
  for (Index row = 0; row < rows.rows(); ++row)
    out.emplace(rows.data() + row * rows.cols(), rows.data() + (row + 1) * rows.cols());
  return out;
}

class SharedOnceTest : public testing::TestWithParam<Sampling> {};

INSTANTIATE_TEST_SUITE_P(Samplings, SharedOnceTest, testing::Values(Sampling::kPublic, Sampling::kFull));

TEST_P(SharedOnceTest, HasAllRowsModulo2ToTheirBitsAtTheDeclaredCost) {
  const StepPlan plan = MakeStepPlan(SettingsOfOneSharing(GetParam()));
  ASSERT_EQ(plan.row_bits, 40);
  RingMatrix expected(0, EncodedColumns(plan));
  for (const int owner : {0, 1, 2}) {
    const OwnRecords own = OwnedBy(plan, owner);
    expected = mpc::Stacked(expected, EncodeRecords(plan, own, AllRows(own), 40));
  }
  std::array<protocols::Measured, 3> measured;
  const auto opened = RunParties(Seed{3}, [&](mpc::Context& party) {
    const OwnRecords own = OwnedBy(plan, party.self());
    const auto source = SourceOfRows(party, plan, own);
    measured.at(static_cast<std::size_t>(party.self())) =
        protocols::Measure(party, [&] { source->Share(party); });
    const auto batch = source->Next(party, 0, 0);
    EXPECT_EQ(batch->x.rows(), 0) << "no words beside the packed rows";
    const auto& blocks = batch->narrow_x.value().blocks();
    const auto with_both = std::count_if(blocks.begin(), blocks.end(), [](const auto& block) {
      return block.own.size() > 0 && block.next.size() > 0;
    });
    EXPECT_EQ(with_both, 1) << "own rows, or all of a public batch";
    mpc::ArithShare all = mpc::SideBySide(Widened(*batch->narrow_x), batch->y.ring());
    all = mpc::SideBySide(all, batch->squared_norms);
    return protocols::Reveal(party, mpc::SideBySide(all, batch->weights), protocols::ReleaseReason::kTest);
  });
  const mpc::NarrowColumns narrow = NarrowRows(plan);
  EXPECT_EQ(InNoOrder(Reduced(opened[0], narrow)), InNoOrder(Reduced(expected, narrow)));
  const mpc::Cost declared = protocols::InputAheadCost(RecordShapes(plan, plan.settings.rows), narrow);
  EXPECT_EQ(Figures(measured), Figures(declared));
  const std::uint64_t bytes = 40 * (7 * 5 + 5 * 8);
  EXPECT_EQ(declared.bytes_offline(), (std::array<std::uint64_t, 3>{bytes, bytes, bytes}));
}

// With public sampling at a rate of less than one, so that batches differ and end with padding. The sigmoid's
// last bits depend on the masks of the slots, which are private coins with full batches.
TEST_P(SharedOnceTest, TrainsOnNarrowRowsAsOnWholeOnesBitForBit) {
  const bool full = GetParam() == Sampling::kFull;
  std::vector<TrainingSettings> all{SettingsOfOneSharing(GetParam())};
  all.push_back(all[0]);  // of whose rows the mask bits are beside them
  all.back().classes = 2;
  all.back().hidden = {4};
  all.push_back(all[0]);
  all.back().momentum = 0.5;
  all.back().row_fraction_bits = 9;
  if (!full) all.push_back(SettingsOfOneSharing(GetParam(), Loss::kOneVsRest));
  for (TrainingSettings& settings : all) {
    if (!full) settings.expected_batch = 30;
    const StepPlan narrow = MakeStepPlan(settings);
    ASSERT_LT(narrow.row_bits, 64);
    const LayerShape shape = ShapeOfWeights(narrow);
    const RingMatrix before = RandomSigned(5, shape.inputs, shape.outputs, 15);
    const auto weights_of = [&](const StepPlan& plan) {
      return RunParties(Seed{8}, [&](mpc::Context& party) {
        const OwnRecords own = OwnedBy(plan, party.self());
        const auto source = SourceOfRows(party, plan, own);
        source->Share(party);
        TrainingState state = DealStart(party, plan, before);
        for (int step = 0; step < 4; ++step) {
          const auto batch = source->Next(party, step, 0);
          EXPECT_EQ(batch->narrow_x.has_value(), HasNarrowRows(plan));
          const auto seed = static_cast<std::uint64_t>(3 * step + party.self());
          state = DpSgdStep(party, plan, *batch, state,
                            RandomSigned(seed, shape.inputs, shape.outputs, plan.gradient_bits - 4));
        }
        return protocols::Reveal(party, state.weights.ring(), protocols::ReleaseReason::kTest);
      })[0];
    };
    const RingMatrix found = weights_of(narrow);
    StepPlan whole = narrow;
    whole.row_bits = 64;
    whole.update_bits = 64;
    whole.activation.row_bits = 64;
    EXPECT_TRUE((found == weights_of(whole)).all())
        << static_cast<int>(settings.loss) << ", " << settings.classes << " classes";
    EXPECT_TRUE((found != before).any());
  }
}

}  // namespace
}  // namespace trefoil::ml
