#pragma once
#include <functional>

#include <CLI/CLI.hpp>

#include "jobs/job.h"

namespace trefoil::apps {

/// What the command line asked for; returns the exit code, or throws one of the errors of base/error.h.
using Action = std::function<int()>;

// Each adds one command to the program's command line, and sets `action` when it is chosen. Those that read
// jobs, party files or models know `types`.
void AddInit(CLI::App& program, Action& action);
void AddInitJob(CLI::App& program, Action& action, jobs::JobTypes types);
void AddTrust(CLI::App& program, Action& action, jobs::JobTypes types);
void AddOwner(CLI::App& program, Action& action);
void AddTrustOwner(CLI::App& program, Action& action, jobs::JobTypes types);
void AddAccept(CLI::App& program, Action& action, jobs::JobTypes types);
void AddInbox(CLI::App& program, Action& action, jobs::JobTypes types);
void AddStore(CLI::App& program, Action& action, jobs::JobTypes types);
void AddDeposit(CLI::App& program, Action& action);
void AddWithdraw(CLI::App& program, Action& action);
void AddStudy(CLI::App& program, Action& action, jobs::JobTypes types);
void AddDepositKey(CLI::App& program, Action& action);
void AddCheck(CLI::App& program, Action& action, jobs::JobTypes types);
void AddRun(CLI::App& program, Action& action, jobs::JobTypes types);
void AddLocal(CLI::App& program, Action& action, jobs::JobTypes types);
void AddPlan(CLI::App& program, Action& action, jobs::JobTypes types);
void AddAccount(CLI::App& program, Action& action);
void AddAudit(CLI::App& program, Action& action, jobs::JobTypes types);
void AddEvaluate(CLI::App& program, Action& action, jobs::JobTypes types);
void AddPredict(CLI::App& program, Action& action, jobs::JobTypes types);
void AddExport(CLI::App& program, Action& action, jobs::JobTypes types);
void AddReport(CLI::App& program, Action& action, jobs::JobTypes types);
void AddFeatures(CLI::App& program, Action& action, jobs::JobTypes types);
void AddSchema(CLI::App& program, Action& action, jobs::JobTypes types);
void AddLedger(CLI::App& program, Action& action, jobs::JobTypes types);

}  // namespace trefoil::apps
