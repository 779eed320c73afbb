#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace trefoil::jobs {

/// A text in quotation marks, with what TOML wants escaped. Throws ConfigError for a text that is not UTF-8,
/// since TOML cannot hold it.
[[nodiscard]] std::string TomlString(const std::string& text);

/// A value as TOML on one line; numbers have digits that read back as the same number. Throws as TomlString.
/// Pre: no null in it, and no number that is infinite or NaN: TOML has no null, which JSON writes for all
/// three.
[[nodiscard]] std::string TomlValue(const nlohmann::json& value);

/// The lines "key = value" of one table. Pre and Throws, here and below: as TomlValue.
[[nodiscard]] std::string TomlLines(const nlohmann::json& table);

/// A job's table [data], or a study's [columns], after an empty line, with the tables in it as tables of
/// their own.
[[nodiscard]] std::string DataTables(const nlohmann::json& table, const std::string& name = "data");

}  // namespace trefoil::jobs
