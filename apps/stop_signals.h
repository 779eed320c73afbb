#pragma once

namespace trefoil::apps {

/// From now on the first SIGINT, SIGTERM or SIGHUP is noted, and a second one ends the process at once. A
/// SIGHUP that is ignored, as nohup has it, stays so.
void NoteStopSignals();

/// The signal that was noted, or 0.
[[nodiscard]] int StopSignal();

}  // namespace trefoil::apps
