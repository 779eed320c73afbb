#include "apps/command_line.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>

#include "apps/bench_command.h"
#include "apps/command.h"
#include "apps/error_report.h"
#include "apps/suggestion.h"

namespace trefoil::apps {
namespace {

constexpr const char* kVersion = "trefoil 0.1.0";

/// Commands of the design that come later.
constexpr std::array<std::string_view, 1> kPlanned = {"schema"};

/// Text for what CLI11 says in several lines, or says less plainly.
std::string Explain(const CLI::App& program, int argc, const char* const* argv,
                    const CLI::ParseError& error) {
  std::vector<std::string> commands;
  for (const auto* command : program.get_subcommands({})) commands.push_back(command->get_name());
  const std::string first = argc > 1 ? argv[1] : "";
  if (first.empty()) return "no command given; `trefoil --help` lists them";
  if (std::find(kPlanned.begin(), kPlanned.end(), first) != kPlanned.end()) {
    return first + ": not available in this version";
  }
  const bool is_command = std::find(commands.begin(), commands.end(), first) != commands.end();
  if (!is_command && !first.starts_with("-")) {
    return "unknown command " + first + DidYouMean(first, commands) +
           (commands.empty() ? "" : "; `trefoil --help` lists them");
  }
  return (is_command ? first + ": " : "") + error.what();
}

}  // namespace

int RunCommandLine(int argc, const char* const* argv) {
  CLI::App program("Trains one model on the data of three organisations, showing that data to nobody.",
                   "trefoil");
  program.set_version_flag("--version", kVersion);
  program.require_subcommand(1);
  Action action;
  AddInit(program, action);
  AddTrust(program, action);
  AddCheck(program, action);
  AddRun(program, action);
  AddLocal(program, action);
  AddPlan(program, action);
  AddAccount(program, action);
  AddAudit(program, action);
  AddEvaluate(program, action);
  AddPredict(program, action);
  AddExport(program, action);
  AddReport(program, action);
  AddFeatures(program, action);
  AddLedger(program, action);
  AddBench(program, action);
  try {
    program.parse(argc, argv);
    return action();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);
    ReportError(Explain(program, argc, argv, error));
    return kConfiguration;
  } catch (const std::exception& error) {
    ReportError(CauseOf(error));
    return ExitCodeOf(error);
  }
}

}  // namespace trefoil::apps
