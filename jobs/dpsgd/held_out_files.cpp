#include "jobs/dpsgd/held_out_files.h"

#include <spdlog/fmt/fmt.h>

#include <map>
#include <utility>

#include "base/error.h"
#include "data/dataset/data_hash.h"

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

/// Refuses one data set under two names: what is said without charge of held-out records would be of records
/// that the epsilons are for.
void RequireDifferentData(const DpsgdSettings& job, const PartyFile& party) {
  std::map<std::string, std::string> tables;  // by the hash of their data
  const auto add = [&tables](const std::string& table, const data::DataFiles& files) {
    if (files.empty()) return;
    const auto [first, is_new] = tables.emplace(data::DataHash(files), table);
    if (!is_new) {
      throw DataError(fmt::format("{}: found the same data in [{}] and [{}], expected other records in each",
                                  files.place().string(), first->second, table));
    }
  };
  add("data", party.data);
  if (HoldsTest(job, party.id)) add("evaluation", party.evaluation);
  if (HoldsValidation(job, party.id)) add("validation", party.validation);
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
  RequireDifferentData(job, party);
  return records;
}

}  // namespace trefoil::jobs
