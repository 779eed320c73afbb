#pragma once
#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "jobs/statement/bound_text.h"
#include "ml/dpsgd/training.h"

namespace trefoil::runtime {

/// The steps that are not done, at the pace of those that are; nothing before the first.
[[nodiscard]] std::optional<double> SecondsLeft(const ml::StepReport& report);

/// "step 17/439, epsilon 0.51 outsider 0.63 insider, 12.3 MB sent, 204 rounds, 1.9 s, 47 s left".
[[nodiscard]] std::string ProgressLine(const ml::StepReport& report,
                                       jobs::FirstEpsilon first = jobs::FirstEpsilon::kOutsider);

/// "clip: 57.3 more gradients within it than beyond by the noisy count of step 17; 0.412 from the next step
/// on".
[[nodiscard]] std::string ClipLine(int step, const ml::ClipReport& clip);

/// Shows progress: one line that overwrites itself on a terminal; elsewhere a plain line at the first and
/// last step and about every five seconds between. That it cannot be written is no error.
class ProgressDisplay {
 public:
  ProgressDisplay(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  /// Which epsilon the lines of steps have first; the outsider's unless this says otherwise.
  void SayFirst(jobs::FirstEpsilon first) { first_ = first; }
  /// A line about something else than a step.
  void Say(const std::string& line);
  void Show(const ml::StepReport& report);
  /// The same of something else; `last`: the line that is shown in any case.
  void ShowLine(const std::string& line, bool last);
  /// Leaves the self-overwriting line, so that what follows starts on a line of its own. Call once at the
  /// end.
  void Finish();

 private:
  void Put(const std::string& text);

  std::ostream& out_;
  bool terminal_;
  bool line_open_ = false;
  bool shown_ = false;
  jobs::FirstEpsilon first_ = jobs::FirstEpsilon::kOutsider;
  std::chrono::steady_clock::time_point last_{};
};

/// Whether standard output is a terminal.
[[nodiscard]] bool StdoutIsTerminal();

}  // namespace trefoil::runtime
