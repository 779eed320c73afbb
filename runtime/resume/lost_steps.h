#pragma once
#include <optional>
#include <string>

#include "jobs/job.h"
#include "mpc/context.h"
#include "runtime/resume/run_agreement.h"

namespace trefoil::runtime {

/// Why a run may not go on as agreed: an earlier session was resumed from the same checkpoint and lost what
/// it did, and more than JobSteps::lost_max steps have been lost by now, which are charged. Else a party that
/// is started again and again, while what stops it does not pass, would spend budget each time. Nothing where
/// the run may go on: also where nothing is left that is charged, and where all three were told to go on
/// (`AgreedRun::again`). The same at all three parties.
[[nodiscard]] std::optional<std::string> RefusalOfLosses(const jobs::Job& job, const AgreedRun& agreed);

/// Throws BudgetError with that reason, at all three parties. Cost where it does: that of a Barrier.
void RequireFewLosses(mpc::Context& party, const jobs::Job& job, const AgreedRun& agreed);

}  // namespace trefoil::runtime
