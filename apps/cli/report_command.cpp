#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

#include "apps/cli/command.h"
#include "apps/report/run_report.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/files/output_file.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::string folder;
  std::string out;
  jobs::JobTypes types;
};

/// All files of a run, but for pages of other reports.
std::vector<fs::path> FilesOfRun(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".html") files.push_back(entry.path());
  }
  return files;
}

int RunReportCommand(const ReportOptions& options) {
  const auto page = ReportPage(ReadRunReport(options.folder, options.types));
  const auto file = options.out.empty() ? fs::path(options.folder) / "report.html" : fs::path(options.out);
  if (fs::is_directory(file))
    throw ConfigError("--out: " + file.string() + ": found a folder, expected a file to write");
  CheckOutputFile("--out", file, FilesOfRun(options.folder));
  WriteTextFile(file, page);
  std::cout << fmt::format("report {}\n", file.string());
  return kDone;
}

}  // namespace

void AddReport(CLI::App& program, Action& action, jobs::JobTypes types) {
  auto options = std::make_shared<ReportOptions>();
  options->types = types;
  auto* command = program.add_subcommand("report", "A finished run as one HTML page");
  command->add_option("RUN_DIR", options->folder, "Run directory of local, audit or run")->required();
  command->add_option("--out", options->out, "File to write; the default is RUN_DIR/report.html");
  command->callback([options, &action] { action = [options] { return RunReportCommand(*options); }; });
}

}  // namespace trefoil::apps
