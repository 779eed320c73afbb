#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

namespace trefoil::fuzz {

InputFile::InputFile(std::string_view content) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
  const auto require = [](bool condition) {
    if (!condition) throw std::system_error(errno, std::generic_category(), "a file in memory");
  };
  require(descriptor_ >= 0);
  require(fchmod(descriptor_, 0600) == 0);
  for (std::size_t written = 0; written < content.size();) {
    const auto count = write(descriptor_, content.data() + written, content.size() - written);
    require(count > 0);
    written += static_cast<std::size_t>(count);
  }
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
}

InputFile::~InputFile() { close(descriptor_); }

void Check(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

}  // namespace trefoil::fuzz
