#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace trefoil {

/// Refuses to write over what a command reads. Throws ConfigError "OPTION: found the input itself, ..." where
/// `out` is one of `inputs`, under whatever name; of empty ones, and of those that are not there, nothing.
void CheckOutputFile(const std::string& option, const std::filesystem::path& out,
                     const std::vector<std::filesystem::path>& inputs);

}  // namespace trefoil
