#include "apps/several_rows.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "apps/bound_text.h"
#include "base/outward_text.h"
#include "dp/json_number.h"

namespace trefoil::apps {
namespace {

std::string UpText(double epsilon) { return std::isfinite(epsilon) ? DigitsAbove(epsilon, 4) : "infinite"; }

}  // namespace

std::vector<RowsEpsilon> EpsilonsOfRows(const dp::TrainingRecord& record, double delta,
                                        dp::AccountantKind kind, std::optional<std::int64_t> most) {
  std::vector<RowsEpsilon> rows;
  for (const std::int64_t k : {1, 2, 5, 10}) {
    const auto epsilons = dp::EpsilonsOfUnits(record, std::min(k, most.value_or(k)), delta, kind);
    rows.push_back({.rows = k,
                    .epsilon_outsider = epsilons.outsider,
                    .epsilon_insider = epsilons.insider,
                    .delta = delta});
  }
  return rows;
}

std::string ToText(const std::vector<RowsEpsilon>& rows) {
  std::string text;
  for (const auto& one : rows) {
    text += fmt::format("{}k = {}: {} outsider, {} insider", text.empty() ? "" : "; ", one.rows,
                        UpText(one.epsilon_outsider), UpText(one.epsilon_insider));
  }
  return text;
}

std::string RowsSentence(const std::string& who, const std::vector<RowsEpsilon>& rows) {
  return fmt::format(
      "{}, at one owner or at several, is covered by these epsilons at delta {}, all of them added or all "
      "removed: {}. For k above 1 they come from the distributions of privacy losses, whatever the "
      "accountant "
      "is; they are not k times epsilon.",
      who, DeltaText(rows.at(0).delta), ToText(rows));
}

nlohmann::ordered_json ToJson(const std::vector<RowsEpsilon>& rows) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& one : rows) {
    json.push_back({{"k", one.rows},
                    {"epsilon_outsider", dp::NumberOrNull(one.epsilon_outsider)},
                    {"epsilon_insider", dp::NumberOrNull(one.epsilon_insider)},
                    {"delta", one.delta}});
  }
  return json;
}

}  // namespace trefoil::apps
