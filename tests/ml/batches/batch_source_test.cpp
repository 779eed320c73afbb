#include "ml/batches/batch_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

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

}  // namespace
}  // namespace trefoil::ml
