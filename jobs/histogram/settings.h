#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/columns/category_column.h"
#include "dp/accounting/any_accountant.h"
#include "dp/mechanisms/local_randomiser.h"
#include "jobs/config/fields.h"
#include "jobs/config/toml/tomlplusplus.h"
#include "jobs/records/record_fields.h"
#include "ml/plan/settings.h"

namespace trefoil::jobs {

/// A job of type "histogram", checked, with every default filled in. Which keys it has depends on mode, noise
/// and source: of the schema the parties' own files have name, data.name, data.rows and data.header alone.
struct HistogramSettings : RecordSchema {
  data::CategoryColumn column;  ///< its values, of deposits too: those of the label, or numbers of classes
  std::optional<dp::Randomiser> randomiser{};  ///< mode "local"; none: "central"
  bool gaussian = false;                       ///< central: else discrete Laplace
  double confidence = 0.95;
  /// All but two coins; exactly one of epsilon and sigma with Gaussian noise.
  std::optional<double> epsilon{};
  std::optional<double> sigma{};
  double delta = 0;
  dp::AccountantKind accountant = dp::AccountantKind::kPld;
  ml::Adversary against = ml::Adversary::kInsider;  ///< Gaussian: whose epsilon the target is
  std::vector<int> to{0, 1, 2};
  LocalSpec local;

  [[nodiscard]] std::int64_t records() const { return TotalRows(data); }
  [[nodiscard]] bool two_coins() const { return randomiser == dp::Randomiser::kTwoCoins; }
};

void Fields(FieldVisitor& v, HistogramSettings& s);

/// Reads a document, which `file` names in errors. Throws ConfigError with one line: place, key, found,
/// expected.
[[nodiscard]] HistogramSettings ReadHistogramSettings(const toml::table& root, const std::string& file);

}  // namespace trefoil::jobs
