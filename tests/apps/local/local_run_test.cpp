#include "apps/local/local_run.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

TEST(RunThree, DealsRecordsToFoldersThatNobodyElseMayRead) {
  const TemporaryFolder folder;
  const auto job = jobs::ReadJob(fs::path(TREFOIL_SOURCE_DIR) / "configs/demo.toml");
  std::ostringstream shown;
  runtime::ProgressDisplay display(shown, false);
  std::vector<fs::perms> seen;
  const auto split = [&](const jobs::SplitTarget& target) -> std::string {
    for (const auto& party : target.party_folders) seen.push_back(fs::status(party).permissions());
    throw DataError("none");
  };

  const auto mask = umask(0022);
  EXPECT_THROW(
      (void)RunThree({.job = *job, .split = split, .folder = folder.path() / "run", .display = display}, {}),
      DataError);
  umask(mask);

  EXPECT_EQ(seen, std::vector<fs::perms>(3, fs::perms::owner_all));
  EXPECT_FALSE(fs::exists(folder.path() / "run"));
}

}  // namespace
}  // namespace trefoil::apps
