#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dp/record/record.h"
#include "jobs/statement/bound_text.h"

namespace trefoil::jobs {

/// What somebody is promised who has so many rows (units of privacy), at one owner or at several.
struct RowsEpsilon {
  std::int64_t rows = 0;
  double epsilon_outsider = 0;  ///< infinity where there is no guarantee at this delta
  double epsilon_insider = 0;
  double delta = 0;
};

/// For 1, 2, 5 and 10 rows (dp::EpsilonsOfUnits), or for `most` units where more rows change no more. Cost:
/// about a second for a sampled training. Throws: ConfigError unless delta is in (0, 1).
[[nodiscard]] std::vector<RowsEpsilon> EpsilonsOfRows(const dp::TrainingRecord& record, double delta,
                                                      dp::AccountantKind kind = dp::AccountantKind::kRdp,
                                                      std::optional<std::int64_t> most = {});

/// What a statement of this record says of them: for whom they are, and in what the data sets differ that
/// they compare. Pre: `rows` is not empty.
[[nodiscard]] std::string RowsSentence(const dp::TrainingRecord& record,
                                       const std::vector<RowsEpsilon>& rows);

/// "k = 1: 2.72 outsider, 3.85 insider; k = 2: ...", rounded up to four digits.
[[nodiscard]] std::string ToText(const std::vector<RowsEpsilon>& rows, FirstEpsilon first);

/// A list of objects with k, epsilon_outsider, epsilon_insider (null for infinity) and delta.
[[nodiscard]] nlohmann::ordered_json ToJson(const std::vector<RowsEpsilon>& rows);

}  // namespace trefoil::jobs
