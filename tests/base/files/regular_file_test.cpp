#include "base/files/regular_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "base/files/open_files.h"

namespace trefoil {
namespace {

class RegularFileTest : public testing::Test {
 protected:
  RegularFileTest() {
    std::string name = testing::TempDir() + "trefoil-base-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~RegularFileTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(RegularFileTest, OpensAFileAndALinkToOne) {
  std::ofstream(folder_ / "file") << "text";
  std::filesystem::create_symlink(folder_ / "file", folder_ / "link");
  for (const char* name : {"file", "link"}) {
    RegularFile file(folder_ / name);
    ASSERT_TRUE(file) << file.cause();
    EXPECT_EQ(file.size(), 4U);
    const int descriptor = file.Release();
    EXPECT_FALSE(file);
    EXPECT_EQ(close(descriptor), 0);
  }
}

TEST_F(RegularFileTest, RefusesWhatMayHaveNoEndWithoutWaitingForIt) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);  // to open it plainly would wait for a writer
  EXPECT_EQ(RegularFile(folder_ / "pipe").cause(), "is a named pipe");
  EXPECT_EQ(RegularFile("/dev/zero").cause(), "is a device");
  EXPECT_EQ(RegularFile(folder_).cause(), "is a folder");
  EXPECT_EQ(RegularFile(folder_ / "none").cause(), "No such file or directory");
}

/// Expects `body` to be true under a limit on open files, in a process of its own.
template <typename Body>
void UnderLimit(rlim_t soft, rlim_t hard, const Body& body) {
  const auto run = [&] {
    const rlimit limit{.rlim_cur = soft, .rlim_max = hard};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) std::_Exit(9);
    std::_Exit(body() ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

TEST(OpenFiles, NamesTheLimitThatIsFoundAndTheOneNeeded) {
  UnderLimit(40, 50, [] {
    try {
      RequireOpenFiles(60);
      return false;
    } catch (const std::runtime_error& error) {
      return std::string(error.what()) ==
             "open files: found a limit of 40, expected at least 60: raise it (ulimit -n 60; in units "
             "LimitNOFILE=60)";
    }
  });
}

TEST(OpenFiles, RaisesTheLimitWhereTheSystemLetsIt) {
  UnderLimit(40, 100, [] {
    RequireOpenFiles(60);
    return OpenFileLimit() == 60;
  });
  UnderLimit(80, 100, [] {
    RequireOpenFiles(60);
    return OpenFileLimit() == 80;
  });
}

TEST(DescribeErrno, NamesTheLimitWhereDescriptorsRanOut) {
  EXPECT_EQ(DescribeErrno(ENOENT), "No such file or directory");
  EXPECT_EQ(DescribeErrno(EMFILE),
            "Too many open files: found a limit of " + std::to_string(OpenFileLimit()) + " (ulimit -n)");
}

}  // namespace
}  // namespace trefoil
