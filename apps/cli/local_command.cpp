#include <memory>

#include "apps/cli/command.h"
#include "apps/local/local_run.h"
#include "base/error.h"

namespace trefoil::apps {
namespace {

int RunLocalCommand(const LocalOptions& options, bool hosts_given) {
  if (hosts_given && !options.prepare)
    throw ConfigError("--hosts: found without --prepare, which it belongs to");
  if (options.watch && options.prepare)
    throw ConfigError("--watch: found with --prepare, expected without: nothing runs that could be watched");
  if (options.again && !options.resume)
    throw ConfigError("--again: found without --resume, which it belongs to");
  if (options.job.empty() && !options.resume) throw ConfigError("--job is required");
  return RunLocal(options);
}

}  // namespace

void AddLocal(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<LocalOptions>();
  options->types = types;
  auto* command = program.add_subcommand("local", "Try a job with three parties on this machine");
  command->add_option("--job", options->job, "The job file, of any type. With --resume it may be left out");
  command->add_option(
      "--data", options->data,
      "Folder of the data; the default is $TREFOIL_DATA/NAME, or ../shared/data/NAME. Of a prediction: "
      "the file of rows");
  command->add_option(
      "--model", options->model,
      "Of a prediction: run directory of a local training whose model was released to nobody");
  command->add_option("--feature-model", options->feature_model,
                      "The ONNX model for all parties, where features.method is onnx");
  command->add_option("--out", options->out, "Run directory; the default is runs/NAME-UTC");
  command
      ->add_option("--set", options->assignments,
                   "Change a key of the job, as --set privacy.epsilon=1.0; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--resume", options->resume,
                    "Go on with the run in --out from its parties' last checkpoint");
  command->add_flag("--again", options->again,
                    "With --resume: also where many steps have been lost, as in `run`");
  command->add_flag("--prepare", options->prepare, "Write the three party folders only");
  command->add_flag(
      "--watch", options->watch,
      "Serve a page to watch each party by, print where, and open party 0's where there is a display");
  auto* hosts =
      command->add_option("--hosts", options->hosts, "With --prepare: the parties' hosts, as a,b,c");
  command
      ->add_option("--base-port", options->base_port,
                   "TCP port of party 0; the default is a free one, or 7700 with --prepare")
      ->check(CLI::Range(1, 65533));
  command
      ->add_option("--threads", options->threads,
                   "Threads of each party; the default is a third of the cores")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--ranks", options->ranks,
                   "Processes of each party, started by mpirun: tries a party of many machines on this one")
      ->check(CLI::Range(1, 64));
  auto* ledger = command->add_option("--ledger", options->ledger,
                                     "Folder of the parties' ledgers; without it, local keeps none");
  command
      ->add_option("--epsilon-cap", options->epsilon_cap,
                   "With --ledger: the most that all jobs together may cost an insider, at the job's delta")
      ->check(CLI::PositiveNumber)
      ->needs(ledger);
  ledger->needs("--epsilon-cap");
  command->callback([options, hosts, &action] {
    action = [options, given = hosts->count() > 0] { return RunLocalCommand(*options, given); };
  });
}

}  // namespace trefoil::apps
