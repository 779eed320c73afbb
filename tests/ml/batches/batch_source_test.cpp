#include "ml/batches/batch_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

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

}  // namespace
}  // namespace trefoil::ml
