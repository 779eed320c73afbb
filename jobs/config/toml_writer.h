#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace trefoil::jobs {

/// A text in quotation marks, with what TOML wants escaped. Throws ConfigError where it is not UTF-8, which
/// TOML cannot hold.
[[nodiscard]] std::string TomlString(const std::string& text);

/// A value as TOML on one line; numbers with the digits that read back the same.
[[nodiscard]] std::string TomlValue(const nlohmann::json& value);

/// The lines "key = value" of one table.
[[nodiscard]] std::string TomlLines(const nlohmann::json& table);

/// A job's table [data], with its columns and label as tables of their own.
[[nodiscard]] std::string DataTables(nlohmann::json table);

}  // namespace trefoil::jobs
