#include "jobs/dpsgd/held_out_files.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "base/error.h"

namespace trefoil::jobs {
namespace {

/// What the job declares of held-out records, and how errors name it.
struct Declared {
  std::int64_t rows;
  const char* table;  ///< of the party file
  const char* holder_key;
  const char* rows_key;
};

ml::OwnRecords LoadTable(const DpsgdSettings& job, const data::DataFiles& files, const Declared& declared,
                         const std::string& party_file, const LoadOptions& options) {
  if (files.empty()) {
    throw ConfigError(fmt::format("{}: missing [{}], expected x and y, or file: the job's {} is this party",
                                  party_file, declared.table, declared.holder_key));
  }
  auto records = LoadRecords(job, files, options);
  if (records.x.rows() != declared.rows) {
    throw DataError(fmt::format("{}: found {} records, expected the {} of {}", files.place().string(),
                                records.x.rows(), declared.rows, declared.rows_key));
  }
  return {.x = std::move(records.x), .y = std::move(records.y)};
}

}  // namespace

bool HoldsTest(const DpsgdSettings& job, int party) {
  return job.evaluation && job.evaluation->test.holder == party;
}

bool HoldsValidation(const DpsgdSettings& job, int party) {
  return job.selects(ml::Selection::kPublicValidation) && job.initialisation->validation.holder == party;
}

ml::HeldOutRecords LoadHeldOut(const DpsgdSettings& job, const PartyFile& party,
                               const std::string& party_file, const LoadOptions& options) {
  ml::HeldOutRecords records;
  if (HoldsTest(job, party.id)) {
    records.test =
        LoadTable(job, party.evaluation,
                  {job.evaluation->test.rows, "evaluation", "evaluation.holder", "evaluation.rows"},
                  party_file, options);
  }
  if (HoldsValidation(job, party.id)) {
    records.validation = LoadTable(job, party.validation,
                                   {job.initialisation->validation.rows, "validation",
                                    "initialisation.validation_holder", "initialisation.validation_rows"},
                                   party_file, options);
  }
  return records;
}

}  // namespace trefoil::jobs
