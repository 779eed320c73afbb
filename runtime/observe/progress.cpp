#include "runtime/observe/progress.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cmath>
#include <ostream>

#include "base/error_report.h"
#include "jobs/statement/amount_text.h"
#include "jobs/statement/bound_text.h"

namespace trefoil::runtime {

std::optional<double> SecondsLeft(const ml::StepReport& report) {
  if (report.step <= 0) return {};
  return report.seconds / report.step * (report.steps - report.step);
}

std::string ProgressLine(const ml::StepReport& report, jobs::FirstEpsilon first) {
  auto line =
      fmt::format("step {}/{}, epsilon {}, {} sent, {} rounds, {}", report.step, report.steps,
                  jobs::EpsilonsText(report.epsilon_outsider, report.epsilon_insider, first),
                  jobs::BytesText(report.bytes_sent), report.rounds, jobs::SecondsText(report.seconds));
  if (const auto left = SecondsLeft(report)) line += fmt::format(", {} left", jobs::SecondsText(*left));
  return line;
}

std::string ClipLine(int step, const ml::ClipReport& clip) {
  return fmt::format(
      "clip: {:.1f} {} gradients within it than beyond by the noisy count of step {}; {:.3g} from the next "
      "step on",
      std::abs(clip.within), clip.within < 0 ? "fewer" : "more", step, clip.next);
}

void ProgressDisplay::Say(const std::string& line) {
  Finish();
  Put(OneLine(line) + "\n");
}

void ProgressDisplay::Show(const ml::StepReport& report) {
  ShowLine(ProgressLine(report, first_), report.step == report.steps);
}

void ProgressDisplay::ShowLine(const std::string& line, bool last) {
  const auto now = std::chrono::steady_clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
  if (shown_ && !last && now - last_ < pause) return;
  shown_ = true;
  last_ = now;
  if (terminal_) {
    Put("\r\033[K" + line);
    line_open_ = true;
  } else {
    Put(line + "\n");
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

}  // namespace trefoil::runtime
