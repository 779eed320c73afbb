#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "jobs/job.h"

namespace trefoil::runtime {

/// What `ledger init`, `ledger enter` and `ledger declare` were given.
struct LedgerOpenOptions {
  std::string config;               ///< the party file, whose [ledger] and [data] are meant
  bool evaluation = false;          ///< [evaluation_ledger] and [evaluation] instead
  std::vector<std::string> inputs;  ///< KEY=FILE, in place of those files: jobs::BringFiles
  std::string mode;                 ///< "rdp", "gdp" or "closed"; empty: the party file's
  std::string orders;               ///< of mode rdp; empty: the default ones
  std::vector<std::string> jobs;    ///< job files
  bool equal_by_chance = false;     ///< of records that another population has, too: they are others'
  std::int64_t lost_steps = 0;      ///< steps that a resumed run of each job may lose and do again
  jobs::JobTypes types = jobs::ShippedTypes();
};

/// Opens a ledger: fixes its filter. Throws ConfigError where there is one already, and as LedgerFile.
int InitLedger(const LedgerOpenOptions& options);

/// Enters jobs in a closed ledger, all or none, and prints what they cost together. Throws BudgetError beyond
/// the cap; ConfigError for a job that cannot be entered; else as LedgerFile.
int EnterJobs(const LedgerOpenOptions& options);

/// Declares the data to be of the party file's population, and prints how much of it is new there. Throws
/// ConfigError where the party file names no population; DataError for records that another population has,
/// too; else as LedgerFile.
int DeclareData(const LedgerOpenOptions& options);

}  // namespace trefoil::runtime
