#include "jobs/config/toml_writer.h"

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

std::string DataTables(nlohmann::json table) {
  const auto columns = table.value("column", Json::array());
  const auto label = table.value("label", Json::object());
  table.erase("column");
  table.erase("label");
  std::string text = "\n[data]\n" + TomlLines(table);
  for (const auto& column : columns) text += "\n[[data.column]]\n" + TomlLines(column);
  if (!label.empty()) text += "\n[data.label]\n" + TomlLines(label);
  return text;
}

}  // namespace trefoil::jobs
