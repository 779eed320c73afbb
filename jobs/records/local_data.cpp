#include "jobs/records/local_data.h"

#include <spdlog/fmt/fmt.h>

#include <cstdlib>

#include "base/error.h"
#include "data/formats/csv.h"
#include "jobs/job.h"

namespace trefoil::jobs {

namespace fs = std::filesystem;

std::vector<fs::path> DataPlaces(const std::string& name, const fs::path& job_file) {
  std::vector<fs::path> places;
  if (const char* root = std::getenv("TREFOIL_DATA"); root != nullptr && *root != '\0') {
    places.push_back(fs::path(root) / name);
  }
  const auto shared = fs::path("../shared/data") / name;
  places.push_back(shared);
  places.push_back((fs::absolute(job_file).parent_path() / ".." / shared).lexically_normal());
  return places;
}

fs::path FindDataFolder(const std::string& name, const fs::path& job_file, const fs::path& given) {
  if (!given.empty()) {
    if (!fs::is_directory(given)) throw DataError(given.string() + ": not a folder, expected the job's data");
    return given;
  }
  std::string looked;
  for (const auto& place : DataPlaces(name, job_file)) {
    if (fs::is_directory(place)) return place;
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  throw DataError(fmt::format("data \"{}\": not found in {}; name its folder with --data", name, looked));
}

data::Split SplitOf(const LocalSpec& local) {
  if (local.fractions) return {.kind = data::SplitKind::kFractions, .fractions = *local.fractions};
  return {.kind = local.sorted ? data::SplitKind::kSorted : data::SplitKind::kEven};
}

std::string SplitTable(const data::DataSpec& spec, const LocalSpec& local, const SplitTarget& target,
                       const std::function<std::vector<int>(const data::DataFiles& source)>& labels_of) {
  const auto source = data::FindTrainingFiles(spec, FindDataFolder(spec.name, target.job_file, target.data));
  const auto party_of_row = data::AssignRows(SplitOf(local), labels_of(source), spec.rows);
  std::array<fs::path, 3> targets;
  for (std::size_t j = 0; j < targets.size(); ++j) {
    fs::create_directories(target.party_folders.at(j) / "data");
    target.parties.at(j).data = data::PartyFiles(data::Format::kCsv, "");
    targets.at(j) = target.party_folders.at(j) / target.parties.at(j).data.file;
  }
  data::SplitCsv(source, spec.header, party_of_row, targets, spec.dialect);
  std::array<std::int64_t, 4> rows{};
  for (const int party : party_of_row) ++rows.at(static_cast<std::size_t>(party < 0 ? 3 : party));
  return fmt::format("dealing {} to three parties: rows {}, {}, {}{}",
                     source.place().lexically_normal().string(), rows[0], rows[1], rows[2],
                     rows[3] == 0 ? "" : fmt::format("; {} beyond data.rows left out", rows[3]));
}

}  // namespace trefoil::jobs
