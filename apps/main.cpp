#include <csignal>
#include <cstdlib>
#include <exception>

#include "apps/cli/command_line.h"
#include "base/allocator.h"
#include "base/error_report.h"
#include "base/secrets/secure_memory.h"
#include "runtime/stop_signals.h"

namespace {

/// An error that no thread catches, such as a lack of memory in the one that reads the links, ends the
/// process with one line as well.
void EndOnUncaughtError() {
  try {
    if (const auto error = std::current_exception()) std::rethrow_exception(error);
    trefoil::ReportError("ended without an error");
  } catch (const std::exception& error) {
    trefoil::ReportError(trefoil::CauseOf(error));
  } catch (...) {
    trefoil::ReportError("unknown error");
  }
  std::_Exit(trefoil::kOther);
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
  trefoil::runtime::EndOnStopSignals();
  return trefoil::apps::RunCommandLine(argc, argv);
}
