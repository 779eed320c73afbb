#include "jobs/config/domains.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "jobs/config/suggestion.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

std::optional<double> FiniteNumber(const toml::node& node) {
  if (!node.is_number()) return {};
  const double value =
      node.is_integer() ? static_cast<double>(node.as_integer()->get()) : node.as_floating_point()->get();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Whether the node is an array of values of `each`, which the member then is.
template <typename D, typename T>
bool ReadElements(const D& each, const toml::node& node, std::vector<T>& member) {
  const auto* array = node.as_array();
  if (array == nullptr) return false;
  std::vector<T> elements;
  for (const auto& element : *array) {
    if (!each.Read(element, elements.emplace_back())) return false;
  }
  member = std::move(elements);
  return true;
}

}  // namespace

bool IsName(const std::string& text) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 64 && std::isalnum(static_cast<unsigned char>(text[0])) != 0 &&
         std::all_of(text.begin(), text.end(), allowed);
}

std::string Interval::Expected(const toml::node* /*found*/) const {
  const auto limits = Limits();
  return limits.empty() ? "a finite number" : "a number" + limits;
}

std::string Interval::Limits() const {
  std::string limits;
  if (above) limits += fmt::format(" above {}", *above);
  if (least) limits += fmt::format(" from {}", *least);
  if (below) limits += fmt::format("{} below {}", above ? " and" : least ? " to" : "", *below);
  if (most) limits += fmt::format("{} {}", above ? ", at most" : least ? " to" : " up to", *most);
  return limits;
}

bool Interval::Read(const toml::node& node, double& member) const {
  const auto value = FiniteNumber(node);
  if (!value || (above && *value <= *above) || (least && *value < *least) || (below && *value >= *below) ||
      (most && *value > *most))
    return false;
  member = *value;
  return true;
}

void Interval::Write(double member, Json& json) const { json = member; }

void Interval::Describe(Json& schema) const {
  schema["type"] = "number";
  if (above) schema["exclusiveMinimum"] = *above;
  if (least) schema["minimum"] = *least;
  if (below) schema["exclusiveMaximum"] = *below;
  if (most) schema["maximum"] = *most;
}

std::string WholeInterval::Expected(const toml::node* /*found*/) const {
  return fmt::format("a whole number from {} to {}", least, most);
}

std::optional<std::int64_t> WholeInterval::Value(const toml::node& node) const {
  if (!node.is_integer()) return {};
  const auto value = node.as_integer()->get();
  return value < least || value > most ? std::nullopt : std::optional(value);
}

void WholeInterval::Write(std::int64_t member, Json& json) const { json = member; }

void WholeInterval::Describe(Json& schema) const {
  schema.update({{"type", "integer"}, {"minimum", least}, {"maximum", most}});
}

template <typename D>
std::string OrAuto<D>::Expected(const toml::node* found) const {
  return numbers.Expected(found) + ", or \"auto\"";
}

template <typename D>
void OrAuto<D>::Describe(Json& schema) const {
  Json number = Json::object();
  numbers.Describe(number);
  schema["oneOf"] = Json::array({number, Json::object({{"type", "string"}, {"enum", {"auto"}}})});
}

template <typename D>
bool OrAuto<D>::IsAuto(const toml::node& node) {
  return node.is_string() && node.as_string()->get() == "auto";
}

template struct OrAuto<Fraction>;
template struct OrAuto<Interval>;
template struct OrAuto<WholeInterval>;

std::string Fraction::Expected(const toml::node* found) const {
  if (found == nullptr || !FiniteNumber(*found)) return kAnyNumber.Expected();
  return one_allowed ? "a number from 0 to 1" : "a number from 0 to below 1";
}

bool Fraction::Read(const toml::node& node, double& member) const {
  const auto value = FiniteNumber(node);
  if (!value || *value < 0 || *value > 1 || (*value == 1 && !one_allowed)) return false;
  member = *value;
  return true;
}

void Fraction::Write(double member, Json& json) const { json = member; }

void Fraction::Describe(Json& schema) const {
  schema.update({{"type", "number"}, {"minimum", 0}, {one_allowed ? "maximum" : "exclusiveMaximum", 1}});
}

std::string Flag::Expected(const toml::node* /*found*/) const { return "true or false"; }

bool Flag::Read(const toml::node& node, bool& member) const {
  if (!node.is_boolean()) return false;
  member = node.as_boolean()->get();
  return true;
}

void Flag::Write(bool member, Json& json) const { json = member; }

void Flag::Describe(Json& schema) const { schema["type"] = "boolean"; }

std::string Text::Expected(const toml::node* /*found*/) const { return "a text in quotes"; }

bool Text::Read(const toml::node& node, std::string& member) const {
  if (!node.is_string()) return false;
  member = node.as_string()->get();
  return true;
}

void Text::Write(const std::string& member, Json& json) const { json = member; }

void Text::Describe(Json& schema) const { schema["type"] = "string"; }

std::string Name::Expected(const toml::node* found) const {
  if (found != nullptr && !found->is_string()) return Text::Expected(found);
  return "a name of letters, digits, '.', '_' and '-' (at most 64), beginning with a letter or digit";
}

bool Name::Read(const toml::node& node, std::string& member) const {
  return node.is_string() && IsName(node.as_string()->get()) && Text::Read(node, member);
}

