// Storage that hangs, for tests/apps/stuck_test.py, store_check_test.py and images_test.py: preloaded
// (LD_PRELOAD), fsync of a file and write to it do not come back, where its path has a part in it, as long as
// another file, the gate, is there. TREFOIL_HANG_AT is "PART:GATE"; TREFOIL_HANG_READ_AT likewise for read.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace {

std::string PathOf(int descriptor) {
  std::array<char, 4096> path{};
  const auto link = "/proc/self/fd/" + std::to_string(descriptor);
  const auto count = readlink(link.c_str(), path.data(), path.size());
  return count > 0 ? std::string(path.data(), static_cast<std::size_t>(count)) : std::string();
}

void Hang(int descriptor, const char* variable) {
  const char* wanted = std::getenv(variable);
  const std::string text = wanted == nullptr ? "" : wanted;
  const auto colon = text.find(':');
  if (colon == std::string::npos || PathOf(descriptor).find(text.substr(0, colon)) == std::string::npos)
    return;
  while (access(text.c_str() + colon + 1, F_OK) == 0) usleep(20'000);
}

template <typename Function>
Function* Original(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int fsync(int descriptor) {
  Hang(descriptor, "TREFOIL_HANG_AT");
  return Original<decltype(fsync)>("fsync")(descriptor);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  Hang(descriptor, "TREFOIL_HANG_AT");
  return Original<decltype(write)>("write")(descriptor, bytes, count);
}

ssize_t read(int descriptor, void* bytes, size_t count) {
  Hang(descriptor, "TREFOIL_HANG_READ_AT");
  return Original<decltype(read)>("read")(descriptor, bytes, count);
}

}  // extern "C"
