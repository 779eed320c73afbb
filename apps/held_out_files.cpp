#include "apps/held_out_files.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "base/error.h"

namespace trefoil::apps {
namespace {

/// `table` is the section of both files.
ml::OwnRecords LoadTable(const Job& job, const data::DataFiles& files, std::int64_t rows,
                         const std::string& table, const std::string& party_file,
                         const LoadOptions& options) {
  if (files.x.empty() && files.file.empty()) {
    throw ConfigError(
        fmt::format("{}: missing [{}], expected x and y, or file: the job's {}.holder is this party",
                    party_file, table, table));
  }
  auto records = LoadRecords(job, files, options);
  if (records.x.rows() != rows) {
    throw DataError(fmt::format("{}: found {} records, expected the {} of {}.rows",
                                (files.file.empty() ? files.x : files.file).string(), records.x.rows(), rows,
                                table));
  }
  return {.x = std::move(records.x), .y = std::move(records.y)};
}

}  // namespace

ml::HeldOutRecords LoadHeldOut(const Job& job, const PartyFile& party, const std::string& party_file,
                               const LoadOptions& options) {
  ml::HeldOutRecords records;
  if (job.evaluation && job.evaluation->holder == party.id) {
    records.test = LoadTable(job, party.evaluation, job.evaluation->rows, "evaluation", party_file, options);
  }
  return records;
}

}  // namespace trefoil::apps
