#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "apps/job.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::json;

/// A JSON string is a TOML string but for the delete character, which TOML wants escaped.
std::string Quoted(const std::string& text) {
  auto quoted = Json(text).dump();
  for (auto at = quoted.find('\x7F'); at != std::string::npos; at = quoted.find('\x7F', at))
    quoted.replace(at, 1, "\\u007F");
  return quoted;
}

std::string Key(const std::string& key) {
  const auto bare = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  return !key.empty() && std::all_of(key.begin(), key.end(), bare) ? key : Quoted(key);
}

/// A value on one line; numbers with the digits that read back the same.
std::string Value(const Json& value) {
  if (value.is_string()) return Quoted(value.get<std::string>());
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, element] : value.items()) {
    if (!text.empty()) text += ", ";
    text += value.is_object() ? Key(key) + " = " + Value(element) : Value(element);
  }
  if (value.is_object()) return text.empty() ? "{}" : "{ " + text + " }";
  return "[" + text + "]";
}

/// The lines "key = value" of one table.
std::string Lines(const Json& table) {
  std::string text;
  for (const auto& [key, value] : table.items()) text += Key(key) + " = " + Value(value) + "\n";
  return text;
}

std::string DataTables(Json table) {
  const auto columns = table.value("column", Json::array());
  const auto label = table.value("label", Json::object());
  table.erase("column");
  table.erase("label");
  std::string text = "\n[data]\n" + Lines(table);
  for (const auto& column : columns) text += "\n[[data.column]]\n" + Lines(column);
  if (!label.empty()) text += "\n[data.label]\n" + Lines(label);
  return text;
}

}  // namespace

std::string JobToml(const Job& job) {
  const auto json = Json::parse(JobJson(job));
  std::string text = "# The job as it was run, with every default filled in.\n";
  for (const auto* key : {"version", "type", "name", "fraction_bits"}) {
    text += std::string(key) + " = " + Value(json.at(key)) + "\n";
  }
  text += DataTables(json.at("data"));
  for (const auto* key :
       {"features", "model", "training", "privacy", "initialisation", "evaluation", "release"}) {
    if (json.contains(key)) text += "\n[" + std::string(key) + "]\n" + Lines(json.at(key));
  }
  const auto split = job.local.fractions ? Json(*job.local.fractions) : Json(job.local.split);
  return text + "\n[local]\nsplit = " + Value(split) + "\n";
}

}  // namespace trefoil::apps
