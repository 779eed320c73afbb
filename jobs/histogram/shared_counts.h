#pragma once
#include <cstdint>
#include <string>

#include "data/columns/category_column.h"
#include "data/dataset/data_files.h"
#include "data/formats/positioned_file.h"
#include "jobs/ranks/same_files.h"
#include "jobs/records/owner_warnings.h"
#include "mpc/ranks.h"

namespace trefoil::jobs {

/// What one machine of a party counts; of a party of one machine all.
struct OwnValueCounts {
  ValueCounts own{};  ///< of the files that this machine has read
  std::int64_t absent =
      0;  ///< of those that the job declares and the party does not have: as many as it reports for
  ValueCounts of_party{};  ///< what all machines of the party have
};

/// What of a file that a rank has counted has to be rank 0's: a sample of it, or, as a ledger is of the
/// files' hash, every byte.
enum class CompareBy { kSample, kWhole };

/// Counts a party's records, of which the job declares so many. Throws as data::ForEachCategory and
/// data::RequireCapacity.
[[nodiscard]] OwnValueCounts LoadValues(const data::DataFiles& files, const data::CategoryColumn& column,
                                        std::int64_t declared);

/// The same by the machines of a party, all of which see its files: every rank calls it, and reads whole
/// files, rank r the files r, r + R, ... of the table. So each record is read once, and a table of fewer
/// files leaves machines without any. Machines of which none has more than an R-th of `declared` report for
/// an R-th each, whatever they have. Files are compared with rank 0's by a `sample`, before and after they
/// are read; by kWhole rank 0 reads all of them besides. Throws as LoadValues; ConfigError at a rank whose
/// `by` is not rank 0's; DataError as DigestsOfRank0, RequireSameFile and data::RequireSameHeader;
/// NetworkError.
[[nodiscard]] OwnValueCounts LoadSharedValues(const data::DataFiles& files,
                                              const data::CategoryColumn& column, std::int64_t declared,
                                              CompareBy by, mpc::Ranks& ranks,
                                              FileDigest sample = data::SampleSha256);

/// Throws ConfigError where `files` are what a query gives: every machine would ask the database anew, which
/// may have changed meanwhile.
void RequireNoQuery(const data::DataFiles& files, const std::string& party_file);

}  // namespace trefoil::jobs
