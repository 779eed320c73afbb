#include "jobs/config/named_files.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::jobs {
namespace {

using data::Format;
using data::LabelUse;

data::DataSpec SpecOf(Format format) {
  data::DataSpec spec;
  spec.format = format;
  return spec;
}

TEST(NamedFiles, AreTwoOrOneByTheFormat) {
  for (const auto format : {Format::kIdx, Format::kNpy}) {
    const auto files = NamedFiles("--in", {"a", "b"}, SpecOf(format));
    EXPECT_EQ(files.x, "a");
    EXPECT_EQ(files.y, "b");
    EXPECT_THROW((void)NamedFiles("--in", {"a"}, SpecOf(format)), ConfigError);
    EXPECT_EQ(NamedFiles("--in", {"a"}, SpecOf(format), LabelUse::kIgnored).x, "a");
    EXPECT_EQ(NamedFiles("--in", {"a", "b"}, SpecOf(format), LabelUse::kIgnored).x, "a");
    EXPECT_THROW((void)NamedFiles("--in", {"a", "b", "c"}, SpecOf(format), LabelUse::kIgnored), ConfigError);
  }
  for (const auto format : {Format::kCsv, Format::kNpz}) {
    EXPECT_EQ(NamedFiles("--in", {"a"}, SpecOf(format)).file, "a");
    EXPECT_THROW((void)NamedFiles("--in", {"a", "b"}, SpecOf(format), LabelUse::kIgnored), ConfigError);
  }
}

TEST(NamedTestData, IsAFoldersTestFilesOrTheFilesThemselves) {
  const TemporaryFolder folder;
  const auto test = folder.Write("test.csv", "");
  EXPECT_EQ(NamedTestData({folder.path()}, SpecOf(Format::kCsv)).file, test);
  EXPECT_EQ(NamedTestData({test}, SpecOf(Format::kCsv)).file, test);
  EXPECT_THROW((void)NamedTestData({folder.path()}, SpecOf(Format::kNpz)), DataError);
  EXPECT_THROW((void)NamedTestData({folder.path() / "none.csv"}, SpecOf(Format::kCsv)), DataError);
  EXPECT_THROW((void)NamedTestData({test}, SpecOf(Format::kIdx)), ConfigError);
}

}  // namespace
}  // namespace trefoil::jobs
