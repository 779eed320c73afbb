#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trefoil::apps {

/// `trefoil account --votes`: what answers of a vote file cost.
struct VoteOptions {
  std::string votes;                        ///< the file
  std::string mechanism;                    ///< "lnmax", "gnmax" or "confident-gnmax"
  std::optional<double> scale{};            ///< lnmax: of the Laplace noise, 1 / gamma
  std::optional<double> sigma{};            ///< gnmax, confident-gnmax: of an answer's normal noise
  std::optional<double> threshold{};        ///< confident-gnmax
  std::optional<double> threshold_sigma{};  ///< confident-gnmax: of the threshold's noise
  std::optional<double> delta{};
  std::optional<std::int64_t> queries{};  ///< only the first so many
  std::string rdp_orders;
  bool json = false;
};

/// Prints epsilon, whatever the votes are and for these votes, in the conversion that the others use and in
/// the papers'. Returns the exit code. Throws ConfigError for an option that is missing, superfluous or out
/// of range; DataError as ReadVotes.
int AccountVotes(const VoteOptions& options);

}  // namespace trefoil::apps
