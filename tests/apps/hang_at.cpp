// Storage that hangs, for tests/apps/stuck_test.py: preloaded (LD_PRELOAD), fsync of a file whose path has a part
// in it does not come back as long as another file, the gate, is there. TREFOIL_HANG_AT is "PART:GATE".
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

}  // namespace

extern "C" int fsync(int descriptor) {
  const char* wanted = std::getenv("TREFOIL_HANG_AT");
  const std::string text = wanted == nullptr ? "" : wanted;
  const auto colon = text.find(':');
  if (colon != std::string::npos && PathOf(descriptor).find(text.substr(0, colon)) != std::string::npos) {
    while (access(text.c_str() + colon + 1, F_OK) == 0) usleep(20'000);
  }
  return reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "fsync"))(descriptor);
}
