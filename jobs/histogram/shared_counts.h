#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/columns/category_column.h"
#include "data/dataset/data_files.h"
#include "jobs/records/owner_warnings.h"
#include "mpc/ranks.h"

namespace trefoil::jobs {

/// What one machine of a party counts; of a party of one machine all.
struct OwnRecordValues {
  std::vector<std::optional<std::size_t>> records{};  ///< as of data::Categories
  std::size_t absent =
      0;  ///< of those that the job declares and the party does not have: as many as it reports for
  ValueCounts of_party{};  ///< what all machines of the party have
};

/// Reads a party's records, of which the job declares so many. Throws as data::ReadCategories.
[[nodiscard]] OwnRecordValues LoadValues(const data::DataFiles& files, const data::CategoryColumn& column,
                                         std::int64_t declared);

/// The same by the machines of a party, all of which see its files: every rank calls it, and reads whole files, rank r the
/// files r, r + R, ... of the table. So each record is read once, and a table of fewer files leaves machines without any.
/// Throws as LoadValues; DataError as RequireSameFiles, and naming a file whose header is not the first file's; NetworkError.
[[nodiscard]] OwnRecordValues LoadSharedValues(const data::DataFiles& files,
                                               const data::CategoryColumn& column, std::int64_t declared,
                                               mpc::Ranks& ranks);

/// Throws ConfigError where `files` are what a query gives: every machine would ask the database anew, which may have
/// changed meanwhile.
void RequireNoQuery(const data::DataFiles& files, const std::string& party_file);

}  // namespace trefoil::jobs
