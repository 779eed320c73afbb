#pragma once
#include <array>
#include <filesystem>

#include "apps/job.h"
#include "data/split.h"

namespace trefoil::apps {

/// The folder that holds the job's data: `given`, else $TREFOIL_DATA/NAME, else ../shared/data/NAME seen from
/// the working directory or from the project that the job file is in (the folder above its own). For the data
/// set "digits", which is generated, a folder that is made in `run_folder`. Throws DataError listing where it
/// was looked for.
[[nodiscard]] std::filesystem::path FindDataFolder(const Job& job, const std::filesystem::path& job_file,
                                                   const std::filesystem::path& given,
                                                   const std::filesystem::path& run_folder);

/// Deals the training data to the three party folders as the job's [local] says, and copies the test data, if
/// there is any, to TEST. Throws DataError or ConfigError as data::SplitSource.
data::SplitReport DealData(const Job& job, const std::filesystem::path& source,
                           const std::array<std::filesystem::path, 3>& parties,
                           const std::filesystem::path& test);

/// Copies the test files of `source` to the holder's folder and returns them as its party file names them.
/// Throws DataError if there are none.
[[nodiscard]] data::DataFiles DealTestFiles(const Job& job, const std::filesystem::path& source,
                                            const std::filesystem::path& holder);

}  // namespace trefoil::apps
