#include "runtime/resume/lost_steps.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "base/error.h"
#include "protocols/arithmetic/agreement.h"

namespace trefoil::runtime {

std::optional<std::string> RefusalOfLosses(const jobs::Job& job, const AgreedRun& agreed) {
  const bool from_start = !agreed.from;
  const int first = agreed.from ? agreed.from->step : 0;
  const auto steps = job.Steps();
  if (first == steps.count && (!steps.charged_after || agreed.from->counted)) return {};
  const std::int64_t lost = LostSteps(agreed);
  const std::int64_t most = steps.lost_max;
  // The session that began the run has its name.
  const bool again = std::any_of(agreed.earlier.begin(), agreed.earlier.end(), [&](const auto& session) {
    return session.id != agreed.run_id && session.from_start == from_start && session.first == first;
  });
  if (agreed.again || !again || lost <= most) return {};
  const auto text = [&](const dp::EpsilonPair& epsilons) {
    return jobs::EpsilonsText(epsilons.outsider, epsilons.insider, jobs::FirstOf(job));
  };
  return fmt::format(
      "training.lost_steps_max: found {} lost steps, which take epsilon from {} to {}, and a session before "
      "this one that was resumed from step {}, too; expected at most {} lost steps, or run --resume --again "
      "at all three: first see why it fails",
      lost, text(job.Epsilons()), text(job.ResumedEpsilons(agreed.earlier, from_start, first)), first, most);
}

void RequireFewLosses(mpc::Context& party, const jobs::Job& job, const AgreedRun& agreed) {
  if (const auto refusal = RefusalOfLosses(job, agreed))
    protocols::RefuseTogether(party, BudgetError(*refusal));
}

}  // namespace trefoil::runtime
