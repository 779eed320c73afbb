#include "apps/local/child_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/files/files.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::apps {
namespace {

// A child runs this very test program again, so its arguments are GoogleTest's.
const std::vector<std::string> kForever{"--gtest_filter=None.*", "--gtest_repeat=-1"};

ProcessEnd Wait(ChildProcess& child) {
  for (int i = 0; i < 1000 && !child.Poll(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return child.Poll().value_or(ProcessEnd{.code = -1, .signal = -1});
}

TEST(ChildProcess, TellsTheExitCodeAndKeepsTheOutput) {
  const TemporaryFolder folder;
  ChildProcess child({"--gtest_list_tests"}, folder.path() / "log");
  EXPECT_EQ(Wait(child).code, 0);
  EXPECT_NE(ReadTextFile(folder.path() / "log", "").find("ChildProcess."), std::string::npos);
}

TEST(ChildProcess, TellsTheSignalThatKilledIt) {
  const TemporaryFolder folder;
  ChildProcess child(kForever, folder.path() / "log");
  EXPECT_FALSE(child.Poll());
  child.Signal(SIGKILL);
  EXPECT_EQ(Wait(child).signal, SIGKILL);
}

TEST(ChildProcess, DiesWithItsObject) {
  const TemporaryFolder folder;
  pid_t id = 0;
  {
    const ChildProcess child(kForever, folder.path() / "log");
    id = child.id();
    EXPECT_EQ(kill(id, 0), 0);
  }
  EXPECT_EQ(kill(id, 0), -1);
}

}  // namespace
}  // namespace trefoil::apps
