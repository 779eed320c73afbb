#pragma once
#include <filesystem>

namespace trefoil::fuzz {

/// Reads a file as teachers' labels and as votes. Data errors are what they may answer.
void ReadVoteFiles(const std::filesystem::path& path);

}  // namespace trefoil::fuzz
