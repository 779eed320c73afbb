#include "jobs/dpsgd/split_data.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "data/dataset/folders.h"
#include "data/demo/digits.h"
#include "jobs/dpsgd/held_out_files.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGeneratedDigits = "digits";
constexpr std::uint64_t kDigitsSeed = 1;
constexpr std::size_t kTestDigits = 2000;
constexpr std::size_t kValidationDigits = 1000;

/// Copies `files` to the folder `name` of a party's, and returns where they are, seen from there.
data::DataFiles MoveTo(const fs::path& party, const std::optional<data::DataFiles>& files, const char* name,
                       const fs::path& source) {
  if (!files)
    throw DataError(
        fmt::format("{}: found no {} files, expected those that the job wants", source.string(), name));
  data::CopyTestFiles(*files, party / name);
  const auto moved = [&](const fs::path& file) { return file.empty() ? fs::path() : name / file.filename(); };
  data::DataFiles all{.x = moved(files->x), .y = moved(files->y), .file = moved(files->file)};
  for (const auto& file : files->more) all.more.push_back(moved(file));
  return all;
}

}  // namespace

fs::path FindDataFolder(const DpsgdSettings& job, const fs::path& job_file, const fs::path& given,
                        const fs::path& run_folder) {
  const auto places = DataPlaces(job.data.name, job_file);
  const bool found =
      std::any_of(places.begin(), places.end(), [](const auto& one) { return fs::is_directory(one); });
  if (!given.empty() || found || job.data.name != kGeneratedDigits)
    return FindDataFolder(job.data.name, job_file, given);
  const auto total = std::accumulate(job.data.rows.begin(), job.data.rows.end(), std::int64_t{0});
  auto folder = run_folder / "digits";
  data::WriteDigits(folder, kDigitsSeed, static_cast<std::size_t>(total), kTestDigits,
                    job.selects(ml::Selection::kPublicValidation) ? kValidationDigits : 0);
  return folder;
}

data::SplitReport DealData(const DpsgdSettings& job, const fs::path& source,
                           const std::array<fs::path, 3>& parties, const fs::path& test) {
  const auto report =
      data::SplitSource(job.data, data::FindTrainingFiles(job.data, source), SplitOf(job.local), parties);
  if (const auto files = data::FindTestFiles(job.data, source)) data::CopyTestFiles(*files, test);
  return report;
}

HeldOutFiles DealHeldOut(const DpsgdSettings& job, const fs::path& source,
                         const std::array<fs::path, 3>& parties) {
  HeldOutFiles dealt;
  if (job.evaluation) {
    dealt.test = MoveTo(parties[static_cast<std::size_t>(job.evaluation->test.holder)],
                        data::FindTestFiles(job.data, source), "test", source);
  }
  if (job.selects(ml::Selection::kPublicValidation)) {
    dealt.validation = MoveTo(parties[static_cast<std::size_t>(job.initialisation->validation.holder)],
                              data::FindValidationFiles(job.data, source), "validation", source);
  }
  return dealt;
}

std::string SplitRecords(const DpsgdSettings& job, const DpsgdSettings& form, const SplitTarget& target) {
  const auto source = FindDataFolder(job, target.job_file, target.data, target.run_folder);
  const auto report = DealData(form, source, target.party_folders, target.test);
  const auto held_out = DealHeldOut(job, source, target.party_folders);
  if (source.parent_path() == target.run_folder)
    fs::remove_all(source);  // generated; the parties have it all
  for (int id = 0; id < net::kParties; ++id) {
    auto& party = target.parties.at(static_cast<std::size_t>(id));
    party.data = data::PartyFiles(job.data.format, "");
    if (HoldsTest(job, id)) party.evaluation = held_out.test;
    if (HoldsValidation(job, id)) party.validation = held_out.validation;
  }
  return fmt::format(
      "dealing {} to three parties: rows {}, {}, {}{}", source.lexically_normal().string(), report.rows[0],
      report.rows[1], report.rows[2],
      report.left_out == 0 ? "" : fmt::format("; {} beyond data.rows left out", report.left_out));
}

}  // namespace trefoil::jobs
