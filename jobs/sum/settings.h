#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "dp/record/promise.h"
#include "jobs/gaussian_target.h"
#include "ml/noise/noisy_sum.h"
#include "ml/plan/settings.h"

namespace trefoil::jobs {

/// A job of type "sum", checked, with every default filled in.
struct SumSettings : GaussianSettings {
  std::string name;
  std::string data_name;
  std::array<std::int64_t, 3> rows{};  ///< public, declared sizes; of deposits {all of them, 0, 0}
  StoreSpec store{};                   ///< where it is on there is one call, of all records
  std::int64_t dimension = 0;
  double norm_bound = 0;  ///< C
  std::int64_t calls = 1;
  bool owners_sum = false;   ///< whether owners add their vectors up by themselves: C is their word
  double allowance = 0;      ///< then: on what a record changes in the errors of such a sum
  double sampling_rate = 1;  ///< else: with which each unit of privacy is in a call
  int fraction_bits = 0;     ///< of the lattice
  dp::PrivacyUnit unit = dp::PrivacyUnit::kRecord;  ///< or kGroup
  std::int64_t max_group_rows = 1;                  ///< kGroup: more rows with one key are an error

  [[nodiscard]] std::int64_t records() const { return rows[0] + rows[1] + rows[2]; }
  [[nodiscard]] bool groups() const { return unit == dp::PrivacyUnit::kGroup; }
};

/// The keys of such a job.
void Fields(FieldVisitor& v, SumSettings& s);

/// Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] SumSettings ReadSumSettings(const toml::table& root, const std::string& file);

/// What owners deposit for such a job. Pre: job.store.on.
[[nodiscard]] RecordSchema VectorsOf(const SumSettings& job);

/// The norm that a record's vector is shortened to, in lattice units, rounded down; at least 1.
[[nodiscard]] std::uint64_t NormInUnits(const SumSettings& job);

/// The most that one unit of privacy changes in a sum, in lattice units.
[[nodiscard]] std::uint64_t SensitivityInUnits(const SumSettings& job);

/// Throws ConfigError where a sum of all declared records, with noise of multiplier `sigma`, might not fit
/// the ring but with a probability below 1e-300.
void RequireSumInRing(const SumSettings& job, double sigma);

}  // namespace trefoil::jobs
