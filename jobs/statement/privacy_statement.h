#pragma once
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dp/record/record.h"
#include "jobs/statement/several_rows.h"

namespace trefoil::jobs {

/// One thing that a privacy statement says, in words and, where there is one, as a number.
struct StatementEntry {
  std::string key;    ///< for programs: snake_case; warnings share one
  std::string title;  ///< for people
  std::string sentence;
  std::optional<double> number{};  ///< an epsilon is infinity where there is no guarantee
};

/// What a statement is about.
struct StatementSource {
  dp::TrainingRecord record;  ///< as executed, or as planned
  double delta = 0;           ///< of both epsilons
  dp::AccountantKind accountant = dp::AccountantKind::kRdp;
  std::vector<RowsEpsilon> rows{};  ///< EpsilonsOfRows of the record, at this delta
};

/// What the record promises and to whom: both epsilons, delta and how it is split, the neighbouring relation
/// and the unit of privacy, as far as the record says them, each event with its sampling and noise, the
/// accountant, every assumption that the numbers rest on, and what they do not cover. The one source of these
/// sentences, for every command.
/// Throws: ConfigError unless delta is in (0, 1).
[[nodiscard]] std::vector<StatementEntry> PrivacyStatement(const StatementSource& source);

/// What the epsilon of releases with one noise multiplier rests on, where there is no record: neighbours,
/// unit, the sampling assumption, the accountant (with how far it is above the exact epsilon, where it says
/// so), and what such a figure leaves out.
[[nodiscard]] std::vector<StatementEntry> ReleasesStatement(double sampling_rate,
                                                            dp::AccountantKind accountant, double error);

/// The number of an entry that has one, rounded outwards: a noise multiplier down, all others up.
[[nodiscard]] std::string NumberText(const StatementEntry& entry);

/// The entries as text: a line "TITLE  NUMBER" where there is a number, and the sentence below it, wrapped;
/// with what a record says as OneLine shows it, for a terminal.
[[nodiscard]] std::string ToText(const std::vector<StatementEntry>& statement);

/// The entries as an array of objects with key, title, sentence and, where there is one, number: null for
/// infinity.
[[nodiscard]] nlohmann::ordered_json ToJson(const std::vector<StatementEntry>& statement);

}  // namespace trefoil::jobs
