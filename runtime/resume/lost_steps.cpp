#include "runtime/resume/lost_steps.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "base/error.h"
#include "jobs/dpsgd/training_settings.h"
#include "jobs/statement/vertical_statement.h"
#include "ml/dpsgd/training.h"
#include "protocols/arithmetic/agreement.h"
#include "runtime/observe/progress.h"

namespace trefoil::runtime {

std::optional<std::string> RefusalOfLosses(const jobs::DpsgdSettings& job, const AgreedRun& agreed) {
  const bool from_start = !agreed.from;
  const int first = agreed.from ? agreed.from->step : 0;
  const bool evaluates = job.evaluation && job.evaluation->sigma;
  if (first == job.training.steps && !evaluates) return {};  // it does nothing more that is charged
  const std::int64_t lost = LostSteps(agreed);
  const std::int64_t most = job.training.lost_steps_max;
  // The session that began the run has its name.
  const bool again = std::any_of(agreed.earlier.begin(), agreed.earlier.end(), [&](const auto& session) {
    return session.id != agreed.run_id && session.from_start == from_start && session.first == first;
  });
  if (agreed.again || !again || lost <= most) return {};
  const auto settings = jobs::SettingsOf(job);
  const auto meant = ml::MakePlan(settings);
  const auto plan = ml::MakePlan(settings, agreed.earlier, from_start, first);
  const auto text = [&](const ml::PrivacyPlan& of) {
    return jobs::EpsilonsText(of.epsilon_outsider, of.epsilon_insider, jobs::FirstOf(job));
  };
  return fmt::format(
      "training.lost_steps_max: found {} lost steps, which take epsilon from {} to {}, and a session before "
      "this one that was resumed from step {}, too; expected at most {} lost steps, or run --resume --again "
      "at all three: first see why it fails",
      lost, text(meant), text(plan), first, most);
}

void RequireFewLosses(mpc::Context& party, const jobs::DpsgdSettings& job, const AgreedRun& agreed) {
  if (const auto refusal = RefusalOfLosses(job, agreed))
    protocols::RefuseTogether(party, BudgetError(*refusal));
}

}  // namespace trefoil::runtime
