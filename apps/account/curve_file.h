#pragma once
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dp/accounting/privacy_curve.h"
#include "dp/record/record.h"

namespace trefoil::apps {

/// The whole promise to both adversaries.
struct PrivacyCurves {
  dp::PrivacyCurve outsider;
  dp::PrivacyCurve insider;
  std::string of = "a unit";                ///< what both are for: "a record", "an owner"
  std::optional<std::string> unit{};        ///< as record.json names it, where it is stated
  std::optional<std::string> neighbours{};  ///< likewise
  bool vertical = false;  ///< then the insider's is for other values, and the outsider's for a record or none
};

/// Of what a record lists. Cost: a few seconds for a sampled training.
[[nodiscard]] PrivacyCurves CurvesOf(const dp::TrainingRecord& record);

/// Of releases at one noise multiplier, the insider's; the outsider's is sqrt(3/2) times that.
[[nodiscard]] PrivacyCurves CurvesOf(const dp::SampledGaussian& releases);

/// An object with `unit` and `neighbours` (null: not stated), and `outsider` and `insider`, each with `curve`
/// (a list of epsilon, delta), `mu` (a number or null) and `tradeoff` (a list of alpha, beta):
/// docs/reference/formats.md, "Privacy curves".
[[nodiscard]] nlohmann::ordered_json ToJson(const PrivacyCurves& curves);

/// delta(epsilon) and the trade-off curves as two <svg> elements.
[[nodiscard]] std::string ToSvg(const PrivacyCurves& curves);

}  // namespace trefoil::apps
