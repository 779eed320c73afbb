#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/job.h"

namespace trefoil::apps {

struct AuditOptions {
  std::string job;
  std::string data;  ///< folder of the data; empty: looked for as by `local`
  std::string out;   ///< empty: runs/NAME-audit-UTC
  std::vector<std::string> assignments;
  std::int64_t canaries = 1000;
  double confidence = 0.997;
  std::optional<double> claim{};  ///< epsilon to be compared with; none: the run's own for outsiders
  std::size_t threads = 0;        ///< of each party; 0: a third of the cores
  bool json = false;
  jobs::JobTypes types = jobs::ShippedTypes();
};

/// Trains a job once with canaries among its records, by three parties on this machine, guesses from the
/// released model which were in, and prints and keeps what that says of epsilon. Returns 0, or the first
/// failing party's exit code. Throws BudgetError where the bound exceeds the claim; else the errors of
/// base/error.h for what fails before the parties start.
int RunAudit(const AuditOptions& options);

}  // namespace trefoil::apps
