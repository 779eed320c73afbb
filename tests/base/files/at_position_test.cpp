#include "base/files/at_position.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "tests/apps/temporary_folder.h"

namespace trefoil {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(AtPosition, ReadsWhatWasWrittenAndSaysWhereTheFileEnds) {
  const TemporaryFolder folder;
  const int file = open((folder.path() / "file").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  EXPECT_TRUE(WriteAt(file, 2, Bytes{1, 2, 3}));
  Bytes read(4, 9);
  EXPECT_EQ(ReadAt(file, 1, read), 4U);
  EXPECT_EQ(read, (Bytes{0, 1, 2, 3}));
  errno = EIO;
  EXPECT_EQ(ReadAt(file, 3, read), 2U);
  EXPECT_EQ(errno, 0);
  close(file);
}

TEST(AtPosition, SaysWhatTheSystemRefuses) {
  const TemporaryFolder folder;
  const int own = open(folder.path().c_str(), O_RDONLY | O_CLOEXEC);
  Bytes read(1);
  EXPECT_EQ(ReadAt(own, 0, read), 0U);
  EXPECT_EQ(errno, EISDIR);
  EXPECT_FALSE(WriteAt(own, 0, Bytes{1}));
  EXPECT_EQ(errno, EBADF);
  close(own);
}

}  // namespace
}  // namespace trefoil
