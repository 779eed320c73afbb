// The votes of a `pate` job's trained teachers in the clear, for figures that no job opens: how far the
// counts are apart, and epsilons that depend on them (`trefoil account --votes`). Prints CSV without a head:
// a line a query, a column a class. A simulation: nothing that it prints is private.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/error_report.h"
#include "base/threads/thread_pool.h"
#include "jobs/config/toml/toml_reader.h"
#include "jobs/job.h"
#include "jobs/pate/pate_data.h"
#include "jobs/pate/settings.h"
#include "ml/clear/teachers.h"

#include <CLI/CLI.hpp>

namespace trefoil {
namespace {

void Run(const std::filesystem::path& prepared) {
  const auto file = prepared / "job.toml";
  const jobs::PateSettings job = jobs::ReadPateSettings(jobs::ReadToml(file), file.string());
  if (!job.teacher) throw ConfigError(file.string() + ": missing [teacher], expected teachers to train");
  const auto queries = static_cast<std::size_t>(job.queries);
  std::vector<std::vector<int>> counts(queries, std::vector<int>(static_cast<std::size_t>(job.classes)));
  ThreadPool pool(ThreadsFor(0));
  for (int party = 0; party < 3; ++party) {
    const auto party_file = prepared / ("party-" + std::to_string(party)) / "party.toml";
    const jobs::PartyFile own = jobs::ReadParty(party_file);
    const auto rows = jobs::LoadPublicRecords(job, own);
    const auto slices = jobs::LoadSlices(job, own, party_file.string());
    for (const auto& labels :
         ml::LabelByTeachers(slices, rows.topRows(job.queries), job.classes, *job.teacher, pool)) {
      for (std::size_t query = 0; query < queries; ++query)
        ++counts[query][static_cast<std::size_t>(labels[query])];
    }
  }
  for (const auto& of_query : counts) {
    for (std::size_t k = 0; k < of_query.size(); ++k) std::printf("%s%d", k == 0 ? "" : ",", of_query[k]);
    std::printf("\n");
  }
}

}  // namespace
}  // namespace trefoil

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): what escapes ends it, as it should
  std::string prepared;
  CLI::App program("Votes of trained teachers in the clear: a simulation, for experiments");
  program.add_option("DIR", prepared, "What trefoil local --prepare has written for a pate job")->required();
  CLI11_PARSE(program, argc, argv);
  try {
    trefoil::Run(prepared);
    return trefoil::kDone;
  } catch (const std::exception& error) {
    trefoil::ReportError(error.what());
    return trefoil::ExitCodeOf(error);
  }
}
