#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "jobs/gaussian_target.h"
#include "jobs/statistics/spec.h"

namespace trefoil::jobs {

/// A job of type "statistics", checked, with every default filled in.
struct StatisticsSettings : StatisticsSpec, GaussianSettings {
  std::string name;
  std::vector<double> probabilities;
  StoreSpec store{};  ///< where it is on, data.rows is {the capacities of all deposits, 0, 0}

  [[nodiscard]] std::int64_t records() const { return data.rows[0] + data.rows[1] + data.rows[2]; }
};

/// The keys of such a job.
void Fields(FieldVisitor& v, StatisticsSettings& s);

/// The keys of a specification alone, in one table: the files' columns, and what is released of them but for
/// which quantiles.
void Fields(FieldVisitor& v, StatisticsSpec& s);

}  // namespace trefoil::jobs
