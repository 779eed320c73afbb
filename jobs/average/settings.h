#pragma once
#include <optional>
#include <string>
#include <vector>

#include "dp/accounting/any_accountant.h"
#include "jobs/average/owners.h"
#include "jobs/config/fields.h"
#include "jobs/records/schema.h"
#include "ml/on_shares/average_plan.h"

namespace trefoil::jobs {

/// A job of type "classifier-average", checked, with every default filled in.
struct AverageSettings {
  std::string name;
  RecordSchema schema;
  Owners owners;
  ml::LogisticSettings solver;
  ml::AverageNoise noise = ml::AverageNoise::kLaplace;
  int scales = 16;
  double epsilon = 0;
  double delta = 0;
  dp::AccountantKind accountant = dp::AccountantKind::kPld;
  std::optional<double> size_epsilon{};  ///< none: epsilon is for one record replaced
  std::vector<int> to{0, 1, 2};          ///< none: the average stays in shares

  [[nodiscard]] bool as_published() const { return noise == ml::AverageNoise::kAsPublished; }
  [[nodiscard]] bool gaussian() const { return noise == ml::AverageNoise::kGaussian; }
};

/// The keys of such a job.
void Fields(FieldVisitor& v, AverageSettings& s);

/// Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] AverageSettings ReadAverageSettings(const toml::table& root, const std::string& file);

/// The job as compact JSON, keys sorted, all defaults filled in, without [local].
[[nodiscard]] std::string AverageJson(const AverageSettings& job);

/// As average.noise names it: "sound" (Laplace), "gaussian", "as-published".
[[nodiscard]] const char* NameOf(ml::AverageNoise noise);

/// The part of a job that the computation needs.
[[nodiscard]] ml::AverageSettings AverageSettingsOf(const AverageSettings& job);

}  // namespace trefoil::jobs
