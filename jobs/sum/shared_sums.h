#pragma once
#include <cstdint>
#include <string>

#include "base/secrets/random.h"
#include "jobs/config/party_file.h"
#include "jobs/sum/own_sums.h"
#include "jobs/sum/settings.h"
#include "mpc/ranks.h"

namespace trefoil::jobs {

/// LoadOwnSums by the machines of a party, all of which see its files: every rank calls it, reads its part of
/// each, rows or, of what owners have summed, numbers, and gets its slice of each call's sum (ml::SliceOf).
/// Together the slices are what one machine would have by rank 0's `coins`, which alone are used; so is
/// `rows`. Keys are rank 0's to read. Throws as LoadOwnSums; DataError for a file of which no part can be
/// read alone (data::NpyNumbers), and at a rank whose file is not rank 0's, when it is opened or once its
/// part is read, by its shape and PositionedFile::Sample; NetworkError.
[[nodiscard]] OwnSums LoadSharedSums(const SumSettings& job, const PartyFile& party,
                                     const std::string& party_file, RandomStream& coins, mpc::Ranks& ranks);

/// The bytes that it takes at most beside what it returns, and coins and groups.
[[nodiscard]] double MemoryOfSharedSums(const SumSettings& job);

/// Reads all that the machines of a party would, by one, in no more memory. Returns how many rows there are,
/// of all calls. Throws as LoadSharedSums.
[[nodiscard]] std::int64_t CheckSharedSums(const SumSettings& job, const PartyFile& party,
                                           const std::string& party_file);

}  // namespace trefoil::jobs
