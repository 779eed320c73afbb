#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "jobs/config/toml/tomlplusplus.h"

namespace trefoil::jobs {

// A domain says which values a key may have. Every domain has the same four functions:
//   Expected(found)      what an error says that it expected; `found` is null where the key is missing
//   Read(node, member)   whether the node is such a value; the member takes it, or else stays as it was
//   Write(member, json)  the value in the canonical JSON
//   Describe(schema)     the JSON Schema of such a value

/// An interval of finite numbers. Each end is open (`above`, `below`), closed (`least`, `most`) or not there;
/// a closed one is written as such, not as an open one a little beyond. What is inside and yet refused has to
/// be refused by a check of the job, before any charge.
struct Interval {
  std::optional<double> above{};
  std::optional<double> least{};
  std::optional<double> below{};
  std::optional<double> most{};

  [[nodiscard]] std::string Expected(const toml::node* found = nullptr) const;
  /// As an error says them behind a noun: " above 0, at most 1"; empty where there are no ends.
  [[nodiscard]] std::string Limits() const;
  bool Read(const toml::node& node, double& member) const;
  void Write(double member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

inline constexpr Interval kPositive{.above = 0.0};
inline constexpr Interval kAnyNumber{};

/// A closed interval of whole numbers.
struct WholeInterval {
  std::int64_t least;
  std::int64_t most;

  [[nodiscard]] std::string Expected(const toml::node* found = nullptr) const;
  [[nodiscard]] std::optional<std::int64_t> Value(const toml::node& node) const;
  template <std::integral T>
  bool Read(const toml::node& node, T& member) const {
    const auto value = Value(node);
    if (value) member = static_cast<T>(*value);
    return value.has_value();
  }
  void Write(std::int64_t member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

/// What the member of a key is where the job says "auto", until a rule gives it a value: none that a job can
/// name. Only OrAuto reads "auto".
inline constexpr int kAuto = -1;

/// A number of another domain (Fraction, Interval or WholeInterval, none of them below 0), or "auto".
template <typename D>
struct OrAuto {
  D numbers;

  [[nodiscard]] std::string Expected(const toml::node* found) const;
  template <typename T>
  bool Read(const toml::node& node, T& member) const {
    if (!IsAuto(node)) return numbers.Read(node, member);
    member = kAuto;
    return true;
  }
  template <typename T>
  void Write(T member, nlohmann::json& json) const {
    numbers.Write(member, json);
  }
  void Describe(nlohmann::json& schema) const;

 private:
  [[nodiscard]] static bool IsAuto(const toml::node& node);
};

/// A number from 0 to 1, or to below 1.
struct Fraction {
  bool one_allowed;

  [[nodiscard]] std::string Expected(const toml::node* found) const;
  bool Read(const toml::node& node, double& member) const;
  void Write(double member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

/// true or false.
struct Flag {
  [[nodiscard]] std::string Expected(const toml::node* found) const;
  bool Read(const toml::node& node, bool& member) const;
  void Write(bool member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

/// Any text.
struct Text {
  [[nodiscard]] std::string Expected(const toml::node* found) const;
  bool Read(const toml::node& node, std::string& member) const;
  void Write(const std::string& member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

/// Whether a text can name a file, as Name says.
[[nodiscard]] bool IsName(const std::string& text);

/// A text that can name a file: letters, digits, '.', '_' and '-', at most 64, not starting with a dot or a
/// dash.
struct Name : Text {
  [[nodiscard]] std::string Expected(const toml::node* found) const;
  bool Read(const toml::node& node, std::string& member) const;
  void Describe(nlohmann::json& schema) const;
};

/// An array of texts.
struct Texts {
  [[nodiscard]] std::string Expected(const toml::node* found) const;
  bool Read(const toml::node& node, std::vector<std::string>& member) const;
  void Write(const std::vector<std::string>& member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

/// An array of numbers in ascending order, at least one.
struct Ascending {
  Interval each;

  [[nodiscard]] std::string Expected(const toml::node* found) const;
  bool Read(const toml::node& node, std::vector<double>& member) const;
  void Write(const std::vector<double>& member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

/// An array of whole numbers; `expected` describes it as a whole.
struct Wholes {
  WholeInterval each;
  std::string expected;

  [[nodiscard]] std::string Expected(const toml::node* /*found*/) const { return expected; }
  bool Read(const toml::node& node, std::vector<std::int64_t>& member) const;
  bool Read(const toml::node& node, std::vector<int>& member) const;
  void Write(const std::vector<std::int64_t>& member, nlohmann::json& json) const;
  void Write(const std::vector<int>& member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

/// An array of numbers, the ends of the interval included; `expected` describes it as a whole.
struct Numbers {
  double least;
  double most;
  std::string expected;

  [[nodiscard]] std::string Expected(const toml::node* /*found*/) const { return expected; }
  bool Read(const toml::node& node, std::vector<double>& member) const;
  void Write(const std::vector<double>& member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

/// A whole number from 0 to `most` for each party; at least one of them is not 0, unless `all_zero_allowed`.
struct OfEachParty {
  std::int64_t most;
  bool all_zero_allowed;

  [[nodiscard]] std::string Expected(const toml::node* found) const;
  bool Read(const toml::node& node, std::array<std::int64_t, 3>& member) const;
  void Write(const std::array<std::int64_t, 3>& member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

/// Different party numbers, in ascending order when they are read.
struct Parties {
  bool none_allowed;

  [[nodiscard]] std::string Expected(const toml::node* found) const;
  bool Read(const toml::node& node, std::vector<int>& member) const;
  void Write(const std::vector<int>& member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

/// Texts of which a value is one.
class OneOfTexts {
 public:
  [[nodiscard]] std::string Expected(const toml::node* found) const;
  void Describe(nlohmann::json& schema) const;

 protected:
  explicit OneOfTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {}
  [[nodiscard]] std::optional<std::size_t> Find(const toml::node& node) const;
  void WriteNumber(std::size_t number, nlohmann::json& json) const;

  std::vector<std::string> texts_;
};

/// One of the values of an enumeration (or another type), each with the text that stands for it.
template <typename E>
class OneOf : public OneOfTexts {
 public:
  OneOf(std::initializer_list<std::pair<E, const char*>> choices)
      : OneOfTexts([&] {
          std::vector<std::string> texts;
          for (const auto& [value, text] : choices) texts.emplace_back(text);
          return texts;
        }()) {
    for (const auto& [value, text] : choices) values_.push_back(value);
  }

  bool Read(const toml::node& node, E& member) const {
    const auto found = Find(node);
    if (found) member = values_[*found];
    return found.has_value();
  }
  void Write(const E& member, nlohmann::json& json) const { WriteNumber(NumberOfValue(member), json); }
  /// The text of one of the values.
  [[nodiscard]] const char* TextOf(const E& value) const { return texts_[NumberOfValue(value)].c_str(); }

 private:
  [[nodiscard]] std::size_t NumberOfValue(const E& value) const {
    return static_cast<std::size_t>(std::find(values_.begin(), values_.end(), value) - values_.begin());
  }

  std::vector<E> values_;  // also of bool: nothing here takes a reference to an element
};

}  // namespace trefoil::jobs
