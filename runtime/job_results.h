#pragma once
#include <functional>

#include "jobs/job.h"
#include "net/transport.h"
#include "runtime/job_output.h"
#include "runtime/party_session.h"

namespace trefoil::runtime {

/// What a session has taken.
struct SessionCost {
  net::Counters counters{};  ///< of rank 0's links
  double seconds = 0;
  int ranks = 1;
  std::uint64_t bytes_of_other_ranks = 0;
};

/// Writes what a job gave this party to its run directory, summary.json last, and tells the user and the
/// session log. All is on disk when it returns, so that checkpoints may go. `cost` is asked for when all but
/// the summary is written: what ranks still have to tell of it is not to keep a result from its party.
/// Throws ConfigError or std::runtime_error where something cannot be written, and what `cost` throws.
void WriteResults(PartySession& session, const jobs::Job& job, const jobs::JobResult& result,
                  const JobOutput& output, const std::function<SessionCost()>& cost);

}  // namespace trefoil::runtime
