#include "jobs/draft/value_list.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "base/error.h"
#include "data/sketch/file_form.h"

namespace trefoil::jobs {
namespace {

constexpr std::string_view kBlanks = " \t";

/// The words of an answer one by one: values in quotes or without, and commas.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) { SkipBlanks(); }

  [[nodiscard]] bool AtEnd() const { return rest_.empty(); }

  /// Whether this word is next, which then is taken.
  bool Take(std::string_view word) {
    const auto behind = rest_.substr(std::min(word.size(), rest_.size()));
    const bool ends = word == "," || behind.empty() || kBlanks.find(behind.front()) != kBlanks.npos;
    if (!rest_.starts_with(word) || !ends) return false;
    rest_ = behind;
    SkipBlanks();
    return true;
  }

  std::string Value() {
    auto value = rest_.starts_with('"') ? Quoted() : Bare();
    SkipBlanks();
    return value;
  }

 private:
  std::string Quoted() {
    std::string value;
    std::size_t at = 1;
    for (; at < rest_.size(); ++at) {
      if (rest_[at] == '"' && rest_.substr(at + 1).starts_with('"'))
        ++at;
      else if (rest_[at] == '"')
        break;
      value += rest_[at];
    }
    if (at >= rest_.size()) throw ConfigError("found a quoted value without an end");
    rest_.remove_prefix(at + 1);
    return value;
  }

  /// Up to a comma or the word "or", blanks inside kept.
  std::string Bare() {
    auto end = std::min({rest_.find(','), rest_.find(" or "), rest_.size()});
    std::string_view value = rest_.substr(0, end);
    rest_.remove_prefix(end);
    value = value.substr(0, value.find_last_not_of(kBlanks) + 1);
    if (value.empty()) throw ConfigError("found no value before a comma or at the end, expected one");
    return std::string(value);
  }

  void SkipBlanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size())); }

  std::string_view rest_;
};

bool IsBare(const std::string& value) {
  return !value.empty() && value.find_first_of("\",;") == std::string::npos &&
         value.find(" or ") == std::string::npos && value != "or" && !value.starts_with("or ") &&
         !value.ends_with(" or") && kBlanks.find(value.front()) == kBlanks.npos &&
         kBlanks.find(value.back()) == kBlanks.npos;
}

}  // namespace

bool ValueList::numeric() const {
  const auto number = [](const std::string& text) { return data::IsNumber(text, '.'); };
  return std::all_of(values.begin(), values.end(), number);
}

ValueList ParseValues(std::string_view text) {
  ValueList list;
  std::set<std::string> seen;
  Words words(text);
  const auto take = [&] {
    auto value = words.Value();
    if (!seen.insert(value).second)
      throw ConfigError(fmt::format("found \"{}\" twice, expected it once", value));
    return value;
  };
  if (words.AtEnd()) return list;
  do {
    list.values.push_back(take());
    while (words.Take("or")) list.aliases[take()] = list.values.back();
  } while (words.Take(","));
  if (!words.AtEnd()) throw ConfigError("found a value behind another, expected a comma between them");
  return list;
}

std::string ValuesText(const std::vector<std::string>& values) {
  std::string text;
  for (const auto& value : values) {
    text += text.empty() ? "" : ", ";
    if (IsBare(value)) {
      text += value;
      continue;
    }
    text += '"';
    for (const char c : value) text.append(c == '"' ? 2 : 1, c);
    text += '"';
  }
  return text;
}

std::vector<std::string> WordsOf(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

double ParseNumber(const std::string& text, const std::string& what) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(value))
    throw ConfigError(fmt::format("{}: found \"{}\", expected a number", what, text));
  return value;
}

}  // namespace trefoil::jobs
