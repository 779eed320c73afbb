#pragma once
#include <array>
#include <filesystem>
#include <string>

#include "data/dealing/split.h"
#include "jobs/dpsgd/settings/settings.h"
#include "jobs/job.h"
#include "jobs/records/local_data.h"

namespace trefoil::jobs {

/// FindDataFolder for a training; for the data set "digits", which is generated, a folder that is made in
/// `run_folder`.
[[nodiscard]] std::filesystem::path FindDataFolder(const DpsgdSettings& job,
                                                   const std::filesystem::path& job_file,
                                                   const std::filesystem::path& given,
                                                   const std::filesystem::path& run_folder);

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

/// Job::Split of a training: does all of the above, and names the parties' files. `form` is the job as its
/// records are dealt.
[[nodiscard]] std::string SplitRecords(const DpsgdSettings& job, const DpsgdSettings& form,
                                       const SplitTarget& target);

}  // namespace trefoil::jobs
