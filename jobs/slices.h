#pragma once
#include <cstddef>
#include <vector>

#include "data/dataset/load.h"
#include "jobs/config/party_file.h"
#include "jobs/records/schema.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// The slice of each record, from 0 to less than `slices`: by SHA-256 of the record as it was read, label
/// included. So a record that is added or removed moves no other one, wherever in its file it stands, and
/// equal records are all in one slice. (A record that is replaced by another may change two slices.)
[[nodiscard]] std::vector<std::size_t> SlicesByHash(const data::Table& table, std::size_t slices);

/// The slices of this party's [data], records in the file's order, with the job's features, by so many
/// threads (0: all cores). Throws as
/// LoadRecords().
[[nodiscard]] std::vector<ml::OwnRecords> LoadSlicesByHash(const RecordSchema& schema, const PartyFile& party,
                                                           std::size_t slices, std::size_t threads = 0);

}  // namespace trefoil::jobs
