#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace trefoil::net {

/// While it lives, this process can open no more files.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    const int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);  // all below it are in use
    close(lowest);
    EXPECT_GE(lowest, 0);
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    auto none = before_;
    none.rlim_cur = static_cast<rlim_t>(lowest);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoMoreFiles() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace trefoil::net
