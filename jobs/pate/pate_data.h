#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "jobs/config/party_file.h"
#include "jobs/job.h"
#include "jobs/pate/settings.h"
#include "ml/clear/linear_classifier.h"

/// Records of a `pate` job that trains its teachers or a student: job.schema is present throughout.
namespace trefoil::jobs {

/// Deals the training records of `source` to the parties' teachers, as [local] says, or their teachers'
/// labels where they bring them, and the public records to all: queries-idx3-ubyte[.gz], queries.csv,
/// queries.npy or queries.npz where there is one, else the first job.public_records() test records, without
/// labels where these are in a file of their own. The other test records, where there are any, go to
/// deal.test. Returns what to say of it. Throws DataError or ConfigError.
std::string DealPateRecords(const PateSettings& job, const std::filesystem::path& source,
                            const SplitTarget& deal);

/// The public records of the party file's pate.queries, as features, by so many threads (0: all cores, as
/// below). Throws DataError where there are others
/// than job.public_records(), and as LoadRecords().
[[nodiscard]] ml::FeatureRows LoadPublicRecords(const PateSettings& job, const PartyFile& party,
                                                std::size_t threads = 0);

/// This party's records in one slice for each of its teachers: as its [owners] rows say, in the file's order,
/// or else by a hash of the record as it is read, label included, so that a record that is added or removed
/// moves no other one, wherever in the file it stands. A slice may be empty, whatever their number: a refusal
/// of few records would be seen by the others. Pre: job.teacher.
/// Throws: ConfigError where the party file names no [data], or files that a job with trained teachers does
/// not have, or numbers of several owners' images in folders, which have no order; as LoadOwnRecords().
[[nodiscard]] std::vector<ml::OwnRecords> LoadSlices(const PateSettings& job, const PartyFile& party,
                                                     const std::string& party_file, std::size_t threads = 0);

}  // namespace trefoil::jobs
