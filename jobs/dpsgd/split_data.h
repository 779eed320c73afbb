#pragma once
#include <array>
#include <filesystem>

#include "data/dataset/split.h"
#include "jobs/dpsgd/settings.h"

namespace trefoil::jobs {

/// The folder that holds the data set NAME: `given`, else $TREFOIL_DATA/NAME, else ../shared/data/NAME seen
/// from the working directory or from the project that the job file is in (the folder above its own). Throws
/// DataError listing where it was looked for.
[[nodiscard]] std::filesystem::path FindDataFolder(const std::string& name,
                                                   const std::filesystem::path& job_file,
                                                   const std::filesystem::path& given);

/// The same for a training; for the data set "digits", which is generated, a folder that is made in
/// `run_folder`.
[[nodiscard]] std::filesystem::path FindDataFolder(const DpsgdSettings& job,
                                                   const std::filesystem::path& job_file,
                                                   const std::filesystem::path& given,
                                                   const std::filesystem::path& run_folder);

/// How [local] splits one data set.
[[nodiscard]] data::Split SplitOf(const LocalSpec& local);

/// Deals the training data to the three party folders as the job's [local] says, and copies the test data, if
/// there is any, to TEST. Throws DataError or ConfigError as data::SplitSource.
data::SplitReport DealData(const DpsgdSettings& job, const std::filesystem::path& source,
                           const std::array<std::filesystem::path, 3>& parties,
                           const std::filesystem::path& test);

/// Files of held-out records as their holders' party files name them; empty where the job has none.
struct HeldOutFiles {
  data::DataFiles test;
  data::DataFiles validation;
};

/// Copies the test and validation files of `source` that the job wants to the folders of their holders.
/// Throws DataError if there are none.
[[nodiscard]] HeldOutFiles DealHeldOut(const DpsgdSettings& job, const std::filesystem::path& source,
                                       const std::array<std::filesystem::path, 3>& parties);

}  // namespace trefoil::jobs
