#include "trefoil/run.h"

#include <csignal>

#include "base/error.h"
#include "base/error_report.h"
#include "base/files/open_files.h"
#include "base/passing_error.h"
#include "base/secrets/secure_memory.h"
#include "runtime/run_job.h"

namespace trefoil {
namespace {

/// As the program `trefoil` does: a write that fails is an error, or is ignored; it does not end the process.
/// A handler of the calling program's stays.
void IgnoreUnlessHandled(int signal) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL)
    (void)std::signal(signal, SIG_IGN);
}

}  // namespace

int RunParty(const std::filesystem::path& party_file, const std::filesystem::path& job_file,
             const RunOptions& options) {
  DisableCoreDumps();
  IgnoreUnlessHandled(SIGPIPE);
  IgnoreUnlessHandled(SIGXFSZ);
  Require(options.resume || !options.again, "RunParty: again with resume alone");
  RequireOpenFiles(kOpenFilesOfParty);
  try {
    return runtime::RunJob({.config = party_file.string(),
                            .job = job_file.string(),
                            .out = options.out.string(),
                            .threads = options.threads,
                            .resume = options.resume,
                            .again = options.again,
                            .inputs = options.inputs,
                            .program = options.program});
  } catch (const PassingError& error) {  // which a caller would take for any other ConfigError
    ReportError(error.what());
    return ExitCodeOf(error);
  }
}

}  // namespace trefoil
