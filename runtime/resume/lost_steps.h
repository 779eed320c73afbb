#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "jobs/job.h"
#include "mpc/context.h"
#include "runtime/resume/run_agreement.h"

namespace trefoil::runtime {

/// What earlier sessions released besides steps, and the run does not go on from: it is charged all the same,
/// and done again.
struct LostReleases {
  std::int64_t before_steps = 0;  ///< noisy counts of classes, first models; of a session all together
  std::int64_t evaluations = 0;   ///< noisy ones

  [[nodiscard]] std::int64_t count() const { return before_steps + evaluations; }
};

[[nodiscard]] LostReleases LostReleasesOf(const jobs::JobSteps& steps, const AgreedRun& agreed);

/// "2 releases before the first step and 1 evaluation"; empty where nothing was lost.
[[nodiscard]] std::string ToText(const LostReleases& lost);

/// Why a run may not go on as agreed: an earlier session was resumed from the same checkpoint and lost what
/// it did, and more than JobSteps::lost_max steps, or more than one other release, have been lost by now,
/// which are charged. Else a party that
/// is started again and again, while what stops it does not pass, would spend budget each time. Nothing where
/// the run may go on: also where nothing is left that is charged, and where all three were told to go on
/// (`AgreedRun::again`). The same at all three parties.
[[nodiscard]] std::optional<std::string> RefusalOfLosses(const jobs::Job& job, const AgreedRun& agreed);

/// Throws BudgetError with that reason, at all three parties. Cost where it does: that of a Barrier.
void RequireFewLosses(mpc::Context& party, const jobs::Job& job, const AgreedRun& agreed);

}  // namespace trefoil::runtime
