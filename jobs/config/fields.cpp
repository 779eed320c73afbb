#include "jobs/config/fields.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

class Reader final : public FieldVisitor {
 public:
  Reader(const toml::table& root, const std::string& file) : here_(root, file) {}

  void Table(const char* key, const char* /*help*/, const Part& part) override {
    if (!Refused(key)) Within(here_.Table(key), part);
  }

  void When(const Condition& condition, const Part& part) override {
    if (condition.holds || refusal_) return part();
    refusal_ = condition.refusal.empty() ? fmt::format("only {} has it", condition.only) : condition.refusal;
    part();
    refusal_.reset();
  }

  void If(bool holds, const Part& part) override {
    if (holds) part();
  }

  void Check(const Rule& rule) override {
    if (!refusal_) rule(here_);
  }

 private:
  void TextTable(const char* key, std::map<std::string, std::string>& member, const char* /*help*/,
                 bool /*left_out_empty*/) override {
    if (Refused(key)) return;
    const auto table = here_.Table(key);
    for (const auto& name : table.Keys()) member[name] = table.Text(name);
  }
  void Visit(Field& field) override {
    if (Refused(field.key)) return;
    const auto* node = here_.Find(field.key);
    if (node == nullptr && !field.required()) return field.Fill();
    if (node == nullptr || !field.Read(*node)) here_.Refuse(field.key, field.Expected(node));
  }

  bool Wants(const char* key, bool /*present*/) override { return !Refused(key) && here_.Has(key); }

  std::size_t Elements(const char* key, const char* /*help*/, std::size_t /*size*/,
                       std::optional<std::size_t> /*count*/) override {
    return Refused(key) ? 0 : here_.Tables(key).size();
  }

  void Element(const char* key, std::size_t index, const Part& part) override {
    Within(here_.Tables(key).at(index), part);
  }

  /// Whether keys are refused here; throws for one that is there.
  [[nodiscard]] bool Refused(const char* key) const {
    if (refusal_ && here_.Has(key)) here_.Fail(key, *refusal_);
    return refusal_.has_value();
  }

  void Within(Section section, const Part& part) {
    std::swap(here_, section);
    part();
    std::swap(here_, section);
  }

  Section here_;
  std::optional<std::string> refusal_;
};

class KeyCollector final : public FieldVisitor {
 public:
  void Table(const char* key, const char* /*help*/, const Part& part) override {
    auto path = path_ + key + ".";
    std::swap(path_, path);
    part();
    std::swap(path_, path);
  }
  void When(const Condition& /*condition*/, const Part& part) override { part(); }
  void If(bool holds, const Part& part) override {
    if (holds) part();
  }

  std::vector<std::string> keys;

 private:
  void TextTable(const char* key, std::map<std::string, std::string>& /*member*/, const char* /*help*/,
                 bool /*left_out_empty*/) override {
    keys.push_back(path_ + key + ".*");
  }
  void Visit(Field& field) override { keys.push_back(path_ + field.key); }
  bool Wants(const char* /*key*/, bool /*present*/) override { return true; }
  std::size_t Elements(const char* /*key*/, const char* /*help*/, std::size_t /*size*/,
                       std::optional<std::size_t> /*count*/) override {
    return 1;
  }
  void Element(const char* key, std::size_t /*index*/, const Part& part) override { Table(key, "", part); }

  std::string path_;
};

class JsonWriter final : public FieldVisitor {
 public:
  void Table(const char* key, const char* /*help*/, const Part& part) override {
    Within((*here_)[key] = OrderedJson::object(), part);
  }
  void When(const Condition& condition, const Part& part) override { If(condition.holds, part); }
  void If(bool holds, const Part& part) override {
    if (holds) part();
  }

  OrderedJson root = OrderedJson::object();

 private:
  void TextTable(const char* key, std::map<std::string, std::string>& member, const char* /*help*/,
                 bool left_out_empty) override {
    if (!member.empty() || !left_out_empty) (*here_)[key] = member;
  }
  void Visit(Field& field) override {
    Json value;
    if (field.Write(value)) (*here_)[field.key] = value;
  }
  bool Wants(const char* /*key*/, bool present) override { return present; }
  std::size_t Elements(const char* key, const char* /*help*/, std::size_t size,
                       std::optional<std::size_t> /*count*/) override {
    (*here_)[key] = OrderedJson(size, OrderedJson::object());
    return size;
  }
  void Element(const char* key, std::size_t index, const Part& part) override {
    Within((*here_)[key][index], part);
  }

  void Within(OrderedJson& json, const Part& part) {
    auto* outside = std::exchange(here_, &json);
    part();
    here_ = outside;
  }

  OrderedJson* here_ = &root;
};

