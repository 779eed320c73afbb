#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/dealing/split.h"
#include "jobs/records/schema.h"

namespace trefoil::jobs {

struct SplitTarget;

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

/// Splits the CSV table of a job's data folder among the three party folders, byte for byte; `labels_of` the
/// table are what rows are sorted by where [local] says so. Returns what to say of it. Throws DataError, and
/// what `labels_of` throws.
[[nodiscard]] std::string SplitTable(
    const data::DataSpec& spec, const LocalSpec& local, const SplitTarget& target,
    const std::function<std::vector<int>(const data::DataFiles& source)>& labels_of);

}  // namespace trefoil::jobs
