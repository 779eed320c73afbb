#include "apps/bench_command.h"

namespace trefoil::apps {

void AddBench(CLI::App& /*program*/, Action& /*action*/) {}

}  // namespace trefoil::apps