class SchemaWriter final : public FieldVisitor {
 public:
  void Table(const char* key, const char* help, const Part& part) override {
    auto table = Object(part);
    const bool required = table.contains("required");
    auto& known = (*here_)["properties"];
    if (known.contains(key) && only_.empty()) {
      AddPart(known[key], table);
    } else {
      if (known.contains(key)) AddAlternative(table, known[key]);
      Put(key, std::move(table), help);
    }
    if (required && !optional_) Require(key);
    optional_ = false;
  }
  void When(const Condition& condition, const Part& part) override {
    only_.push_back(condition.only);
    part();
    only_.pop_back();
  }
  void If(bool /*holds*/, const Part& part) override {
    // The keys may be unknown, so that none can be required.
    only_.emplace_back();
    part();
    only_.pop_back();
  }

  /// The schema of an object with the keys that `part` declares.
  OrderedJson Object(const Part& part) {
    OrderedJson object{
        {"type", "object"}, {"additionalProperties", false}, {"properties", OrderedJson::object()}};
    auto* outside = std::exchange(here_, &object);
    const auto only = std::exchange(only_, {});
    const bool optional = std::exchange(optional_, false);
    part();
    optional_ = optional;
    only_ = only;
    here_ = outside;
    return object;
  }

 private:
  void TextTable(const char* key, std::map<std::string, std::string>& /*member*/, const char* help,
                 bool /*left_out_empty*/) override {
    Put(key, {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}, help);
  }
  void Visit(Field& field) override {
    Json schema = Json::object();
    field.Describe(schema);
    Json fallback;
    // A key with a default is required at most under some condition.
    const bool has_default = field.WriteDefault(fallback);
    if (field.said != nullptr) {
      schema["x-default"] = field.said;
    } else if (has_default) {
      schema["default"] = fallback;
    }
    Put(field.key, OrderedJson(schema), field.help);
    if (field.required() && !has_default) Require(field.key);
  }
  bool Wants(const char* /*key*/, bool /*present*/) override { return optional_ = true; }
  std::size_t Elements(const char* key, const char* help, std::size_t /*size*/,
                       std::optional<std::size_t> count) override {
    OrderedJson array{{"type", "array"}};
    if (count) array.update({{"minItems", *count}, {"maxItems", *count}});
    Put(key, std::move(array), help);
    if (count) Require(key);
    return 1;
  }
  void Element(const char* key, std::size_t /*index*/, const Part& part) override {
    auto items = Object(part);
    (*here_)["properties"][key]["items"] = std::move(items);
  }

  /// Of a table that is declared in parts; the first one has the help.
  static void AddPart(OrderedJson& table, const OrderedJson& part) {
    table["properties"].update(part["properties"]);
    if (!part.contains("required")) return;
    for (const auto& key : part["required"]) table["required"].push_back(key);
  }

  /// Of a table that is declared once for each of several cases: every case's keys are known, a key of both
  /// is as in `table`, and what one of them does not require is required where the case holds.
  static void AddAlternative(OrderedJson& table, const OrderedJson& other) {
    auto& keys = table["properties"];
    keys.insert(other.at("properties").begin(), other.at("properties").end());
    const auto in_one = table.value("required", OrderedJson::array());
    const auto in_other = other.value("required", OrderedJson::array());
    auto in_both = OrderedJson::array();
    const auto contains = [](const OrderedJson& names, const OrderedJson& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const auto* names : {&in_one, &in_other}) {
      for (const auto& name : *names) {
        const bool both = contains(in_one, name) && contains(in_other, name);
        if (!both) keys[name.get<std::string>()]["x-required"] = true;
        if (both && names == &in_one) in_both.push_back(name);
      }
    }
    table.erase("required");
    if (!in_both.empty()) table["required"] = in_both;
  }

  void Put(const char* key, OrderedJson schema, const char* help) {
    std::string text = help;
    for (const auto& only : only_) {
      if (!only.empty()) text += fmt::format(" Only with {}.", only);
    }
    if (!text.empty()) schema["description"] = text;
    (*here_)["properties"][key] = std::move(schema);
  }

  /// A key that a condition lets in is required where it holds, which the language cannot say.
  void Require(const char* key) {
    if (only_.empty()) {
      (*here_)["required"].push_back(key);
    } else {
      (*here_)["properties"][key]["x-required"] = true;
    }
  }

  OrderedJson* here_ = nullptr;
  std::vector<std::string> only_;
  bool optional_ = false;  // of the table that comes next
};

}  // namespace

std::vector<std::string> KeysOf(const Declaration& fields) {
  KeyCollector collector;
  fields(collector);
  return std::move(collector.keys);
}

void ReadInto(const toml::table& root, const std::string& file, const Declaration& fields) {
  Reader reader(root, file);
  fields(reader);
}

Json WriteJson(const Declaration& fields) { return WriteOrderedJson(fields); }

OrderedJson WriteOrderedJson(const Declaration& fields) {
  JsonWriter writer;
  fields(writer);
  return std::move(writer.root);
}

std::string SchemaJson(const char* title, const Declaration& fields) {
  SchemaWriter writer;
  OrderedJson schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
  schema.update(writer.Object([&] { fields(writer); }));
  return schema.dump(2);
}

}  // namespace trefoil::jobs
