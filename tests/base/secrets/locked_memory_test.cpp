#include "base/secrets/locked_memory.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace trefoil {
namespace {

constexpr rlim_t kSmallLimit = 1 << 20;
constexpr rlim_t kLargeLimit = 1 << 30;

/// CAP_IPC_LOCK, which exempts from the limit, given up.
void BecomeBoundByLimits() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  if (syscall(SYS_capget, &header, data) != 0) std::exit(10);
  data[0].effective &= ~(1U << CAP_IPC_LOCK);
  data[0].permitted &= ~(1U << CAP_IPC_LOCK);
  data[0].inheritable = 0;
  if (syscall(SYS_capset, &header, data) != 0) std::exit(11);
}

bool SetLimit(rlim_t soft, rlim_t hard) {
  const rlimit limit{.rlim_cur = soft, .rlim_max = hard};
  return setrlimit(RLIMIT_MEMLOCK, &limit) == 0;
}

long LockedKilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (long kilobytes = 0; word == "VmLck:" && status >> kilobytes) return kilobytes;
  }
  return -1;
}

/// Whether 64 MiB that come later are locked as well.
bool LocksWhatComes() {
  constexpr std::size_t kBytes = 64 << 20;
  const std::vector<std::uint8_t> later(kBytes, 1);
  return LockedKilobytes() >= static_cast<long>(kBytes >> 10) && later.back() == 1;
}

class LockAllMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
  }
};

/// For tests in which memory has to be locked beyond a limit, or must not be: sanitizers map and lock by
/// their own rules.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kMemoryIsTheSanitizers = true;
#else
constexpr bool kMemoryIsTheSanitizers = false;
#endif

TEST_F(LockAllMemoryTest, LocksWhereThereIsNoHardLimitAndRaisesTheSoftOne) {
  // In a container not even root may raise a hard limit.
  if (!SetLimit(kSmallLimit, RLIM_INFINITY)) GTEST_SKIP() << "this process may not raise a hard limit";
  EXPECT_EXIT(
      {
        BecomeBoundByLimits();
        std::exit(LockAllMemory() && LocksWhatComes() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(LockAllMemoryTest, LocksBeyondALimitThatDoesNotBindTheProcess) {
  if (kMemoryIsTheSanitizers) GTEST_SKIP() << "a sanitizer's own memory breaks what is measured";
  EXPECT_EXIT(
      {
        (void)SetLimit(kSmallLimit, kSmallLimit);
        std::exit(LockAllMemory() && LocksWhatComes() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(LockAllMemoryTest, LeavesAllAsItWasUnderALimit) {
  if (kMemoryIsTheSanitizers) GTEST_SKIP() << "a sanitizer's own memory breaks what is measured";
  EXPECT_EXIT(
      {
        // A limit that the process is within now, if it may raise it so far.
        (void)(SetLimit(kSmallLimit, kLargeLimit) || SetLimit(kSmallLimit, 2 * kSmallLimit));
        rlimit before{};
        getrlimit(RLIMIT_MEMLOCK, &before);
        BecomeBoundByLimits();
        const bool locked = LockAllMemory();
        rlimit after{};
        getrlimit(RLIMIT_MEMLOCK, &after);
        const bool same = after.rlim_cur == kSmallLimit && after.rlim_max == before.rlim_max;
        std::exit(!locked && same && LockedKilobytes() == 0 && !LocksWhatComes() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace trefoil
