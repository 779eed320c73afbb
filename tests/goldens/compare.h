#pragma once
#include <filesystem>
#include <set>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace trefoil::goldens {

/// Where the goldens are, and whether tests write them in place of comparing; as the command line says.
struct Goldens {
  std::filesystem::path folder;
  bool renew = false;
};
[[nodiscard]] Goldens& TheGoldens();

/// Fails the test, and prints the lines that differ, unless the file `name` of the goldens holds `json`,
/// indented; with --renew it writes the file.
void ExpectGolden(const std::string& name, const nlohmann::ordered_json& json);

/// Fails the test unless the folder of the goldens holds exactly files of these names; with --renew it
/// removes the others.
void ExpectNoOtherGoldens(const std::string& folder, const std::set<std::string>& names);

/// The same with every number that is no whole one at twelve digits: what libraries of mathematics may turn
/// otherwise in the last place.
[[nodiscard]] nlohmann::ordered_json InTwelveDigits(const nlohmann::ordered_json& json);

}  // namespace trefoil::goldens
