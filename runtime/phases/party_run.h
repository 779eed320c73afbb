#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "jobs/job.h"
#include "runtime/job_output.h"
#include "runtime/ledger/run_budget.h"
#include "runtime/party_session.h"
#include "runtime/ranks/rank_group.h"
#include "runtime/resume/run_state.h"
#include "runtime/run_job.h"

namespace trefoil::runtime {

/// All that a run of a party, or of its first rank, holds on to.
struct PartyRun {
  const RunOptions& options;
  std::shared_ptr<jobs::Job> job;
  PartySession session;
  jobs::SharedRecords* store = nullptr;  ///< where its records are deposits
  RankGroup* group = nullptr;            ///< of a party of several machines, of which this is the first
  std::optional<RunBudget> budget{};     ///< once the data has been read
  std::optional<RunState> state{};       ///< likewise, where the job has checkpoints
  std::optional<JobOutput> output{};     ///< once the peers are met
  std::function<jobs::OwnerLines()> owner_lines{};  ///< JobResult::owner_lines

  [[nodiscard]] int steps() const { return job->Steps().count; }
  [[nodiscard]] bool charges() const { return job->Covered().empty(); }
};

}  // namespace trefoil::runtime
