#pragma once
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

namespace trefoil::dp {

/// A file of tests/reference/vectors. Throws nlohmann::json::exception where there is none.
inline nlohmann::json ReferenceVectors(const std::string& name) {
  std::ifstream file(TREFOIL_SOURCE_DIR "/tests/reference/vectors/" + name);
  return nlohmann::json::parse(file);
}

}  // namespace trefoil::dp
