#include "jobs/records/local_data.h"

#include <spdlog/fmt/fmt.h>

#include <cstdlib>

#include "base/error.h"

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

}  // namespace trefoil::jobs
