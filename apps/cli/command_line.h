#pragma once
#include "jobs/job.h"

namespace trefoil::apps {

/// The program, which knows these types of jobs: reads the command line, runs the command, and returns the
/// exit code (0 done, 2 usage or configuration, 3 peer or network, 4 data, 5 privacy budget, 6 a condition
/// that may pass, 128 + the number of the signal that stopped it, 1 anything else). An error is one line on
/// stderr, "trefoil: CAUSE".
int RunCommandLine(int argc, const char* const* argv, jobs::JobTypes types = jobs::ShippedTypes());

}  // namespace trefoil::apps
