#pragma once
#include <string>
#include <vector>

#include "jobs/statistics/layout.h"
#include "jobs/statistics/settings.h"

namespace trefoil::jobs {

/// Two numbers, of which the first has no missing values, and a category.
inline constexpr const char* kStatisticsJob = R"(
version = 1
type = "statistics"
name = "trial"
[data]
name = "trial"
format = "csv"
rows = [4000, 4000, 4000]
column = [
  { name = "a", low = -10.0, high = 10.0, missing = [], edges = [-2.0, 3.5] },
  { name = "b", low = 0.0, high = 4.0 },
  { name = "skipped", kind = "ignore" },
  { name = "c", kind = "category", values = ["x", "y", "z"] },
]
[statistics]
bins = 50
correlations = ["a", "b"]
table = [{ rows = "a", columns = "c" }, { rows = "c" }]
[privacy]
sigma = 2.0
delta = 1e-6
)";

inline StatisticsSettings StatisticsWith(const std::vector<std::string>& assignments = {},
                                         const char* text = kStatisticsJob) {
  auto table = toml::parse(text);
  for (const auto& assignment : assignments) SetValue(table, assignment);
  StatisticsSettings job;
  ReadFields(table, "trial.toml", job);
  return job;
}

}  // namespace trefoil::jobs
