#include "runtime/observe/run_log.h"

#include <fcntl.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "base/console.h"
#include "base/error_report.h"
#include "base/files/regular_file.h"
#include "base/threads/blocking_call.h"

namespace trefoil::runtime {
namespace {

spdlog::level::level_enum LevelOf(jobs::LogLevel level) {
  switch (level) {
    case jobs::LogLevel::kDebug:
      return spdlog::level::debug;
    case jobs::LogLevel::kInfo:
      return spdlog::level::info;
    case jobs::LogLevel::kWarning:
      return spdlog::level::warn;
    case jobs::LogLevel::kError:
      return spdlog::level::err;
    case jobs::LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

std::string TimeText(spdlog::log_clock::time_point time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time - seconds).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(spdlog::log_clock::to_time_t(seconds)),
                     milliseconds);
}

/// One event as one line, whatever is in its text.
class LineFormatter : public spdlog::formatter {
 public:
  LineFormatter(bool json, int party) : json_(json), party_(party) {}

  void format(const spdlog::details::log_msg& event, spdlog::memory_buf_t& out) override {
    const auto level = spdlog::level::to_string_view(event.level);
    const std::string level_text(level.data(), level.size());
    const std::string text(event.payload.data(), event.payload.size());
    const auto line = json_ ? Json(TimeText(event.time), level_text, text)
                            : fmt::format("{} {} {}", TimeText(event.time), level_text, OneLine(text));
    fmt::format_to(std::back_inserter(out), "{}\n", line);
  }

  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LineFormatter>(json_, party_);
  }

 private:
  [[nodiscard]] std::string Json(const std::string& time, const std::string& level,
                                 const std::string& text) const {
    const nlohmann::ordered_json line{{"time", time}, {"level", level}, {"party", party_}, {"text", text}};
    // A file's name need not be UTF-8; whoever shows the line at a terminal need not know about its controls.
    return line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  }

  bool json_;
  int party_;
};

/// What the file is, where that is why it was not opened, else the error.
std::string WhyNotOpened(const std::filesystem::path& file, int error) {
  struct stat status {};
  if (lstat(file.c_str(), &status) != 0) return DescribeErrno(error);
  if (S_ISLNK(status.st_mode)) return "is a symbolic link";
  const auto other = WhatElse(status.st_mode);
  return other.empty() ? DescribeErrno(error) : other;
}

/// Appends to a regular file, and to nothing that a link of that name leads to.
class FileSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(const std::filesystem::path& file)
      : file_(file),
        descriptor_(
            open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644)) {
    struct stat status {};
    std::string cause;
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
      cause = WhyNotOpened(file, errno);
    } else {
      cause = WhatElse(status.st_mode);
    }
    if (cause.empty()) return;
    if (descriptor_ >= 0) close(descriptor_);
    throw std::runtime_error(
        fmt::format("{}: cannot be written: {}, expected a regular file or none", file.string(), cause));
  }
  ~FileSink() override { close(descriptor_); }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

 protected:
  void sink_it_(const spdlog::details::log_msg& event) override {
    const BlockingCall call("writing", file_);
    spdlog::memory_buf_t line;
    formatter_->format(event, line);
    for (std::string_view rest(line.data(), line.size()); !rest.empty();) {
      const auto count = write(descriptor_, rest.data(), rest.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return;
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void flush_() override {}

 private:
  std::filesystem::path file_;
  int descriptor_;
};

/// To standard error, which nothing waits for. The console has a lock of its own.
class ConsoleSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& event) override {
    spdlog::memory_buf_t line;
    formatter_->format(event, line);
    StandardError().Write({line.data(), line.size()});
  }
  void flush_() override {}
};

using LastSink = spdlog::sinks::ringbuffer_sink_mt;
constexpr std::size_t kLastLines = 40;

}  // namespace

RunLog::RunLog(const std::filesystem::path& file, const jobs::LogSettings& settings, int party) {
  auto to_file = std::make_shared<FileSink>(file);
  to_file->set_level(LevelOf(settings.level));
  auto last = std::make_shared<LastSink>(kLastLines);
  last->set_level(LevelOf(settings.level));
  auto to_stderr = std::make_shared<ConsoleSink>();
  to_stderr->set_level(LevelOf(settings.to_stderr));
  logger_ = std::make_shared<spdlog::logger>("party", spdlog::sinks_init_list{to_file, to_stderr, last});
  logger_->set_formatter(std::make_unique<LineFormatter>(settings.json, party));
  logger_->set_level(spdlog::level::debug);
  logger_->flush_on(spdlog::level::debug);
  logger_->set_error_handler([](const std::string&) {});
}

void RunLog::Write(jobs::LogLevel level, const std::string& text) { logger_->log(LevelOf(level), text); }

std::vector<std::string> RunLog::LastLines() const {
  auto lines = static_cast<LastSink&>(*logger_->sinks().back()).last_formatted();
  for (auto& line : lines) line.pop_back();  // its line feed
  return lines;
}

}  // namespace trefoil::runtime
