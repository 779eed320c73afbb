#include "apps/cli/command_line.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/benchmark/bench_command.h"
#include "apps/cli/command.h"
#include "base/error_report.h"
#include "include/trefoil/version.h"
#include "jobs/config/suggestion.h"

namespace trefoil::apps {
namespace {

using Names = std::vector<std::string>;

Names CommandsOf(const CLI::App& command) {
  Names names;
  for (const auto* one : command.get_subcommands({})) names.push_back(one->get_name());
  return names;
}

Names OptionsOf(const CLI::App& command) {
  Names names;
  for (const auto* one : command.get_options()) {
    for (const auto& name : one->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool Holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Text for what CLI11 says in several lines, or says less plainly. `words`: what follows the command's name.
std::string ExplainUse(const CLI::App& command, std::span<const char* const> words,
                       const CLI::ParseError& error) {
  const auto commands = CommandsOf(command);
  const auto options = OptionsOf(command);
  const std::string first = words.empty() ? "" : words.front();
  if (Holds(commands, first))
    return first + ": " + ExplainUse(*command.get_subcommand(first), words.subspan(1), error);
  for (const std::string word : words) {
    const auto name = word.substr(0, word.find('='));
    if (name.starts_with("--") && !Holds(options, name))
      return "unknown option " + name + jobs::DidYouMean(name, options);
  }
  if (commands.empty()) return error.what();
  if (first.empty()) return fmt::format("no command given, expected {}", fmt::join(commands, ", "));
  return fmt::format("unknown command {}{}", first, jobs::DidYouMean(first, commands));
}

std::string Explain(const CLI::App& program, std::span<const char* const> words,
                    const CLI::ParseError& error) {
  if (words.empty()) return "no command given; `trefoil --help` lists them";
  return ExplainUse(program, words, error);
}

/// Does what the command line asks for; of --help and --version that is what CLI11 throws.
int Execute(CLI::App& program, const Action& action, int argc, const char* const* argv) {
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return program.exit(request);
  }
  return action();
}

/// What a command prints may be all that it is for: a disk that is full is no success.
int RequirePrinted(int code) {
  if (code == kDone && !std::cout.flush()) throw std::runtime_error("standard output: cannot be written");
  return code;
}

}  // namespace

int RunCommandLine(int argc, const char* const* argv, jobs::JobTypes types) {
  CLI::App program("Trains one model on the data of three organisations, showing that data to nobody.",
                   "trefoil");
  program.set_version_flag("--version", std::string("trefoil ") + Version());
  program.require_subcommand(1);
  program.footer(
      "Exit codes: 0 done, 2 usage or configuration, 3 peer or network, 4 data, 5 privacy budget, 6 a "
      "condition of this machine that may pass (port taken, clock behind), 143 stopped by SIGTERM (128 + the "
      "signal's number), 1 anything else.");
  Action action;
  AddInit(program, action);
  AddInitJob(program, action, types);
  AddTrust(program, action, types);
  AddDepositKey(program, action);
  AddTrustOwner(program, action, types);
  AddOwner(program, action);
  AddStudy(program, action, types);
  AddDeposit(program, action);
  AddWithdraw(program, action);
  AddAccept(program, action, types);
  AddInbox(program, action, types);
  AddStore(program, action, types);
  AddCheck(program, action, types);
  AddRun(program, action, types);
  AddLocal(program, action, types);
  AddPlan(program, action, types);
  AddAccount(program, action);
  AddAudit(program, action, types);
  AddEvaluate(program, action, types);
  AddPredict(program, action, types);
  AddExport(program, action, types);
  AddReport(program, action, types);
  AddFeatures(program, action, types);
  AddSchema(program, action, types);
  AddLedger(program, action, types);
  AddBench(program, action, types);
  try {
    return RequirePrinted(Execute(program, action, argc, argv));
  } catch (const CLI::ParseError& error) {
    ReportError(Explain(program, std::span(argv, static_cast<std::size_t>(argc)).subspan(1), error));
    return kConfiguration;
  } catch (const std::exception& error) {
    ReportError(CauseOf(error));
    return ExitCodeOf(error);
  }
}

}  // namespace trefoil::apps
