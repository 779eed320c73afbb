// One fault at one message of one party, in what a training opens before its steps.

#include "tests/support/faults/fault_runs.h"

#include <gtest/gtest.h>

#include <string>

#include "jobs/dpsgd/standardisation.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::jobs {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr const char* kOfColumns = R"(format = "csv"
classes = 2
label = { column = "y", values = ["u", "v"] }
column = [{ name = "a", low = -10.0, high = 10.0 }, { name = "b", low = 0.0, high = 4.0 }]
[features]
)";
constexpr const char* kOfImages = R"(format = "idx"
features = 64
classes = 2
[features]
method = "hog"
row_norm = 4.0
)";

/// A training whose features are standardised by a noisy sum. `features`: of which, the rest of [data] and the
/// beginning of [features].
DpsgdSettings Standardising(const std::string& features) {
  const TemporaryFolder folder;
  return ReadDpsgdSettings(folder.Write("x.toml", R"(version = 1
type = "dpsgd"
name = "trial"
[data]
name = "trial"
rows = [400, 400, 400]
)" + features + R"(standardise = "private"
[training]
steps = 5
expected_batch = 120
max_batch_per_owner = 90
learning_rate = 1
[privacy]
epsilon = 2.0
delta = 1e-5
clip = 1
)"),
                           {});
}

class OpenMomentsFaultTest : public testing::TestWithParam<const char*> {};

/// With a wrong bit the three may come to different numbers, which they then compare.
TEST_P(OpenMomentsFaultTest, EndsInATypedErrorEverywhereAndNeverHangs) {
  const auto job = Standardising(GetParam());
  const auto event = StandardisationEvent(job);
  const auto own = mpc::RingMatrix::Constant(event.coordinates, 1, 5);
  ExpectTypedEndsUnderFaults(
      [&](mpc::Context& party) { (void)OpenMoments(party, job, event, own, RandomStream::FromSystem()); },
      Flipped::kAnyEnd);
}

INSTANTIATE_TEST_SUITE_P(Columns, OpenMomentsFaultTest, testing::Values(kOfColumns));
INSTANTIATE_TEST_SUITE_P(ExtractedFeatures, OpenMomentsFaultTest, testing::Values(kOfImages));

}  // namespace
}  // namespace trefoil::jobs
