#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <memory>
#include <string>

#include "apps/cli/command.h"
#include "base/error_report.h"
#include "jobs/job.h"

namespace trefoil::apps {

void AddSchema(CLI::App& program, Action& action) {
  auto type = std::make_shared<std::string>();
  auto* command = program.add_subcommand("schema", "Print a JSON Schema of a file's keys, for editors");
  command->require_subcommand(1);
  auto* job = command->add_subcommand("job", "Of a job file");
  job->add_option("TYPE", *type, "The job's type; without one the types are listed");
  job->callback([type, &action] {
    action = [type] {
      std::cout << (type->empty() ? fmt::format("{}", fmt::join(jobs::RegisteredTypes(), "\n"))
                                  : jobs::JobSchema(*type))
                << '\n';
      return kDone;
    };
  });
  command->add_subcommand("party", "Of a party file")->callback([&action] {
    action = [] {
      std::cout << jobs::PartySchema() << '\n';
      return kDone;
    };
  });
}

}  // namespace trefoil::apps
