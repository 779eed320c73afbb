#pragma once
#include <functional>

#include "net/mesh.h"

namespace trefoil::apps {

/// From now on the first SIGINT, SIGTERM or SIGHUP is noted, and a second one ends the process at once. A
/// SIGHUP that is ignored, as nohup has it, stays so.
void NoteStopSignals();

/// The signal that was noted, or 0.
[[nodiscard]] int StopSignal();

/// Runs `body`, which computes over `mesh` in no steps of its own: a signal that is noted tells both peers at
/// once, which ends it. Throws StoppedError then, else what `body` throws. Pre: NoteStopSignals.
void RunUntilStopped(net::MeshTransport& mesh, const std::function<void()>& body);

}  // namespace trefoil::apps
