#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dp/record/record.h"
#include "ml/plan/run_cost.h"
#include "mpc/cost.h"

namespace trefoil::jobs {

/// Of one number: two words.
inline constexpr double kBytesOfShare = 16;
/// What a run directory takes beside what grows with the job: job, log, record, summary.
inline constexpr double kBytesOfSmallFiles = 1 << 20;

/// JobCost::apart of a job that opens sums of deposited rows.
inline constexpr const char* kSumOfRows = "the sums of deposited rows";

/// What SharedRecords::Share costs where it finds `deposits` of `rows` rows each and checks them all. A job
/// says how many rows all its deposits have at most, not how these are divided.
struct DepositChecks {
  std::int64_t deposits = 0;
  std::int64_t rows = 0;  ///< of each, padding included
  ml::SessionPart part{};
};

/// Bytes of what a party knows of a run of calls (Output::ResumeCalls) that begins.
inline constexpr std::uint64_t kBytesOfNewRun = 66;

/// What a job without steps costs, as declared.
struct JobCost {
  ml::SessionCost session{};
  std::string less{};  ///< why a run may take less; empty: it takes exactly this
  ml::Work work{};
  std::string apart{};        ///< what no plan counts, computed in the clear; or nothing
  std::string before{};       ///< what a party computes before it connects; or nothing
  double before_seconds = 0;  ///< of that, at the party that it takes longest, as of Work::clear_seconds
  /// Bytes that each party takes, about: what it brings, and the largest shares that it holds at once. What a
  /// run takes may be a quarter less.
  std::array<double, net::kParties> memory{};
  std::array<double, net::kParties> results{};  ///< bytes of each party's files that grow with the job

  /// Then this.
  void Add(const ml::SessionPart& part) {
    session.Add(part.messages);
    work += part.work;
  }
};

/// What a run is planned to cost in one form of comparison.
struct PlannedRun {
  std::string form{};  ///< where a run has the choice; else empty
  ml::RunCost cost{};
  std::string less{};               ///< as of JobCost
  std::optional<double> seconds{};  ///< where the link is known
  bool chosen = true;               ///< whether a run may take this form; on a known link one does
  std::optional<mpc::Cost> step{};  ///< of one step, where the job has steps
};

/// What a job releases and costs at most, from the job alone.
struct JobPlan {
  std::vector<dp::RecordedEvent> events{};  ///< what it charges; none where another run's record covers it
  std::vector<PlannedRun>
      forms{};           ///< that the job allows; none where they depend on a model that is not known
  std::string apart{};   ///< as of JobCost
  std::string before{};  ///< what a party does before the session, in no time here, and how long it takes
  std::string sizes{};   ///< what numbers are shared as, where that is worth a line
  std::optional<std::array<double, net::kParties>> memory{};  ///< as of JobCost; nothing as of `forms`
  std::array<double, net::kParties> disk{};                   ///< bytes of each party's run directory
  nlohmann::ordered_json figures = nlohmann::ordered_json::object();  ///< the type's own, for programs
};

}  // namespace trefoil::jobs
