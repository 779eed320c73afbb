#include "apps/progress.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cmath>
#include <ostream>

#include "apps/bound_text.h"
#include "apps/error_report.h"

namespace trefoil::apps {

std::string BytesText(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  const char* unit = "";
  for (const auto* next : {"kB", "MB", "GB", "TB"}) {
    if (value < 999.95 && *unit != '\0') break;
    value /= 1000;
    unit = next;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::string SecondsText(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string ProgressLine(const ml::StepReport& report, FirstEpsilon first) {
  auto line = fmt::format("step {}/{}, epsilon {}, {} sent, {} rounds, {}", report.step, report.steps,
                          EpsilonsText(report.epsilon_outsider, report.epsilon_insider, first),
                          BytesText(report.bytes_sent), report.rounds, SecondsText(report.seconds));
  if (report.step > 0) {
    const double left = report.seconds / report.step * (report.steps - report.step);
    line += fmt::format(", {} left", SecondsText(left));
  }
  return line;
}

void ProgressDisplay::Say(const std::string& line) {
  Finish();
  Put(OneLine(line) + "\n");
}

void ProgressDisplay::Show(const ml::StepReport& report) {
  const auto now = std::chrono::steady_clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
  const bool last = report.step == report.steps;
  if (shown_ && !last && now - last_ < pause) return;
  shown_ = true;
  last_ = now;
  if (terminal_) {
    Put("\r\033[K" + ProgressLine(report, first_));
    line_open_ = true;
  } else {
    Put(ProgressLine(report, first_) + "\n");
  }
}

void ProgressDisplay::Finish() {
  if (line_open_) Put("\n");
  line_open_ = false;
}

/// A run is not for being watched: it goes on, and succeeds, where nobody is there to read this.
void ProgressDisplay::Put(const std::string& text) {
  out_ << text << std::flush;
  out_.clear();
}

bool StdoutIsTerminal() { return isatty(STDOUT_FILENO) == 1; }

}  // namespace trefoil::apps
