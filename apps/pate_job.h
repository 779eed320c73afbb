#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/toml_reader.h"

namespace trefoil::apps {

/// How a query is answered (docs/privacy.md, "PATE").
enum class VoteMechanism { kLnMax, kGnMax, kConfidentGnMax, kInteractiveGnMax };

/// A job of type "pate", checked, with every default filled in. Deviations are of two parties' noise, in
/// votes.
struct PateJob {
  std::string name;
  std::string data_name;
  std::array<std::int64_t, 3> teachers{};  ///< public, of each party
  std::int64_t queries = 0;
  int classes = 0;
  VoteMechanism mechanism = VoteMechanism::kConfidentGnMax;
  double scale = 0;            ///< LNMax: of the Laplace noise, 1 / gamma
  double sigma = 0;            ///< the others: of an answer's noise
  double threshold = 0;        ///< Confident and Interactive, as all below: votes
  double threshold_sigma = 0;  ///< of the threshold's noise
  std::int64_t answers = 0;    ///< at most so many: what is charged
  double reinforce =
      0;  ///< Interactive: a student's prediction above it is taken for a query without an answer
  double delta = 0;
  std::vector<int> to{0, 1, 2};

  [[nodiscard]] bool has_threshold() const {
    return mechanism == VoteMechanism::kConfidentGnMax || mechanism == VoteMechanism::kInteractiveGnMax;
  }
  [[nodiscard]] std::int64_t all_teachers() const { return teachers[0] + teachers[1] + teachers[2]; }
};

/// "lnmax", "gnmax", "confident-gnmax" or "interactive-gnmax".
[[nodiscard]] const char* NameOf(VoteMechanism mechanism);

/// Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] PateJob ReadPateJob(const toml::table& root, const std::string& file);

/// The job as compact JSON, keys sorted, all defaults filled in.
[[nodiscard]] std::string PateJobJson(const PateJob& job);

}  // namespace trefoil::apps
