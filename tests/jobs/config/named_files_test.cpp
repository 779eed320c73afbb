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
    EXPECT_THROW((void)NamedFiles("--in", {}, SpecOf(format), LabelUse::kIgnored), ConfigError);
  }
  EXPECT_THROW((void)NamedFiles("--in", {"a", "b"}, SpecOf(Format::kNpz), LabelUse::kIgnored), ConfigError);
  EXPECT_EQ(NamedFiles("--in", {"a", "b"}, SpecOf(Format::kCsv)).table(),
            (std::vector<std::filesystem::path>{"a", "b"}));
}

TEST(NamedTestData, IsADatabaseWhereAQueryIsGiven) {
  const TemporaryFolder folder;
  const auto database = folder.Write("a.db", "");
  const auto files = NamedTestData({database}, SpecOf(Format::kCsv), LabelUse::kRead, "SELECT 1");
  EXPECT_EQ(files.file, database);
  EXPECT_EQ(files.query, "SELECT 1");
  EXPECT_THROW((void)NamedTestData({database, database}, SpecOf(Format::kCsv), LabelUse::kRead, "SELECT 1"),
               ConfigError);
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

TEST(NamedTestData, IsAFolderOfImagesOrTheTestOfOne) {
  const TemporaryFolder folder;
  auto spec = SpecOf(Format::kImages);
  const auto named = [&] { return NamedTestData({folder.path()}, spec).file; };
  const auto refused = [&](const std::string& beside) {
    try {
      (void)named();
      ADD_FAILURE() << "nothing was refused: " << beside;
    } catch (const DataError& error) {
      EXPECT_EQ(error.what(), folder.path().string() + ": found a folder \"test\" and " + beside +
                                  ", expected one or the other: name the images' own folder");
    }
  };
  std::filesystem::create_directories(folder.path() / "cat");
  EXPECT_EQ(named(), folder.path());
  std::filesystem::create_directories(folder.path() / "test");
  refused("a folder \"cat\"");
  std::filesystem::remove(folder.path() / "cat");
  for (const char* name : {"train", "validation", "queries", ".git"})
    std::filesystem::create_directories(folder.path() / name);
  folder.Write("README", "");
  EXPECT_EQ(named(), folder.path() / "test");
  spec.label.values = {"car", "train"};
  refused("a folder \"train\"");
  spec.label.values = {"car", "test"};
  EXPECT_EQ(named(), folder.path() / "test");
  folder.Write("1", "\xff\xd8\xff as a JPEG file begins");
  refused("an image \"1\"");
}

}  // namespace
}  // namespace trefoil::jobs
