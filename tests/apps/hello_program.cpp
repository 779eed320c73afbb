// The program `trefoil` with one type of job more (examples/hello_job), for hello_job_test.py.
#include <vector>

#include "apps/cli/command_line.h"
#include "examples/hello_job/hello_job.h"
#include "runtime/stop_signals.h"

int main(int argc, char** argv) {
  const auto shipped = trefoil::jobs::ShippedTypes();
  std::vector<trefoil::jobs::JobType> types(shipped.begin(), shipped.end());
  types.push_back(hello::kHelloMean);
  trefoil::runtime::EndOnStopSignals();
  return trefoil::apps::RunCommandLine(argc, argv, types);
}
