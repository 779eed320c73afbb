#include <nlohmann/json.hpp>

#include "base/error.h"
#include "jobs/config/toml/toml_reader.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

toml::table ToTomlTable(const Json& object, int depth);
toml::array ToTomlArray(const Json& array, int depth);

/// Hands a JSON value as TOML to `insert`.
template <typename Insert>
void Convert(const Json& value, int depth, const Insert& insert) {
  // A job has five levels; the limit keeps a hostile model file from exhausting the stack.
  if (depth > 8) throw ConfigError("nested too deeply for a job");
  if (value.is_object()) return insert(ToTomlTable(value, depth + 1));
  if (value.is_array()) return insert(ToTomlArray(value, depth + 1));
  if (value.is_string()) return insert(value.get<std::string>());
  if (value.is_boolean()) return insert(value.get<bool>());
  if (value.is_number_integer()) return insert(value.get<std::int64_t>());
  if (value.is_number_float()) return insert(value.get<double>());
  throw ConfigError("null where a job has a value");
}

toml::table ToTomlTable(const Json& object, int depth) {
  toml::table table;
  for (const auto& [name, value] : object.items()) {
    const std::string& key = name;
    Convert(value, depth, [&](auto made) { table.insert_or_assign(key, std::move(made)); });
  }
  return table;
}

toml::array ToTomlArray(const Json& elements, int depth) {
  toml::array array;
  for (const auto& value : elements) {
    Convert(value, depth, [&](auto made) { array.push_back(std::move(made)); });
  }
  return array;
}

}  // namespace

toml::table TableOfJson(const std::string& json, const std::string& source) {
  try {
    const auto parsed = Json::parse(json);
    if (!parsed.is_object()) throw ConfigError("found no JSON object");
    return ToTomlTable(parsed, 0);
  } catch (const Json::exception&) {
    throw ConfigError(source + ": the job is not valid JSON");
  } catch (const ConfigError& error) {
    throw ConfigError(source + ": the job is not valid: " + error.what());
  }
}

}  // namespace trefoil::jobs
