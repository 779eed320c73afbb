#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "mpc/ranks.h"

namespace trefoil::jobs {

/// By which a file is told from others: data::SampleSha256 or data::FileSha256.
using FileDigest = std::string (*)(const std::filesystem::path&);

/// Every rank calls it with its files, of which it reads parts. Returns the digests of rank 0's, which alone
/// reads them here, in order. Throws DataError at a rank that has another number of files; as the digest;
/// NetworkError.
[[nodiscard]] std::vector<std::string> DigestsOfRank0(const std::vector<std::filesystem::path>& files,
                                                      FileDigest digest, mpc::Ranks& ranks);

/// For each rank and `file` that it reads, before or after. Throws DataError unless the digest `found` of it
/// is that `of_rank_0`, of rank 0's file.
void RequireSameFile(const std::filesystem::path& file, const std::string& found,
                     const std::string& of_rank_0);

}  // namespace trefoil::jobs
