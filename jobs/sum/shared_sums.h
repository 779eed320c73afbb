#pragma once
#include <string>

#include "base/secrets/random.h"
#include "jobs/config/party_file.h"
#include "jobs/sum/own_sums.h"
#include "jobs/sum/settings.h"
#include "mpc/ranks.h"

namespace trefoil::jobs {

/// LoadOwnSums by the machines of a party, all of which see its files: every rank calls it, reads its part of each, rows
/// or, of what owners have summed, numbers, and gets its slice of each call's sum (ml::SliceOf). Together the slices are what
/// one machine would have by rank 0's `coins`, which alone are used; so is `rows`. Keys are rank 0's to read. Memory: of a
/// file some rows at a time, a vector of job.dimension, and of the coins a word a row at rank 0.
/// Throws as LoadOwnSums; DataError as RequireSameFiles and RequireParts; NetworkError.
[[nodiscard]] OwnSums LoadSharedSums(const SumSettings& job, const PartyFile& party,
                                     const std::string& party_file, RandomStream& coins, mpc::Ranks& ranks);

/// Throws as LoadOwnSums by the party file and the heads of the files, and DataError for a file of which no part can be read
/// alone (data::NpyNumbers).
void RequireParts(const SumSettings& job, const PartyFile& party, const std::string& party_file);

}  // namespace trefoil::jobs
