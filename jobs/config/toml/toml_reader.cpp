#include "jobs/config/toml/toml_reader.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "jobs/config/suggestion.h"

namespace trefoil::jobs {
namespace {

constexpr std::string_view kOptionPlace = "--set ";

/// Where a value stands: "FILE:LINE", or the --set option that gave it.
std::string Place(const toml::node& node, const std::string& file) {
  const auto& source = node.source();
  if (source.path && source.path->starts_with(kOptionPlace)) return OneLine(*source.path);
  return source.begin.line == 0 ? file : fmt::format("{}:{}", file, source.begin.line);
}

std::string Join(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

bool IsKnown(const std::string& path, const std::string& parent, const std::vector<std::string>& known) {
  return std::any_of(known.begin(), known.end(), [&](const std::string& key) {
    return key == path || key.starts_with(path + ".") || (!parent.empty() && key == parent + ".*");
  });
}

/// A suggestion for an unknown key: the nearest name among known keys and tables of the same depth; failing
/// that, a known key whose last part is the same.
std::string Suggestion(const std::string& path, const std::vector<std::string>& known) {
  const auto depth = std::count(path.begin(), path.end(), '.');
  std::vector<std::string> alike;
  for (const auto& key : known) {
    std::size_t end = key.find('.');
    for (auto dots = depth; dots > 0 && end != std::string::npos; --dots) end = key.find('.', end + 1);
    const auto prefix = key.substr(0, end);
    if (std::count(prefix.begin(), prefix.end(), '.') == depth) alike.push_back(prefix);
  }
  const auto suggestion = DidYouMean(path, alike);
  if (!suggestion.empty()) return suggestion;
  const auto last = path.substr(path.rfind('.') + 1);
  for (const auto& key : known) {
    if (key.substr(key.rfind('.') + 1) == last) return fmt::format("; did you mean {}?", key);
  }
  return "";
}

void CheckKeysBelow(const toml::table& table, const std::string& path, const std::string& file,
                    const std::vector<std::string>& known) {
  std::vector<std::pair<std::string, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(std::string(key.str()), &node);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.second->source().begin.line < b.second->source().begin.line;
  });
  for (const auto& [key, node] : entries) {
    const auto full = Join(path, key);
    if (!IsKnown(full, path, known)) {
      throw ConfigError(
          fmt::format("{}: unknown key {}{}", Place(*node, file), OneLine(full), Suggestion(full, known)));
    }
    if (const auto* below = node->as_table()) CheckKeysBelow(*below, full, file, known);
    if (const auto* array = node->as_array()) {
      for (const auto& element : *array) {
        if (const auto* below = element.as_table()) CheckKeysBelow(*below, full, file, known);
      }
    }
  }
}

/// One of some texts, which the member then is (OneOf: a value that the text stands for).
class TextChoice : public OneOfTexts {
 public:
  explicit TextChoice(std::vector<std::string> texts) : OneOfTexts(std::move(texts)) {}
  bool Read(const toml::node& node, std::string& member) const {
    const auto found = Find(node);
    if (found) member = texts_[*found];
    return found.has_value();
  }
};

/// A table of the one key "v", whose value is `text` read as TOML, or where it is not valid TOML, the text
/// itself.
toml::table ReadValue(const std::string& text, const std::string& place) {
  if (text.find('\n') == std::string::npos) {
    try {
      auto table = toml::parse("v = " + text, place);
      if (table.size() == 1) return table;
    } catch (const toml::parse_error&) {
    }
  }
  // A string that the parser made knows its place (the option), for error texts; one made here would not.
  auto table = toml::parse("v = ''", place);
  table.get("v")->as_string()->get() = text;
  return table;
}

/// A number as a file would have it: the shortest digits that read back as the same number, with a point.
std::string TextOf(double number) {
  auto text = fmt::format("{}", number);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

/// A value on one line. The library's formatter may break an array into lines, and to estimate its width
/// casts logarithms of its numbers, which may be negative, to std::size_t.
std::string TextOf(const toml::node& node) {
  std::vector<std::string> parts;
  if (const auto* array = node.as_array()) {
    for (const auto& element : *array) parts.push_back(TextOf(element));
    return parts.empty() ? "[]" : fmt::format("[ {} ]", fmt::join(parts, ", "));
  }
  if (const auto* table = node.as_table()) {
    for (const auto& [key, value] : *table) parts.push_back(fmt::format("{} = {}", key.str(), TextOf(value)));
    return parts.empty() ? "{}" : fmt::format("{{ {} }}", fmt::join(parts, ", "));
  }
  if (const auto* number = node.as_floating_point()) return TextOf(number->get());
  std::ostringstream text;
  node.visit([&](const auto& value) { text << toml::toml_formatter(value, toml::format_flags::none); });
  return text.str();
}

}  // namespace

toml::table ReadToml(const std::filesystem::path& file) {
  const auto text = ReadTextFile(file, "a TOML file");
  try {
    return toml::parse(text, file.string());
  } catch (const toml::parse_error& error) {
    throw ConfigError(fmt::format("{}:{}: not valid TOML: {}", file.string(), error.source().begin.line,
                                  OneLine(std::string(error.description()))));
  }
}

void SetValue(toml::table& root, const std::string& assignment) {
  const auto equals = assignment.find('=');
  const auto path = assignment.substr(0, equals);
  if (equals == std::string::npos || path.empty() || path.front() == '.' || path.back() == '.' ||
      path.find("..") != std::string::npos) {
    throw ConfigError(
        fmt::format("--set {}: expected KEY=VALUE, as in privacy.epsilon=3.0", OneLine(assignment)));
  }
  auto value = ReadValue(assignment.substr(equals + 1), std::string(kOptionPlace) + assignment);
  toml::table* table = &root;
  std::istringstream keys(path);
  std::string key;
  std::getline(keys, key, '.');
  for (std::string next; std::getline(keys, next, '.'); key = next) {
    if (!table->contains(key)) {
      // Made by parsing, so that an unknown table is reported at the option that named it.
      auto made = toml::parse("v = {}", std::string(kOptionPlace) + assignment);
      table->insert_or_assign(key, std::move(*made.get("v")->as_table()));
    }
    table = table->get(key)->as_table();
    if (table == nullptr) {
      throw ConfigError(fmt::format("--set {}: {} is a value, expected a table", OneLine(assignment), key));
    }
  }
  value.get("v")->visit([&](auto& node) { table->insert_or_assign(key, std::move(node)); });
}

void CheckKeys(const toml::table& root, const std::string& file, const std::vector<std::string>& known) {
  CheckKeysBelow(root, "", file, known);
}

std::string Shown(const toml::node& node) {
  const auto line = OneLine(TextOf(node));
  return line.size() <= 60 ? line : line.substr(0, 57) + "...";
}

const toml::node* Section::Find(std::string_view key) const {
  return table_ == nullptr ? nullptr : table_->get(key);
}

std::string Section::Path(std::string_view key) const { return Join(path_, key); }

bool Section::Has(std::string_view key) const { return Find(key) != nullptr; }

std::vector<std::string> Section::Keys() const {
  std::vector<std::string> keys;
  if (table_ == nullptr) return keys;
  for (const auto& [key, node] : *table_) keys.emplace_back(key.str());
  return keys;
}

void Section::Missing(std::string_view key, const std::string& expected) const {
  throw ConfigError(fmt::format("{}: missing {}, expected {}", *file_, Path(key), expected));
}

void Section::Refuse(std::string_view key, const std::string& expected) const {
  const auto* node = Find(key);
  if (node == nullptr) Missing(key, expected);
  Fail(key, fmt::format("found {}, expected {}", Shown(*node), expected));
}

void Section::Fail(std::string_view key, const std::string& cause) const {
  const auto* node = Find(key);
  throw ConfigError(
      fmt::format("{}: {}: {}", node == nullptr ? *file_ : Place(*node, *file_), Path(key), cause));
}

Section Section::Table(std::string_view key) const {
  const auto* node = Find(key);
  if (node != nullptr && !node->is_table()) Refuse(key, "a table");
  return {node == nullptr ? nullptr : node->as_table(), *file_, Path(key)};
}

std::vector<Section> Section::Tables(std::string_view key) const {
  const auto* array = Has(key) ? FindArray(key, "an array of tables") : nullptr;
  std::vector<Section> tables;
  if (array == nullptr) return tables;
  for (const auto& element : *array) {
    if (!element.is_table()) Refuse(key, "an array of tables");
    tables.push_back({element.as_table(), *file_, Path(key)});
  }
  return tables;
}

const toml::array* Section::FindArray(std::string_view key, const std::string& expected) const {
  const auto* node = Find(key);
  if (node == nullptr) Missing(key, expected);
  if (!node->is_array()) Refuse(key, expected);
  return node->as_array();
}

template <typename T, typename D>
T Section::Read(std::string_view key, const D& domain, const std::optional<T>& fallback) const {
  const auto* node = Find(key);
  if (node == nullptr && fallback) return *fallback;
  T value{};
  if (node == nullptr || !domain.Read(*node, value)) Refuse(key, domain.Expected(node));
  return value;
}

double Section::Number(std::string_view key, Interval range, std::optional<double> fallback) const {
  return Read(key, range, fallback);
}

std::int64_t Section::Whole(std::string_view key, WholeInterval range,
                            std::optional<std::int64_t> fallback) const {
  return Read(key, range, fallback);
}

std::string Section::Text(std::string_view key, std::optional<std::string> fallback) const {
  return Read(key, jobs::Text{}, fallback);
}

std::string Section::Choice(std::string_view key, const std::vector<std::string>& choices,
                            std::optional<std::string> fallback) const {
  return Read(key, TextChoice(choices), fallback);
}

std::vector<std::int64_t> Section::Wholes(std::string_view key, WholeInterval range,
                                          const std::string& expected,
                                          std::optional<std::vector<std::int64_t>> fallback) const {
  return Read(key, jobs::Wholes{range, expected}, fallback);
}

}  // namespace trefoil::jobs
