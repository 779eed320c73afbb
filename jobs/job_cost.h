#pragma once
#include <array>
#include <string>

#include "ml/plan/run_cost.h"

namespace trefoil::jobs {

/// Of one number: two words.
inline constexpr double kBytesOfShare = 16;

/// What a job that is no training costs, as declared.
struct JobCost {
  ml::SessionCost session{};
  std::string less{};  ///< why a run may take less; empty: it takes exactly this
  ml::Work work{};
  std::string apart{};  ///< what parties compute by themselves in the clear, which no plan counts; or nothing
  /// Bytes that each party cannot do without: what it brings, and the largest shares that it holds at once.
  std::array<double, net::kParties> memory{};
  std::array<double, net::kParties> results{};  ///< bytes of each party's files that grow with the job
};

}  // namespace trefoil::jobs
