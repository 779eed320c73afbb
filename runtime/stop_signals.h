#pragma once

namespace trefoil::runtime {

/// For the first process of a container (id 1), to which the kernel brings no signal that has its default
/// action: from now on SIGINT, SIGTERM and SIGHUP end it at once, as they end any other. Does nothing in
/// another process.
void EndOnStopSignals();

/// From now on the first SIGINT, SIGTERM or SIGHUP is noted, and a second one, of whichever of them, ends the
/// process at once. A SIGHUP that is ignored, as nohup has it, stays so.
void NoteStopSignals();

/// The signal that was noted, or 0.
[[nodiscard]] int StopSignal();

/// Ends the process by the signal's default action; the first process of a container, which that does not
/// end, with 128 + the signal. May be called in a signal's handler. Pre: a signal that ends a process by
/// default.
[[noreturn]] void EndBySignal(int signal);

}  // namespace trefoil::runtime
