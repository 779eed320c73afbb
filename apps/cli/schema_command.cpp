#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "base/error_report.h"
#include "deposit/study.h"
#include "jobs/job.h"

namespace trefoil::apps {

void AddSchema(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto type = std::make_shared<std::string>();
  auto* command = program.add_subcommand("schema", "Print a JSON Schema of a file's keys, for editors");
  command->require_subcommand(1);
  auto* job = command->add_subcommand("job", "Of a job file");
  job->add_option("TYPE", *type, "The job's type; without one the types are listed");
  job->callback([type, &action, types] {
    action = [type, types] {
      std::cout << (type->empty() ? fmt::format("{}", fmt::join(jobs::NamesOf(types), "\n"))
                                  : jobs::JobSchema(*type, types))
                << '\n';
      return kDone;
    };
  });
  command->add_subcommand("party", "Of a party file")->callback([&action, types] {
    action = [types] {
      std::cout << jobs::PartySchema(types) << '\n';
      return kDone;
    };
  });
  command->add_subcommand("study", "Of a study, for owners who run no party")->callback([&action] {
    action = [] {
      std::cout << deposit::StudySchema() << '\n';
      return kDone;
    };
  });
}

}  // namespace trefoil::apps
