#pragma once
#include <filesystem>
#include <vector>

#include "jobs/job.h"
#include "jobs/statistics/estimates.h"

namespace trefoil::jobs {

/// The released files, a CSV each of what the job asks: moments.csv, quantiles.csv, bins.csv,
/// correlations.csv and correlations_noise.csv, tables.csv.
[[nodiscard]] std::vector<ResultFile> FilesOf(const StatisticsSettings& job, const StatisticsLayout& layout,
                                              const StatisticsEstimates& estimates);

/// What a report shows of those that are in a folder. Throws DataError for one that is not as FilesOf() has
/// it.
[[nodiscard]] ShownResults ShownStatistics(const StatisticsSettings& job, const StatisticsLayout& layout,
                                           const std::filesystem::path& folder);

}  // namespace trefoil::jobs
