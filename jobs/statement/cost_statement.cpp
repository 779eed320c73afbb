#include "jobs/statement/cost_statement.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "jobs/statement/amount_text.h"

namespace trefoil::jobs {

PlannedRun PlanRun(const JobCost& cost, const std::string& form, const std::optional<protocols::Link>& link) {
  PlannedRun run{.form = form, .cost = cost.session.total(), .less = cost.less};
  if (link) run.seconds = cost.session.Seconds(cost.work, *link);
  return run;
}

std::string BeforeText(const JobCost& cost, const std::optional<protocols::Link>& link) {
  if (cost.before.empty() || !link) return cost.before;
  return fmt::format("{}, about {}", cost.before, SecondsText(cost.before_seconds / link->speed));
}

std::string ToText(const PlannedRun& run) {
  const auto* most = run.less.empty() ? "" : "at most ";
  const auto& bytes = run.cost.bytes_sent;
  auto text = fmt::format("The run{}: {}{} rounds; the parties send {}{}, {} and {}{}",
                          run.form.empty() ? "" : fmt::format(", {} form", run.form), most, run.cost.rounds,
                          most, BytesText(bytes[0]), BytesText(bytes[1]), BytesText(bytes[2]),
                          run.less.empty() ? "" : ", " + run.less);
  if (run.seconds) text += fmt::format("; about {} on this link", SecondsText(*run.seconds));
  return text + '\n';
}

nlohmann::ordered_json ToJson(const PlannedRun& run) {
  using Json = nlohmann::ordered_json;
  return {{"form", run.form.empty() ? Json(nullptr) : Json(run.form)},
          {"rounds", run.cost.rounds},
          {"bytes_sent", run.cost.bytes_sent},
          {"at_most", !run.less.empty()},
          {"seconds", run.seconds ? Json(*run.seconds) : Json(nullptr)}};
}

std::string MemoryText(double bytes) {
  return fmt::format("A party needs about {} of memory\n", BytesText(static_cast<std::uint64_t>(bytes)));
}

}  // namespace trefoil::jobs
