#pragma once
#include "apps/cli/command.h"

namespace trefoil::apps {

/// Adds the command `bench`, which measures the protocols, to the program's command line.
void AddBench(CLI::App& program, Action& action, jobs::JobTypes types);

}  // namespace trefoil::apps
