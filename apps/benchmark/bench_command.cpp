#include "apps/benchmark/bench_command.h"

#include <memory>

#include "apps/benchmark/bench_run.h"

namespace trefoil::apps {

void AddBench(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<BenchOptions>();
  options->types = types;
  auto* command = program.add_subcommand("bench",
                                         "Measure the protocols: rounds, bytes and seconds, between three "
                                         "processes on this machine or between hosts");
  command->add_option(
      "--config", options->config,
      "This party's party file: measure over the network with both peers, who call the same command");
  command->add_option("--ops", options->operations, "Operations, as a,b; the default is all")->delimiter(',');
  command->add_option("--form", options->form, "latency, bulk or auto (the default)")
      ->check(CLI::IsMember({"latency", "bulk", "auto"}));
  command
      ->add_option("--sizes", options->sizes, "Numbers of elements for element-wise operations, as 1,32,1024")
      ->delimiter(',');
  command->add_option("--shape", options->shapes, "Shapes for products and steps, as 128x784x10")
      ->delimiter(',');
  command
      ->add_option("--sustained", options->sustained,
                   "Also time this many runs in a row, with all offline work done beside them")
      ->check(CLI::Range(0, 100'000));
  command->add_option("--reps", options->reps, "Repetitions; medians are taken over them")
      ->check(CLI::Range(1, 100000));
  command
      ->add_option("--threads", options->threads,
                   "Threads of each party; the default is all cores, on one machine a third")
      ->check(CLI::Range(1, 1024));
  command->add_option("--json", options->json, "Write the results to this file");
  command->callback([options, &action] { action = [options] { return RunBench(*options); }; });
}

}  // namespace trefoil::apps
