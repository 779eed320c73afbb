#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset/split.h"
#include "jobs/records/schema.h"

namespace trefoil::jobs {

/// Where the data set NAME is looked for, in order, as FindDataFolder says.
[[nodiscard]] std::vector<std::filesystem::path> DataPlaces(const std::string& name,
                                                            const std::filesystem::path& job_file);

/// The folder that holds the data set NAME: `given`, else $TREFOIL_DATA/NAME, else ../shared/data/NAME seen
/// from the working directory or from the project that the job file is in (the folder above its own). Throws
/// DataError listing where it was looked for.
[[nodiscard]] std::filesystem::path FindDataFolder(const std::string& name,
                                                   const std::filesystem::path& job_file,
                                                   const std::filesystem::path& given);

/// How [local] splits one data set.
[[nodiscard]] data::Split SplitOf(const LocalSpec& local);

}  // namespace trefoil::jobs
