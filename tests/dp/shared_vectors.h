#pragma once
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace trefoil::dp {

/// A file of shared reference values, where they are: $TREFOIL_SHARED, else beside the project.
inline std::optional<nlohmann::json> SharedVectors(const std::string& name) {
  const char* shared = std::getenv("TREFOIL_SHARED");
  const std::string folder = shared != nullptr ? shared : TREFOIL_SOURCE_DIR "/../shared";
  std::ifstream file(folder + "/vectors/" + name);
  if (!file) return std::nullopt;
  return nlohmann::json::parse(file);
}

inline std::optional<nlohmann::json> SharedAccountingVectors() { return SharedVectors("accounting.json"); }

}  // namespace trefoil::dp
