#include "jobs/owners_rows.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "jobs/records/owner_warnings.h"
#include "jobs/statistics/layout.h"
#include "jobs/statistics/own_sum.h"

namespace trefoil::jobs {
namespace {

/// Of what an owner's files have, before longer ones are shortened.
std::vector<std::string> ShortenedVectors(const data::Matrix& vectors, double norm) {
  const auto longer = (vectors.cast<double>().rowwise().norm().array() > norm).count();
  if (longer == 0) return {};
  return {
      fmt::format("{} of {} vectors are longer than norm_bound, {}, and are shortened to it: the sum is of "
                  "what is left; a study with another one would tell that some here are long",
                  longer, vectors.rows(), norm)};
}

}  // namespace

data::DataSpec OwnersFiles(const RecordSchema& records) {
  return records.statistics ? RecordsOf(*records.statistics) : records.data;
}

OwnersRows LoadOwnersRows(RecordSchema records, const data::DataFiles& files, const LoadOptions& options) {
  OwnersRows own;
  if (records.statistics) {
    auto made = RowsOfStatistics(*records.statistics, DepositedLayoutOf(*records.statistics), files);
    own.table.x = std::move(made.rows);
    own.warnings = std::move(made.warnings);
  } else if (records.vectors) {
    auto read = ReadRecords(records, files, options);
    own.warnings = ShortenedVectors(read.x, records.features.row_norm);
    own.table = WithFeatures(records, std::move(read), options);
  } else {
    own.table = LoadRecords(records, files, options);
  }
  const auto rows = own.table.x.rows();
  if (options.labels == data::LabelUse::kIgnored) own.table.y.clear();
  if (!records.added_up()) {
    records.data.rows[0] = rows;  // the capacity is the owner's own word
    ml::OwnRecords all{.x = std::move(own.table.x), .y = std::move(own.table.y)};
    own.warnings = OwnerWarnings(records, 0, all);
    own.table.x = std::move(all.x);
    own.table.y = std::move(all.y);
  }
  if (options.labels == data::LabelUse::kIgnored) own.table.y.assign(static_cast<std::size_t>(rows), 0);
  return own;
}

}  // namespace trefoil::jobs
