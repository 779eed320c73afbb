#pragma once
#include "jobs/job.h"
#include "net/transport.h"
#include "runtime/job_output.h"
#include "runtime/party_session.h"

namespace trefoil::runtime {

/// Writes what a job gave this party to its run directory, summary.json last, and tells the user and the session
/// log. `counters` and `seconds`: of this session. All is on disk when it returns, so that checkpoints may go.
/// Throws ConfigError or std::runtime_error where something cannot be written.
void WriteResults(PartySession& session, const jobs::Job& job, const jobs::JobResult& result,
                  const JobOutput& output, const net::Counters& counters, double seconds);

}  // namespace trefoil::runtime
