#include "jobs/records/load_records.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "data/formats/idx.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::jobs {
namespace {

// Five images of which some are longer than the job's row norm.
TEST(LoadOwnRecords, LeavesLargeFeaturesOnDiskAndReadsThemAlike) {
  const TemporaryFolder folder;
  const data::DataFiles files{.x = folder.path() / "x.idx", .y = folder.path() / "y.idx", .file = {}};
  std::vector<std::uint8_t> pixels(20);
  for (std::size_t k = 0; k < pixels.size(); ++k) pixels[k] = static_cast<std::uint8_t>(13 * k);
  data::WriteIdx(files.x, {{5, 4}, pixels});
  data::WriteIdx(files.y, {{5}, {0, 1, 1, 0, 1}});
  RecordSchema schema;
  schema.data.name = "five";
  schema.data.rows = {5, 5, 5};
  schema.data.features = 4;
  schema.data.scale = 255;
  schema.features.row_norm = 1;
  const ml::OwnRecords held = LoadOwnRecords(schema, 0, files, {.max_in_memory = 80});
  const ml::OwnRecords stored = LoadOwnRecords(schema, 0, files, {.max_in_memory = 79});
  EXPECT_FALSE(held.stored);
  ASSERT_TRUE(stored.stored);
  EXPECT_EQ(stored.x.size(), 0);
  ASSERT_EQ(stored.rows(), held.rows());
  ASSERT_EQ(stored.features(), held.features());
  EXPECT_EQ(stored.y, held.y);
  for (std::int64_t row = 0; row < held.rows(); ++row) EXPECT_EQ(stored.Row(row), held.Row(row));
  schema.data.rows[0] = 4;
  EXPECT_THROW((void)LoadOwnRecords(schema, 0, files, {.max_in_memory = 0}), DataError);
  schema.data.rows[0] = 5;
  schema.features.extraction.method = data::FeatureMethod::kHog;
  EXPECT_FALSE(MayStayOnDisk(schema));
}

}  // namespace
}  // namespace trefoil::jobs
