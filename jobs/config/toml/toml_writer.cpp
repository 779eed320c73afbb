#include "jobs/config/toml/toml_writer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

std::string Key(const std::string& key) {
  const auto bare = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  return !key.empty() && std::all_of(key.begin(), key.end(), bare) ? key : TomlString(key);
}

}  // namespace

std::string TomlString(const std::string& text) {
  // A JSON string is a TOML string, except that TOML wants the delete character escaped.
  std::string quoted;
  try {
    quoted = Json(text).dump();
  } catch (const Json::type_error&) {
    throw ConfigError("found a name that is not UTF-8, expected one that a TOML file can hold");
  }
  for (auto at = quoted.find('\x7F'); at != std::string::npos; at = quoted.find('\x7F', at))
    quoted.replace(at, 1, "\\u007F");
  return quoted;
}

std::string TomlValue(const Json& value) {
  if (value.is_string()) return TomlString(value.get<std::string>());
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, element] : value.items()) {
    if (!text.empty()) text += ", ";
    text += value.is_object() ? Key(key) + " = " + TomlValue(element) : TomlValue(element);
  }
  if (value.is_object()) return text.empty() ? "{}" : "{ " + text + " }";
  return "[" + text + "]";
}

std::string TomlLines(const Json& table) {
  std::string text;
  for (const auto& [key, value] : table.items()) text += Key(key) + " = " + TomlValue(value) + "\n";
  return text;
}

std::string DataTables(const nlohmann::json& table, const std::string& name) {
  Json lines = table;
  std::string tables;
  for (const auto& [key, value] : table.items()) {
    const bool several = value.is_array() && !value.empty() && value.front().is_object();
    if (!several && !value.is_object()) continue;
    const auto head = fmt::format("\n{}{}.{}{}\n", several ? "[[" : "[", name, key, several ? "]]" : "]");
    for (const auto& one : several ? value : Json::array({value})) tables += head + TomlLines(one);
    lines.erase(key);
  }
  return fmt::format("\n[{}]\n", name) + TomlLines(lines) + tables;
}

}  // namespace trefoil::jobs
