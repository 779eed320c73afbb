#include <memory>

#include "apps/cli/command.h"
#include "base/error.h"
#include "base/files/open_files.h"
#include "deposit/on_shares/store_records.h"
#include "runtime/run_job.h"

namespace trefoil::apps {

void AddRun(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<runtime::RunOptions>();
  options->types = types;
  auto* command = program.add_subcommand("run", "Take part in a job as one of the three parties");
  command->add_option("--config", options->config, "This party's party file")->required();
  command->add_option("--job", options->job, "The job file, of any type, the same at all three parties")
      ->required();
  command->add_option("--out", options->out, "Run directory; the default is runs/NAME-UTC");
  command->add_option("--threads", options->threads, "Threads to compute with; the default is all cores")
      ->check(CLI::Range(1, 1024));
  command->add_option(
      "--metrics", options->metrics,
      "HOST:PORT where the run is watched, in place of [metrics] in the party file: a page for a "
      "browser, and /metrics for programs");
  command->add_flag("--resume", options->resume,
                    "Go on with the run in --out from the last checkpoint that all three hold; all three are "
                    "started so. Without a run there, one begins");
  command->add_flag(
      "--again", options->again,
      "With --resume, at all three parties: once more from a checkpoint that was resumed from before, "
      "although more than training.lost_steps_max steps have been lost; they are charged");
  command->callback([options, &action] {
    action = [options] {
      if (options->again && !options->resume)
        throw ConfigError("--again: found without --resume, which it belongs to");
      RequireOpenFiles(kOpenFilesOfParty);
      options->with_ranks = true;
      options->open_store = deposit::OpenStoreRecords;
      return runtime::RunJob(*options);
    };
  });
}

}  // namespace trefoil::apps
