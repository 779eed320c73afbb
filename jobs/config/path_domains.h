#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "jobs/config/domains.h"

namespace trefoil::jobs {

/// Texts of a kind, which `expected` describes. All of them match the regular expression `pattern`, if there
/// is one; not all that match are read.
struct TextOfKind {
  const char* kind;
  const char* expected;
  const char* pattern = nullptr;

  [[nodiscard]] std::string Expected(const toml::node* found) const {
    return found == nullptr || !found->is_string() ? Text{}.Expected(found) : expected;
  }
  void Describe(nlohmann::json& schema) const {
    schema.update({{"type", "string"}, {"x-type", kind}});
    if (pattern != nullptr) schema["pattern"] = pattern;
  }

 protected:
  /// Whether the node is a text that `parse` takes without a ConfigError.
  template <typename T, typename F>
  static bool ReadBy(const F& parse, const toml::node& node, T& member) {
    if (!node.is_string()) return false;
    try {
      member = parse(node.as_string()->get());
      return true;
    } catch (const ConfigError&) {
      return false;
    }
  }
};

/// A path, relative to the folder of the file that it stands in.
struct Path : TextOfKind {
  Path() : TextOfKind{"path", "a path", "."} {}
  bool Read(const toml::node& node, std::filesystem::path& member) const;
  void Write(const std::filesystem::path& member, nlohmann::json& json) const;
};

/// One path, or different ones of one table.
struct Paths {
  [[nodiscard]] std::string Expected(const toml::node* found) const;
  bool Read(const toml::node& node, std::vector<std::filesystem::path>& member) const;
  void Write(const std::vector<std::filesystem::path>& member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

}  // namespace trefoil::jobs
