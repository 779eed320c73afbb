#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jobs/config/party_file.h"
#include "jobs/config/toml/tomlplusplus.h"

namespace trefoil::jobs {

class Interview;
class Job;
struct DraftSource;

/// What logits of classes predict, beside which of them is the largest.
enum class LogitMeaning {
  kLogOdds,  ///< the class's log-odds
  kShare,    ///< the class's share, less 1/2: what the squared loss fits
  kVotes     ///< what a student makes of its teachers' votes: no share
};

/// A type of job.
struct JobType {
  const char* name;  ///< as a job's `type` says it
  /// Reads a document, which `file` names in errors, and checks it whole. Throws ConfigError as ReadJob.
  std::unique_ptr<Job> (*read)(const toml::table& root, const std::string& file);
  std::string (*schema)(const char* name);  ///< a JSON Schema of its files
  InputFields inputs = nullptr;  ///< of the party file, what only some types need; several may name one
  /// A job file for records as the source has them, from answers to questions. Throws as Interview. Null:
  /// none is drafted.
  std::string (*draft)(const DraftSource& source, Interview& interview) = nullptr;
  LogitMeaning logits = LogitMeaning::kLogOdds;  ///< of the linear models that its jobs make
};

/// The types that a program knows; they outlive it.
using JobTypes = std::span<const JobType>;

/// Those of this program. Any may be left out, or others added, by who calls the functions that take types.
[[nodiscard]] JobTypes ShippedTypes();

/// As a job's `type` says them.
[[nodiscard]] std::vector<std::string> NamesOf(JobTypes types);

}  // namespace trefoil::jobs
