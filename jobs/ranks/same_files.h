#pragma once
#include <filesystem>
#include <vector>

#include "mpc/ranks.h"

namespace trefoil::jobs {

/// Every rank calls it with its files, of which it is going to read parts. Throws DataError at a rank that has another file
/// than rank 0 in the place of one, as far as data::SampleSha256 tells, or another number of them; and where one cannot be
/// read.
void RequireSameFiles(const std::vector<std::filesystem::path>& files, mpc::Ranks& ranks);

}  // namespace trefoil::jobs
