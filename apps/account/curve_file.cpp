#include "apps/account/curve_file.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apps/report/svg_plot.h"
#include "jobs/statement/unit_text.h"
#include "jobs/statement/vertical_statement.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::ordered_json;

Json CurveJson(const dp::PrivacyCurve& curve) {
  Json json{{"curve", Json::array()},
            {"mu", curve.mu ? Json(*curve.mu) : Json(nullptr)},
            {"tradeoff", Json::array()}};
  for (const auto& [epsilon, delta] : curve.points)
    json["curve"].push_back(Json{{"epsilon", epsilon}, {"delta", delta}});
  for (const auto& [alpha, beta] : curve.tradeoff)
    json["tradeoff"].push_back(Json{{"alpha", alpha}, {"beta", beta}});
  return json;
}

/// The powers of ten in 1/delta; delta 0 has no place on the plot.
PlotLine PowersOf(const char* name, const dp::PrivacyCurve& curve) {
  PlotLine line{.name = name, .points = {}};
  for (const auto& [epsilon, delta] : curve.points)
    if (delta > 0) line.points.emplace_back(epsilon, -std::log10(delta));
  return line;
}

PlotLine TradeOffOf(const char* name, const dp::PrivacyCurve& curve) {
  PlotLine line{.name = name, .points = {}};
  for (const auto& [alpha, beta] : curve.tradeoff) line.points.emplace_back(alpha, beta);
  return line;
}

}  // namespace

PrivacyCurves CurvesOf(const dp::TrainingRecord& record) {
  PrivacyCurves curves{.outsider = dp::CurveOf(dp::OutsiderEvents(record)),
                       .insider = dp::CurveOf(dp::InsiderEvents(record)),
                       .of = jobs::OneUnit(record),
                       .vertical = jobs::FirstOf(record) == jobs::FirstEpsilon::kInsider};
  if (!record.promise) return curves;
  curves.unit = jobs::UnitName(record);
  curves.neighbours = jobs::NeighboursName(record);
  return curves;
}

PrivacyCurves CurvesOf(const dp::SampledGaussian& releases) {
  dp::SampledGaussian of_outsider = releases;
  of_outsider.noise_multiplier *= dp::kAllOverTwo;
  return {.outsider = dp::CurveOf({of_outsider}), .insider = dp::CurveOf({releases})};
}

Json ToJson(const PrivacyCurves& curves) {
  return {{"unit", curves.unit ? Json(*curves.unit) : Json(nullptr)},
          {"neighbours", curves.neighbours ? Json(*curves.neighbours) : Json(nullptr)},
          {"outsider", CurveJson(curves.outsider)},
          {"insider", CurveJson(curves.insider)}};
}

std::string ToSvg(const PrivacyCurves& curves) {
  const char* insider = curves.vertical ? "insider: other values" : "insider";
  const char* outsider = curves.vertical ? "outsider: record or none" : "outsider";
  const auto promise =
      ToSvg({.title = "delta at every epsilon, for " + curves.of,
             .x_label = "epsilon",
             .y_label = "powers of ten in 1 / delta",
             .lines = {PowersOf(insider, curves.insider), PowersOf(outsider, curves.outsider)}});
  const auto tradeoff =
      ToSvg({.title = "Trade-off: tests for " + curves.of,
             .x_label = "false alarms, alpha",
             .y_label = "undetected, beta, at least",
             .lines = {TradeOffOf(insider, curves.insider), TradeOffOf(outsider, curves.outsider)}});
  return promise + tradeoff;
}

}  // namespace trefoil::apps
