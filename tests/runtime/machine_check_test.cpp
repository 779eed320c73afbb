#include "runtime/machine_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/apps/temporary_folder.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kTitles = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";

/// A folder that looks like the parts of / that are read.
class PlainSwapTest : public testing::Test {
 protected:
  void Put(const std::string& file, const std::string& text) {
    fs::create_directories((root_.path() / file).parent_path());
    (void)root_.Write(file, text);
  }
  void PutAreas(const std::string& lines) { Put("proc/swaps", kTitles + lines); }

  TemporaryFolder root_;
};

TEST_F(PlainSwapTest, IsEmptyWhereNoneIsOn) {
  EXPECT_THAT(PlainSwap(root_.path()), IsEmpty());
  PutAreas("");
  EXPECT_THAT(PlainSwap(root_.path()), IsEmpty());
}

TEST_F(PlainSwapTest, NamesPartitionsFilesAndVolumesThatAreNotEncrypted) {
  PutAreas(
      "/dev/sda2                               partition\t8388604\t\t0\t\t-2\n"
      "/swapfile                               file\t\t1048572\t\t12\t\t-3\n"
      "/dev/dm-1                               partition\t1048572\t\t0\t\t-4\n");
  Put("sys/block/dm-1/dm/uuid", "LVM-abcdef\n");
  EXPECT_THAT(PlainSwap(root_.path()), ElementsAre("/dev/sda2", "/swapfile", "/dev/dm-1"));
  EXPECT_THAT(SwapWarning(false, root_.path()), HasSubstr("written to /dev/sda2, /swapfile, /dev/dm-1,"));
}

TEST_F(PlainSwapTest, IsWarnedOfOnlyWhereMemoryMayReachIt) {
  PutAreas("");
  EXPECT_EQ(SwapWarning(false, root_.path()), "");
  PutAreas("/swapfile                               file\t\t1048572\t\t12\t\t-3\n");
  EXPECT_EQ(SwapWarning(true, root_.path()), "");
  EXPECT_NE(SwapWarning(false, root_.path()), "");
}

TEST_F(PlainSwapTest, LeavesOutEncryptedVolumesAndMemory) {
  PutAreas(
      "/dev/dm-0                               partition\t8388604\t\t0\t\t-2\n"
      "/dev/zram0                              partition\t8388604\t\t0\t\t100\n"
      "/dev/zram1                              partition\t8388604\t\t0\t\t100\n");
  Put("sys/block/dm-0/dm/uuid", "CRYPT-PLAIN-cryptswap1\n");
  Put("sys/block/zram0/backing_dev", "none\n");
  Put("sys/block/zram1/backing_dev", "/dev/sda3\n");
  EXPECT_THAT(PlainSwap(root_.path()), ElementsAre("/dev/zram1"));
}

}  // namespace
}  // namespace trefoil::runtime
