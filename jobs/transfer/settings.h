#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "dp/accounting/any_accountant.h"
#include "jobs/config/fields.h"
#include "jobs/records/schema.h"
#include "ml/on_shares/ensemble_transfer.h"
#include "ml/plan/settings.h"

namespace trefoil::jobs {

/// A job of type "ensemble-transfer", checked, with every default filled in.
struct TransferSettings {
  std::string name;
  std::string data_name;
  std::array<std::int64_t, 3> owners{};  ///< public, of each party: how many classifiers vote
  ml::TransferSettings settings;
  bool published = false;           ///< noise: radial Laplace; else Gaussian
  std::optional<double> epsilon{};  ///< Gaussian: exactly one of epsilon and sigma
  std::optional<double> sigma{};    ///< noise multiplier
  double delta = 0;
  dp::AccountantKind accountant = dp::AccountantKind::kPld;
  ml::Adversary against = ml::Adversary::kInsider;  ///< Gaussian: whose epsilon the target is
  std::vector<int> to{0, 1, 2};                     ///< none: the model stays in shares

  [[nodiscard]] bool insiders() const { return against == ml::Adversary::kInsider; }
};

/// The keys of such a job.
void Fields(FieldVisitor& v, TransferSettings& s);

/// Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] TransferSettings ReadTransferSettings(const toml::table& root, const std::string& file);

/// The job as compact JSON, keys sorted, all defaults filled in.
[[nodiscard]] std::string TransferJson(const TransferSettings& job);

/// What the released model's records look like: rows of `features` numbers and two classes.
[[nodiscard]] RecordSchema TransferSchema(const TransferSettings& job);

}  // namespace trefoil::jobs
