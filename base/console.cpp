#include "base/console.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>

#include "base/threads/blocking_call.h"

namespace trefoil {
namespace {

using Clock = std::chrono::steady_clock;

/// What is written at once: PIPE_BUF of Linux.
constexpr std::size_t kTakenAtOnce = 4096;

/// Writes to the same pipe or terminal, opened anew, that do not wait, whoever else has the descriptor. To
/// anything else they go as always: a file would begin anew, and a socket that poll calls ready has room for
/// more than a line.
class NoWait {
 public:
  explicit NoWait(int descriptor) : descriptor_(descriptor) {
    struct stat about {};
    if (fstat(descriptor, &about) != 0) return;
    if (!S_ISFIFO(about.st_mode) && !S_ISCHR(about.st_mode)) return;
    const auto path = fmt::format("/proc/self/fd/{}", descriptor);
    own_ = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  }
  ~NoWait() {
    if (own_ >= 0) close(own_);
  }
  NoWait(const NoWait&) = delete;
  NoWait& operator=(const NoWait&) = delete;

  /// As write().
  [[nodiscard]] ssize_t Write(std::string_view text) const {
    return write(own_ >= 0 ? own_ : descriptor_, text.data(), text.size());
  }

 private:
  int descriptor_;
  int own_ = -1;
};

std::uint64_t LinesOf(std::string_view text) {
  return static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(std::count(text.begin(), text.end(), '\n'), 1));
}

}  // namespace

Console::Console(int descriptor, std::filesystem::path name, std::chrono::milliseconds patience)
    : descriptor_(descriptor), name_(std::move(name)), patience_(patience) {}

void Console::Write(std::string_view text) {
  if (text.empty()) return;
  const BlockingCall call("writing", name_);
  std::unique_lock lock(mutex_);
  const auto patience = missing_ == 0 ? patience_ : std::chrono::milliseconds(0);
  if (!freed_.wait_for(lock, patience, [this] { return !busy_; })) return Drop(text);
  const auto told = missing_;
  const auto note = told == 0 ? std::string()
                              : fmt::format("{}[lines missing here, which nobody read in time: {}]\n",
                                            torn_ ? "\n" : "", told);
  busy_ = true;
  lock.unlock();
  const auto rest_of_note = Put(note, patience);
  const bool noted = rest_of_note.empty();
  const auto rest = noted ? Put(text, patience) : text;
  lock.lock();
  busy_ = false;
  freed_.notify_one();
  if (noted) {
    missing_ -= told;
    torn_ = false;
  } else if (rest_of_note.size() < note.size()) {
    torn_ = true;
  }
  if (rest.empty()) return;
  if (rest.size() < text.size()) torn_ = true;
  Drop(rest);
}

std::uint64_t Console::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

/// What was not taken.
std::string_view Console::Put(std::string_view text, std::chrono::milliseconds patience) const {
  const NoWait out(descriptor_);
  auto deadline = Clock::now() + patience;
  while (!text.empty()) {
    if (!Ready(deadline)) return text;
    const auto count = out.Write(text.substr(0, kTakenAtOnce));
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
      deadline = Clock::now() + patience;
    } else if (count == 0 || errno == EAGAIN) {
      // A terminal may be called ready, and have no room for a line's end.
      if (Clock::now() >= deadline) return text;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    } else if (errno != EINTR) {
      return {};
    }
  }
  return {};
}

bool Console::Ready(Clock::time_point deadline) const {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd one{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    const int count = poll(&one, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (count >= 0 || errno != EINTR) return count != 0;
  }
}

/// Pre: the mutex is held.
void Console::Drop(std::string_view text) {
  missing_ += LinesOf(text);
  dropped_ += LinesOf(text);
}

std::streamsize Console::Buffer::xsputn(const char* text, std::streamsize count) {
  console_.Write({text, static_cast<std::size_t>(count)});
  return count;
}

Console::Buffer::int_type Console::Buffer::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
  const char one = traits_type::to_char_type(character);
  console_.Write({&one, 1});
  return character;
}

// Never destroyed: a thread may still write when the process ends.
Console& StandardOutput() {
  static auto& console = *new Console(STDOUT_FILENO, "standard output");
  return console;
}

Console& StandardError() {
  static auto& console = *new Console(STDERR_FILENO, "standard error");
  return console;
}

}  // namespace trefoil
