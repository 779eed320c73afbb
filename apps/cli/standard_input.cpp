#include "apps/cli/standard_input.h"

#include <spdlog/fmt/fmt.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/error.h"

namespace trefoil::apps {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr std::size_t kPiece = std::size_t{1} << 16;

[[noreturn]] void FailToRead() {
  throw DataError(fmt::format("standard input: cannot be read: {}", std::strerror(errno)));
}

/// A system call, again where a signal interrupted it.
template <typename Call>
std::size_t Completed(Call call) {
  for (;;) {
    const auto done = call();
    if (done >= 0) return static_cast<std::size_t>(done);
    if (errno != EINTR) FailToRead();
  }
}

void CopyStandardInput(int to) {
  std::array<char, kPiece> piece{};
  std::size_t all = 0;
  for (;;) {
    const auto count = Completed([&] { return read(STDIN_FILENO, piece.data(), piece.size()); });
    if (count == 0) return;
    all += count;
    if (all > kMaxBytes) throw DataError(fmt::format("standard input: found more than {} bytes", kMaxBytes));
    for (std::size_t written = 0; written < count;)
      written += Completed([&] { return write(to, piece.data() + written, count - written); });
  }
}

}  // namespace

std::vector<std::string> WithStandardInput(std::vector<std::string> paths) {
  if (paths != std::vector<std::string>{"-"}) return paths;
  const int memory = memfd_create("standard input", MFD_CLOEXEC);
  if (memory < 0) FailToRead();
  CopyStandardInput(memory);
  (void)Completed([&] { return dup2(memory, STDIN_FILENO); });
  close(memory);
  return {"/dev/stdin"};
}

}  // namespace trefoil::apps
