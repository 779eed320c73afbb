#include "jobs/statement/several_rows.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "dp/record/json_number.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/unit_text.h"
#include "jobs/statement/vertical_statement.h"

namespace trefoil::jobs {

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

std::string ToText(const std::vector<RowsEpsilon>& rows, FirstEpsilon first) {
  std::string text;
  for (const auto& one : rows) {
    const auto outsider = ShortEpsilonText(one.epsilon_outsider) + " outsider";
    const auto insider = ShortEpsilonText(one.epsilon_insider) + " insider";
    const bool insider_first = first == FirstEpsilon::kInsider;
    text += fmt::format("{}k = {}: {}, {}", text.empty() ? "" : "; ", one.rows,
                        insider_first ? insider : outsider, insider_first ? outsider : insider);
  }
  return text;
}

std::string RowsSentence(const dp::TrainingRecord& record, const std::vector<RowsEpsilon>& rows) {
  const auto first = FirstOf(record);
  // An insider knows which records there are, so its promise is about their values.
  const auto differ = first == FirstEpsilon::kInsider
                          ? "for an insider other values of another party in all k rows, which it knows to "
                            "be there, for an outsider " +
                                SeveralNeighbours(record)
                          : SeveralNeighbours(record);
  const bool tuned =
      std::any_of(record.events.begin(), record.events.end(),
                  [](const dp::RecordedEvent& event) { return std::holds_alternative<dp::Tuning>(event); });
  return fmt::format(
      "{} is covered by these epsilons at delta {}, {}: {}. For k above 1 they come from {}, "
      "whatever the accountant is; in general they are not k times epsilon.",
      SeveralUnits(record), DeltaText(rows.at(0).delta), differ, ToText(rows, first),
      tuned ? "Renyi curves without amplification by sampling, far above the exact ones"
            : "the distributions of privacy losses");
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

}  // namespace trefoil::jobs
