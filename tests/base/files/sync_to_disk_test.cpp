#include "base/files/sync_to_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "tests/support/faults/file_calls.h"

namespace trefoil {
namespace {

namespace fs = std::filesystem;
using testing_support::TakeFileCalls;

class SyncToDiskTest : public testing::Test {
 protected:
  SyncToDiskTest() { (void)TakeFileCalls(); }
  ~SyncToDiskTest() override { fs::remove_all(folder_); }

  static fs::path MakeFolder() {
    auto pattern = (fs::temp_directory_path() / "trefoil-base-XXXXXX").string();
    return mkdtemp(pattern.data());
  }
  void Put(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  [[nodiscard]] std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }

  const fs::path folder_ = MakeFolder();
};

TEST_F(SyncToDiskTest, SyncsFilesAndFolders) {
  Put("a", "1");
  SyncToDisk(folder_ / "a");
  SyncToDisk(folder_);
  EXPECT_THAT(TakeFileCalls(), testing::ElementsAre("fsync a", "fsync " + folder_.filename().string()));
  EXPECT_THROW(SyncToDisk(folder_ / "none"), std::system_error);
}

TEST_F(SyncToDiskTest, PutsOnlyInPlaceWhatIsOnDisk) {
  Put("a", "old");
  Put("draft", "new");
  PutInPlace(folder_ / "draft", folder_ / "a");
  EXPECT_THAT(TakeFileCalls(),
              testing::ElementsAre("fsync draft", "rename a", "fsync " + folder_.filename().string()));
  EXPECT_EQ(Read("a"), "new");
  EXPECT_FALSE(fs::exists(folder_ / "draft"));
  EXPECT_THROW(PutInPlace(folder_ / "draft", folder_ / "a"), std::system_error);
  EXPECT_EQ(Read("a"), "new");
}

}  // namespace
}  // namespace trefoil
