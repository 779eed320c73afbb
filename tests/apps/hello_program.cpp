// The program `trefoil` with one type of job more (examples/hello_job), for hello_job_test.py.
#include <vector>

#include "apps/cli/command_line.h"
#include "examples/hello_job/hello_job.h"
#include "runtime/stop_signals.h"

int main(int argc, char** argv) {
  using namespace trefoil;
  const auto shipped = jobs::ShippedTypes();
  std::vector<jobs::JobType> types(shipped.begin(), shipped.end());
  types.push_back(hello::kHelloMean);
  // What the example has no use for, but a type may have: a table of the party file, and models whose logits
  // are no log-odds.
  types.back().inputs = [](jobs::FieldVisitor& v, jobs::InputPaths& inputs) {
    v.Table("hello", "Of the type beyond the shipped ones.",
            [&] { jobs::PathField(v, "note", inputs["hello.note"], "A path."); });
  };
  types.back().logits = jobs::LogitMeaning::kShare;
  runtime::EndOnStopSignals();
  return apps::RunCommandLine(argc, argv, types);
}
