#include "runtime/resume/lost_steps.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "base/error.h"
#include "protocols/arithmetic/agreement.h"

namespace trefoil::runtime {
namespace {

/// The first is let be, as steps are up to their limit: what stopped the run may have passed.
constexpr std::int64_t kMaxLostReleases = 1;

std::string Counted(std::int64_t count, const std::string& what) {
  return count == 0 ? "" : fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

LostReleases LostReleasesOf(const jobs::JobSteps& steps, const AgreedRun& agreed) {
  LostReleases lost;
  for (const auto& session : agreed.earlier) {
    if (steps.charged_before && session.from_start) ++lost.before_steps;
    if (steps.charged_after && session.evaluated) ++lost.evaluations;
  }
  // A checkpoint has what one session released before its steps, and perhaps what one has counted.
  if (agreed.from && lost.before_steps > 0) --lost.before_steps;
  if (agreed.from && agreed.from->counted && lost.evaluations > 0) --lost.evaluations;
  return lost;
}

std::string ToText(const LostReleases& lost) {
  auto text = lost.before_steps == 0 ? "" : Counted(lost.before_steps, "release") + " before the first step";
  const auto evaluations = Counted(lost.evaluations, "evaluation");
  if (!text.empty() && !evaluations.empty()) text += " and ";
  return text + evaluations;
}

std::optional<std::string> RefusalOfLosses(const jobs::Job& job, const AgreedRun& agreed) {
  const bool from_start = !agreed.from;
  const int first = agreed.from ? agreed.from->step : 0;
  const auto steps = job.Steps();
  if (first == steps.count && (!steps.charged_after || agreed.from->counted)) return {};
  const std::int64_t lost = LostSteps(agreed);
  const std::int64_t most = steps.lost_max;
  const auto releases = LostReleasesOf(steps, agreed);
  // The session that began the run has its name.
  const bool again = std::any_of(agreed.earlier.begin(), agreed.earlier.end(), [&](const auto& session) {
    return session.id != agreed.run_id && session.from_start == from_start && session.first == first;
  });
  if (agreed.again || !again || (lost <= most && releases.count() <= kMaxLostReleases)) return {};
  const auto text = [&](const dp::EpsilonPair& epsilons) {
    return jobs::EpsilonsText(epsilons.outsider, epsilons.insider, jobs::FirstOf(job));
  };
  return fmt::format(
      "training.lost_steps_max: found {} lost steps{}, which take epsilon from {} to {}, and a session "
      "before this one that was resumed from step {}, too; expected at most {} lost steps{}, or run "
      "--resume --again at all three: first see why it fails",
      lost, releases.count() == 0 ? "" : fmt::format(", and {} that were lost, too", ToText(releases)),
      text(job.Epsilons()), text(job.ResumedEpsilons(agreed.earlier, from_start, first)), first, most,
      releases.count() == 0 ? "" : " and one of anything else");
}

void RequireFewLosses(mpc::Context& party, const jobs::Job& job, const AgreedRun& agreed) {
  if (const auto refusal = RefusalOfLosses(job, agreed))
    protocols::RefuseTogether(party, BudgetError(*refusal));
}

}  // namespace trefoil::runtime
