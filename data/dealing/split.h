#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/dataset/folders.h"
#include "data/dataset/load.h"
#include "data/dataset/spec.h"

namespace trefoil::data {

/// How `local` deals a data set to three parties (the job's [local] split).
enum class SplitKind {
  kEven,       ///< row i to party i mod 3
  kSorted,     ///< stably by label, then contiguous thirds
  kFractions,  ///< contiguous parts of the given fractions
};

struct Split {
  SplitKind kind = SplitKind::kEven;
  std::array<double, 3> fractions{};  ///< with kFractions: not negative, of sum at most 1
};

struct SplitReport {
  std::array<std::int64_t, 3> rows{};  ///< what each party got
  std::int64_t left_out = 0;           ///< rows of the source that went to nobody
};

/// The party of each row, -1 for none. The first sum(capacities) rows are split; a party takes its rows in
/// the split's order until its capacity is full, what is beyond that goes to nobody. Throws ConfigError
/// "local.split: ..." if the fractions are negative, not finite or of sum above 1.
[[nodiscard]] std::vector<int> AssignRows(const Split& split, const std::vector<int>& labels,
                                          const std::array<std::int64_t, 3>& capacities);

/// Splits the source by AssignRows(split, labels, spec.rows) into PartyFiles() of each folder, in the
/// source's own format: bytes of records are copied, not converted. Makes the folders. The source is checked
/// as by Load() first, so that errors name the source's rows. A vertical spec's columns are split instead
/// (data/dataset/vertical.h). Throws as Load() and AssignRows().
SplitReport SplitSource(const DataSpec& spec, const DataFiles& source, const Split& split,
                        const std::array<std::filesystem::path, 3>& party_folders);

/// As SplitSource(), each row to the party that `party_of_row` names, -1 for none. Pre: one for each row of
/// the source; the spec is not vertical. Throws as Load(); DataError where images are not as many any more.
SplitReport SplitRows(const DataSpec& spec, const DataFiles& source, const std::vector<int>& party_of_row,
                      const std::array<std::filesystem::path, 3>& party_folders);

}  // namespace trefoil::data
