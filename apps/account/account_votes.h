#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trefoil::apps {

/// How an epsilon of the votes is made that may be published; all public, chosen without looking at the
/// votes.
struct SanitiseOptions {
  std::optional<double> order{};    ///< of the RDP that is published; empty: none is
  std::optional<double> beta{};     ///< of its smooth sensitivity; default 0.2 / order
  std::optional<double> noise{};    ///< in units of that sensitivity
  std::optional<double> failure{};  ///< probability that it is below the cost; default delta
};

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
  SanitiseOptions sanitise{};
  bool json = false;
};

/// Prints epsilon whatever the votes are, and of these votes, by the conversion of all other commands and by
/// the papers'; where it is asked for, also one of these votes that may be published, with noise drawn anew.
/// Returns the exit code. Throws ConfigError for an option that is missing, superfluous or out of range;
/// DataError as ReadVotes.
int AccountVotes(const VoteOptions& options);

}  // namespace trefoil::apps
