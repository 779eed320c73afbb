#include <memory>

#include "apps/cli/command.h"
#include "apps/privacy_audit/privacy_audit.h"

namespace trefoil::apps {

void AddAudit(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<AuditOptions>();
  options->types = types;
  auto* command = program.add_subcommand(
      "audit", "Lower bound on epsilon from one run with canaries, and membership inference");
  command->add_option("--job", options->job, "The job file")->required();
  command->add_option("--data", options->data,
                      "Folder of the data; else $TREFOIL_DATA/NAME or ../shared/data/NAME");
  command
      ->add_option("--set", options->assignments,
                   "Change a key of the job, as --set training.steps=10; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--canaries", options->canaries, "Records that are included by a fair coin each; 1000")
      ->check(CLI::Range(4, 10000));
  command->add_option("--confidence", options->confidence, "Of the bound and of the intervals; 0.997")
      ->check(CLI::Range(0.5, 0.999999));
  command
      ->add_option(
          "--claim", options->claim,
          "Epsilon to compare the bound with; the default is what the run's record gives an outsider")
      ->check(CLI::Range(0.0, 1000.0));
  command->add_option("--out", options->out, "Run directory; the default is runs/NAME-audit-UTC");
  command
      ->add_option("--threads", options->threads,
                   "Threads of each party; the default is a third of the cores")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", options->json, "Print JSON, and no progress");
  command->footer(program.get_footer() +
                  "\nExit code 5 of an audit: the bound exceeds the claim, which is refuted.");
  command->callback([options, &action] { action = [options] { return RunAudit(*options); }; });
}

}  // namespace trefoil::apps
