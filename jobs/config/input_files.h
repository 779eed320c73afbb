#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "jobs/config/party_file.h"

namespace trefoil::jobs {

/// Lets a party bring these files in place of those that its party file names, by their keys there: "data.x",
/// "data.y", "data.file", the same of "evaluation" and "validation", "features.model", and what types of jobs
/// declare (PartyFile::inputs). Where one of a set of records is named, that set has no other file. Throws
/// ConfigError for another key.
void BringFiles(PartyFile& party, const std::map<std::string, std::filesystem::path>& files);

}  // namespace trefoil::jobs
