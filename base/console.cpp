#include "base/console.h"

#include <poll.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "base/blocking_call.h"

namespace trefoil {
namespace {

/// What a pipe that poll calls ready takes without waiting: PIPE_BUF of Linux.
constexpr std::size_t kTakenAtOnce = 4096;

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
  const bool noted = Put(note, patience).empty();
  const auto rest = noted ? Put(text, patience) : text;
  lock.lock();
  busy_ = false;
  freed_.notify_one();
  if (noted) {
    missing_ -= told;
    torn_ = false;
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
  while (!text.empty()) {
    if (!Ready(patience)) return text;
    const auto count = write(descriptor_, text.data(), std::min(text.size(), kTakenAtOnce));
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      return text;
    } else if (errno != EINTR) {
      return {};
    }
  }
  return {};
}

bool Console::Ready(std::chrono::milliseconds patience) const {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + patience;
  for (auto left = patience; true;
       left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now())) {
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
