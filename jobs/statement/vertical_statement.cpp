#include "jobs/statement/vertical_statement.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/error.h"

namespace trefoil::jobs {

FirstEpsilon FirstOf(const dp::TrainingRecord& record) {
  const auto is_vertical = [](const dp::RecordedEvent& event) {
    const auto* steps = std::get_if<dp::DpSgdSteps>(&event);
    return steps != nullptr && steps->vertical;
  };
  return std::any_of(record.events.begin(), record.events.end(), is_vertical) ? FirstEpsilon::kInsider
                                                                              : FirstEpsilon::kOutsider;
}

void PutValuesFirst(std::vector<StatementEntry>& statement, const StatementSource& source) {
  const auto presence = dp::PresenceEpsilon(source.record, source.delta, source.accountant);
  if (!presence) return;
  Require(statement.size() >= 2 && statement[0].key == "epsilon_outsider" &&
              statement[1].key == "epsilon_insider",
          "PutValuesFirst: a statement that begins with both epsilons");
  std::swap(statement[0], statement[1]);
  statement[0].sentence =
      "For one of the three parties, about other values of another party in a record that it knows to be "
      "there: half of the noise multiplier, as often as any row is taken.";
  statement[1].sentence =
      "For whoever sees what is released and nothing else, about whether a record takes part. The noise of "
      "all three parties protects it: 1.2247 times the noise multiplier.";
  statement.insert(
      statement.begin() + 2,
      {.key = "epsilon_insider_presence",
       .title = "Epsilon, taking part",
       .sentence =
           "For one of the three parties, about whether a record or padding is in a slot, all others being in "
           "theirs: the noise multiplier, as often as any row is taken. Who takes part its keys tell it.",
       .number = presence});
}

}  // namespace trefoil::jobs
