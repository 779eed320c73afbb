#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/config/domains.h"
#include "jobs/config/toml/tomlplusplus.h"

namespace trefoil::jobs {

/// Reads a TOML file. Throws ConfigError "FILE:LINE: cause" or "FILE: cause".
[[nodiscard]] toml::table ReadToml(const std::filesystem::path& file);

/// A job as compact JSON as if a TOML file said it; `source` names it in errors. Throws ConfigError.
[[nodiscard]] toml::table TableOfJson(const std::string& json, const std::string& source);

/// Applies "a.b=v" (the argument of --set): v is a TOML value, or where it is not valid TOML, a string.
/// Throws ConfigError if there is no key, or if a table is in the way.
void SetValue(toml::table& root, const std::string& assignment);

/// Refuses the first key (in the order of the file) that is not among `known`, with a suggestion. Known keys
/// are written in full ("privacy.epsilon"); the tables of an array count as one ("peer.id"); "a.*" allows
/// every key in table a. Throws ConfigError.
void CheckKeys(const toml::table& root, const std::string& file, const std::vector<std::string>& known);

/// One table of a document, read key by key. Every getter checks type and range, and throws ConfigError with
/// one line: "FILE:LINE: KEY: found X, expected Y", or "FILE: missing KEY, expected Y" where there is no
/// fallback.
class Section {
 public:
  /// The whole document. `file` names it in errors; both must outlive the section.
  Section(const toml::table& root, const std::string& file) : Section(&root, file, "") {}

  /// The table `key`; one that is absent reads as empty.
  [[nodiscard]] Section Table(std::string_view key) const;
  /// The tables of the array `key`; none if it is absent.
  [[nodiscard]] std::vector<Section> Tables(std::string_view key) const;

  /// The value of the key; null where it is absent.
  [[nodiscard]] const toml::node* Find(std::string_view key) const;
  [[nodiscard]] bool Has(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> Keys() const;

  [[nodiscard]] double Number(std::string_view key, Interval range,
                              std::optional<double> fallback = {}) const;
  [[nodiscard]] std::int64_t Whole(std::string_view key, WholeInterval range,
                                   std::optional<std::int64_t> fallback = {}) const;
  [[nodiscard]] std::string Text(std::string_view key, std::optional<std::string> fallback = {}) const;
  /// One of `choices`.
  [[nodiscard]] std::string Choice(std::string_view key, const std::vector<std::string>& choices,
                                   std::optional<std::string> fallback = {}) const;
  /// Without a fallback the array must be there; `expected` describes it as a whole.
  [[nodiscard]] std::vector<std::int64_t> Wholes(
      std::string_view key, WholeInterval range, const std::string& expected,
      std::optional<std::vector<std::int64_t>> fallback = {}) const;

  /// Throws the ConfigError "PLACE: KEY: found X, expected Y" for a rule that the caller checks.
  [[noreturn]] void Refuse(std::string_view key, const std::string& expected) const;
  /// Throws the ConfigError "PLACE: KEY: CAUSE".
  [[noreturn]] void Fail(std::string_view key, const std::string& cause) const;
  /// The key in full, "privacy.epsilon".
  [[nodiscard]] std::string Path(std::string_view key) const;
  [[nodiscard]] const std::string& file() const { return *file_; }

 private:
  template <typename T, typename D>
  [[nodiscard]] T Read(std::string_view key, const D& domain, const std::optional<T>& fallback) const;

  Section(const toml::table* table, const std::string& file, std::string path)
      : table_(table), file_(&file), path_(std::move(path)) {}

  [[noreturn]] void Missing(std::string_view key, const std::string& expected) const;
  [[nodiscard]] const toml::array* FindArray(std::string_view key, const std::string& expected) const;

  const toml::table* table_;  // null: absent
  const std::string* file_;
  std::string path_;
};

/// A value as an error text shows it: TOML on one line, cut after 60 characters.
[[nodiscard]] std::string Shown(const toml::node& node);

}  // namespace trefoil::jobs
