#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/category_column.h"
#include "dp/accounting/any_accountant.h"
#include "dp/mechanisms/local_randomiser.h"
#include "jobs/config/fields.h"
#include "jobs/records/schema.h"
#include "ml/plan/settings.h"

namespace trefoil::jobs {

/// A job of type "histogram", checked, with every default filled in. Which keys it has depends on mode and
/// noise.
struct HistogramSettings {
  std::string name;
  std::string data_name;
  std::array<std::int64_t, 3> rows{};  ///< public, declared sizes
  data::CategoryColumn column;
  std::optional<dp::Randomiser> randomiser{};  ///< mode "local"; none: "central"
  bool gaussian = false;                       ///< central: else discrete Laplace
  double confidence = 0.95;
  std::optional<double>
      epsilon{};  ///< all but two coins; exactly one of epsilon and sigma with Gaussian noise
  std::optional<double> sigma{};
  double delta = 0;
  dp::AccountantKind accountant = dp::AccountantKind::kPld;
  ml::Adversary against = ml::Adversary::kInsider;  ///< Gaussian: whose epsilon the target is
  std::vector<int> to{0, 1, 2};
  LocalSpec local;

  [[nodiscard]] std::int64_t records() const { return rows[0] + rows[1] + rows[2]; }
  [[nodiscard]] bool two_coins() const { return randomiser == dp::Randomiser::kTwoCoins; }
};

/// The keys of such a job.
void Fields(FieldVisitor& v, HistogramSettings& s);

/// Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] HistogramSettings ReadHistogramSettings(const toml::table& root, const std::string& file);

/// The job as compact JSON, keys sorted, all defaults filled in, without [local].
[[nodiscard]] std::string HistogramJson(const HistogramSettings& job);

}  // namespace trefoil::jobs
