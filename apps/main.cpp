#include <csignal>
#include <cstdlib>
#include <exception>

#include "apps/command_line.h"
#include "apps/error_report.h"
#include "apps/stop_signals.h"
#include "base/allocator.h"
#include "base/secure_memory.h"

namespace {

/// An error that no thread catches, such as a lack of memory in the one that reads the links, ends the
/// process with one line as well.
void EndOnUncaughtError() {
  try {
    if (const auto error = std::current_exception()) std::rethrow_exception(error);
    trefoil::apps::ReportError("ended without an error");
  } catch (const std::exception& error) {
    trefoil::apps::ReportError(trefoil::apps::CauseOf(error));
  } catch (...) {
    trefoil::apps::ReportError("unknown error");
  }
  std::_Exit(trefoil::apps::kOther);
}

}  // namespace

int main(int argc, char** argv) {
  trefoil::DisableCoreDumps();
  std::set_terminate(&EndOnUncaughtError);
  trefoil::KeepFreedMemory();
  // Whoever reads the output may go away: a party goes on all the same.
  std::signal(SIGPIPE, SIG_IGN);
  // A write beyond the limit on files' sizes is an error like that of a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  trefoil::apps::EndOnStopSignals();
  return trefoil::apps::RunCommandLine(argc, argv);
}