void Name::Describe(Json& schema) const {
  schema.update({{"type", "string"}, {"pattern", "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}});
}

std::string Texts::Expected(const toml::node* /*found*/) const { return "an array of texts"; }

bool Texts::Read(const toml::node& node, std::vector<std::string>& member) const {
  return ReadElements(Text{}, node, member);
}

void Texts::Write(const std::vector<std::string>& member, Json& json) const { json = member; }

void Texts::Describe(Json& schema) const {
  schema.update({{"type", "array"}, {"items", {{"type", "string"}}}});
}

std::string Ascending::Expected(const toml::node* /*found*/) const {
  return fmt::format("an array of finite numbers{} in ascending order", each.Limits());
}

bool Ascending::Read(const toml::node& node, std::vector<double>& member) const {
  std::vector<double> numbers;
  if (!ReadElements(each, node, numbers) || numbers.empty() ||
      std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) != numbers.end())
    return false;
  member = std::move(numbers);
  return true;
}

void Ascending::Write(const std::vector<double>& member, Json& json) const { json = member; }

void Ascending::Describe(Json& schema) const {
  Json number = Json::object();
  each.Describe(number);
  schema.update({{"type", "array"}, {"items", number}, {"minItems", 1}});
}

bool Wholes::Read(const toml::node& node, std::vector<std::int64_t>& member) const {
  return ReadElements(each, node, member);
}

bool Wholes::Read(const toml::node& node, std::vector<int>& member) const {
  return ReadElements(each, node, member);
}

void Wholes::Write(const std::vector<std::int64_t>& member, Json& json) const { json = member; }

void Wholes::Write(const std::vector<int>& member, Json& json) const { json = member; }

void Wholes::Describe(Json& schema) const {
  Json items = Json::object();
  each.Describe(items);
  schema.update({{"type", "array"}, {"items", items}});
}

bool Numbers::Read(const toml::node& node, std::vector<double>& member) const {
  const auto* array = node.as_array();
  if (array == nullptr) return false;
  std::vector<double> numbers;
  for (const auto& element : *array) {
    double& number = numbers.emplace_back();
    if (!kAnyNumber.Read(element, number) || number < least || number > most) return false;
  }
  member = std::move(numbers);
  return true;
}

void Numbers::Write(const std::vector<double>& member, Json& json) const { json = member; }

void Numbers::Describe(Json& schema) const {
  schema.update({{"type", "array"}, {"items", {{"type", "number"}, {"minimum", least}, {"maximum", most}}}});
}

std::string OfEachParty::Expected(const toml::node* found) const {
  if (!all_zero_allowed)
    return fmt::format("three whole numbers from 0 to {}, one for each party, not all 0", most);
  std::vector<std::int64_t> numbers;
  const bool whole = found != nullptr && Wholes{{0, most}, ""}.Read(*found, numbers);
  return whole ? "three whole numbers, one for each party"
               : fmt::format("three whole numbers from 0 to {}", most);
}

bool OfEachParty::Read(const toml::node& node, std::array<std::int64_t, 3>& member) const {
  std::vector<std::int64_t> numbers;
  if (!Wholes{{0, most}, ""}.Read(node, numbers) || numbers.size() != member.size()) return false;
  if (!all_zero_allowed && std::all_of(numbers.begin(), numbers.end(), [](auto n) { return n == 0; }))
    return false;
  std::copy(numbers.begin(), numbers.end(), member.begin());
  return true;
}

void OfEachParty::Write(const std::array<std::int64_t, 3>& member, Json& json) const { json = member; }

void OfEachParty::Describe(Json& schema) const {
  Wholes{{0, most}, ""}.Describe(schema);
  schema.update({{"minItems", 3}, {"maxItems", 3}});
  if (!all_zero_allowed) schema["contains"] = {{"minimum", 1}};
}

std::string Parties::Expected(const toml::node* /*found*/) const {
  return std::string("an array of different party numbers from 0 to 2") +
         (none_allowed ? "" : ", at least one");
}

bool Parties::Read(const toml::node& node, std::vector<int>& member) const {
  std::vector<int> parties;
  if (!Wholes{{0, 2}, ""}.Read(node, parties) || (parties.empty() && !none_allowed)) return false;
  std::sort(parties.begin(), parties.end());
  if (std::adjacent_find(parties.begin(), parties.end()) != parties.end()) return false;
  member = std::move(parties);
  return true;
}

void Parties::Write(const std::vector<int>& member, Json& json) const { json = member; }

void Parties::Describe(Json& schema) const {
  Wholes{{0, 2}, ""}.Describe(schema);
  schema["uniqueItems"] = true;
  if (!none_allowed) schema["minItems"] = 1;
}

std::string OneOfTexts::Expected(const toml::node* found) const {
  const auto expected = fmt::format("\"{}\"", fmt::join(texts_, "\", \""));
  const bool text = found != nullptr && found->is_string();
  return (texts_.size() == 1 ? expected : "one of " + expected) +
         (text ? DidYouMean(found->as_string()->get(), texts_) : "");
}

void OneOfTexts::Describe(Json& schema) const { schema.update({{"type", "string"}, {"enum", texts_}}); }

std::optional<std::size_t> OneOfTexts::Find(const toml::node& node) const {
  if (!node.is_string()) return {};
  const auto found = std::find(texts_.begin(), texts_.end(), node.as_string()->get());
  if (found == texts_.end()) return {};
  return static_cast<std::size_t>(found - texts_.begin());
}

void OneOfTexts::WriteNumber(std::size_t number, Json& json) const { json = texts_[number]; }

}  // namespace trefoil::jobs
