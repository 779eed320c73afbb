#include "tests/support/faults/file_calls.h"

#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/threads/blocking_call.h"

namespace trefoil::testing_support {
namespace {

std::mutex g_mutex;
std::vector<std::string> g_calls;

void Note(const char* call, const std::filesystem::path& path) {
  const std::lock_guard lock(g_mutex);
  g_calls.push_back(call + path.filename().string() + (BlockingCall::Oldest() ? "" : ", unnamed"));
}

}  // namespace

std::vector<std::string> TakeFileCalls() {
  const std::lock_guard lock(g_mutex);
  return std::exchange(g_calls, {});
}

}  // namespace trefoil::testing_support

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the names that the linker's --wrap asks for
int __real_fsync(int descriptor);
int __real_rename(const char* from, const char* to);

int __wrap_fsync(int descriptor) {
  std::error_code error;
  const auto link = "/proc/self/fd/" + std::to_string(descriptor);
  trefoil::testing_support::Note("fsync ", std::filesystem::read_symlink(link, error));
  return __real_fsync(descriptor);
}

int __wrap_rename(const char* from, const char* to) {
  trefoil::testing_support::Note("rename ", to);
  return __real_rename(from, to);
}
// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"
