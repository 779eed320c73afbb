#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "jobs/config/domains.h"
#include "jobs/config/toml/toml_reader.h"

// A key is declared once. For settings S,
//
//   void Fields(FieldVisitor& v, S& s) {
//     v("steps", s.steps, WholeInterval{1, 500}, "Steps of the training.");
//     v("momentum", s.momentum, Fraction{false}, Default(0.0), "What a step keeps of the one before.");
//     v.When({s.schedule == Schedule::kStep, "training.schedule \"step\""}, [&] { v("decay_every", ...); });
//     v.Table("privacy", "What is protected.", s.privacy);
//   }
//
// says what reading, writing, the known keys and the JSON Schema need. Fields never asks which of them
// visits.

namespace trefoil::jobs {

/// What a key without a value has.
template <typename T>
struct Default {
  explicit Default(T of) : value(std::move(of)) {}
  /// For a value that depends on others: how a page says it, "a tenth of training.steps".
  Default Said(const char* text) && {
    said = text;
    return std::move(*this);
  }
  /// The default holds unless `required`.
  Default Unless(bool is_required) && {
    required = is_required;
    return std::move(*this);
  }
  /// The canonical JSON has the key only with another value: a key that came after the first release.
  Default LeftOut() && {
    left_out = true;
    return std::move(*this);
  }

  T value;
  const char* said = nullptr;
  bool required = false;
  bool left_out = false;
};

/// Of a table of texts that came after the first release: the canonical JSON has it only where it is not
/// empty.
struct LeftOutEmpty {};

/// Of a key whose member is a std::optional: whether it must be there.
struct Required {
  bool required = true;
};

/// One key with its member, whatever their types are.
class Field {
 public:
  virtual ~Field() = default;

  [[nodiscard]] virtual bool required() const = 0;
  [[nodiscard]] virtual std::string Expected(const toml::node* found) const = 0;
  /// False, and nothing changed, unless the node is a value that the key may have.
  virtual bool Read(const toml::node& node) = 0;
  /// Sets the default, if there is one.
  virtual void Fill() = 0;
  /// False where the canonical JSON does not have the key.
  virtual bool Write(nlohmann::json& json) const = 0;
  /// JSON Schema of the value.
  virtual void Describe(nlohmann::json& schema) const = 0;
  /// False where there is no default.
  virtual bool WriteDefault(nlohmann::json& json) const = 0;

  const char* key;
  const char* help;
  const char* said;  ///< as Default::said

 protected:
  Field(const char* of_key, const char* of_help, const char* of_said)
      : key(of_key), help(of_help), said(of_said) {}
};

/// When a key may be there.
struct Condition {
  bool holds;
  std::string only;          ///< as in "only histogram.mode \"local\" has it"
  std::string refusal = {};  ///< of a key that is there though it must not be; empty: "only ONLY has it"
};

/// Goes through the keys of settings in the order of their declarations.
class FieldVisitor {
 public:
  using Part = std::function<void()>;
  using Rule = std::function<void(const Section& table)>;

  virtual ~FieldVisitor() = default;

  /// A key that must be there, but where its member is a std::optional.
  template <typename T, typename D>
  void operator()(const char* key, T& member, const D& domain, const char* help);
  /// A key that need not be there.
  template <typename T, typename D, typename U>
  void operator()(const char* key, T& member, const D& domain, const Default<U>& fallback, const char* help);
  template <typename T, typename D>
  void operator()(const char* key, T& member, const D& domain, Required required, const char* help);
  /// A table of texts under keys of the user's own.
  void operator()(const char* key, std::map<std::string, std::string>& member, const char* help) {
    TextTable(key, member, help, false);
  }
  void operator()(const char* key, std::map<std::string, std::string>& member, LeftOutEmpty /*when*/,
                  const char* help) {
    TextTable(key, member, help, true);
  }

  /// A table whose keys `part` declares, or the Fields of `settings`; one that is absent reads as empty.
  virtual void Table(const char* key, const char* help, const Part& part) = 0;
  template <typename S>
  void Table(const char* key, const char* help, S& settings) {
    Table(key, help, Part([&] { Fields(*this, settings); }));
  }
  /// A table that may be absent, which its settings then are; `fields(settings)` declares its keys.
  template <typename S, typename F>
  void Table(const char* key, const char* help, std::optional<S>& settings, const F& fields);
  /// An array of tables, each with the keys that `fields(element)` declares. The schema wants `count` of
  /// them; a rule tells the reader.
  template <typename S, typename F>
  void Tables(const char* key, const char* help, std::vector<S>& elements, const F& fields,
              std::optional<std::size_t> count = {});

  /// Keys that are refused, with the reason, unless the condition holds.
  virtual void When(const Condition& condition, const Part& part) = 0;
  /// Keys that are unknown unless the condition holds. It may depend on what the settings were before reading
  /// only.
  virtual void If(bool holds, const Part& part) = 0;
  /// What keys say about each other: the reader calls `rule` with the table where it stands, behind the keys
  /// before it.
  virtual void Check(const Rule& /*rule*/) {}

 protected:
  virtual void Visit(Field& field) = 0;
  virtual void TextTable(const char* key, std::map<std::string, std::string>& member, const char* help,
                         bool left_out_empty) = 0;
  /// Whether an optional table is to be visited, which is now `present` in the settings.
  virtual bool Wants(const char* key, bool present) = 0;
  /// How many elements of an array of tables are to be visited; there are `size` in the settings.
  virtual std::size_t Elements(const char* key, const char* help, std::size_t size,
                               std::optional<std::size_t> count) = 0;
  virtual void Element(const char* key, std::size_t index, const Part& part) = 0;
};

/// Declares the keys of settings to a visitor.
using Declaration = std::function<void(FieldVisitor&)>;

/// The keys in full, as CheckKeys takes them.
[[nodiscard]] std::vector<std::string> KeysOf(const Declaration& fields);
/// Reads a document; `file` names it in errors. Unknown keys are CheckKeys'. Throws ConfigError with one
/// line: place, key, what was found, what was expected.
void ReadInto(const toml::table& root, const std::string& file, const Declaration& fields);
/// The settings as JSON with sorted keys, every default filled in.
[[nodiscard]] nlohmann::json WriteJson(const Declaration& fields);
/// The same with the keys in the order of their declarations.
[[nodiscard]] nlohmann::ordered_json WriteOrderedJson(const Declaration& fields);
/// A JSON Schema (2020-12) of a document. It takes keys that a condition refuses; their description tells the
/// condition.
[[nodiscard]] std::string SchemaJson(const char* title, const Declaration& fields);

/// Reads a whole document, no key of which may be unknown, into settings made anew. Throws ConfigError as
/// above.
template <typename S>
void ReadFields(const toml::table& root, const std::string& file, S& settings) {
  S scratch = settings;
  CheckKeys(root, file, KeysOf([&](FieldVisitor& v) { Fields(v, scratch); }));
  ReadInto(root, file, [&](FieldVisitor& v) { Fields(v, settings); });
}

// Below: how members, domains and defaults become a Field.

template <typename T>
struct Inner {
  using Type = T;
};
template <typename T>
struct Inner<std::optional<T>> {
  using Type = T;
};

template <typename T, typename D>
class FieldOf final : public Field {
 public:
  /// Whether the member may lack a value that the domain knows.
  static constexpr bool kOptional =
      !std::is_same_v<typename Inner<T>::Type, T> &&
      !requires(const D& domain, const toml::node& node, T& member) { domain.Read(node, member); };

  FieldOf(const char* of_key, const char* of_help, T& member, const D& domain, bool required,
          std::optional<T> fallback, const char* said, bool left_out)
      : Field(of_key, of_help, said),
        member_(member),
        domain_(domain),
        required_(required),
        left_out_(left_out),
        fallback_(std::move(fallback)) {}

  [[nodiscard]] bool required() const override { return required_; }
  [[nodiscard]] std::string Expected(const toml::node* found) const override {
    return domain_.Expected(found);
  }
  bool Read(const toml::node& node) override {
    if constexpr (kOptional) {
      typename Inner<T>::Type value{};
      if (!domain_.Read(node, value)) return false;
      member_ = std::move(value);
      return true;
    } else {
      return domain_.Read(node, member_);
    }
  }
  void Fill() override {
    if (fallback_) member_ = *fallback_;
  }
  bool Write(nlohmann::json& json) const override {
    if constexpr (std::equality_comparable<T>) {
      if (left_out_ && fallback_ && member_ == *fallback_) return false;
    }
    return WriteValue(member_, json);
  }
  void Describe(nlohmann::json& schema) const override { domain_.Describe(schema); }
  bool WriteDefault(nlohmann::json& json) const override { return fallback_ && WriteValue(*fallback_, json); }

 private:
  bool WriteValue(const T& value, nlohmann::json& json) const {
    if constexpr (kOptional) {
      if (value) domain_.Write(*value, json);
      return value.has_value();
    } else {
      domain_.Write(value, json);
      return true;
    }
  }

  T& member_;
  const D& domain_;
  bool required_;
  bool left_out_;
  std::optional<T> fallback_;
};

template <typename T, typename D>
void FieldVisitor::operator()(const char* key, T& member, const D& domain, Required required,
                              const char* help) {
  FieldOf<T, D> field(key, help, member, domain, required.required, {}, nullptr, false);
  Visit(field);
}

template <typename T, typename D>
void FieldVisitor::operator()(const char* key, T& member, const D& domain, const char* help) {
  (*this)(key, member, domain, Required{!FieldOf<T, D>::kOptional}, help);
}

template <typename T, typename D, typename U>
void FieldVisitor::operator()(const char* key, T& member, const D& domain, const Default<U>& fallback,
                              const char* help) {
  FieldOf<T, D> field(key, help, member, domain, fallback.required, static_cast<T>(fallback.value),
                      fallback.said, fallback.left_out);
  Visit(field);
}

template <typename S, typename F>
void FieldVisitor::Table(const char* key, const char* help, std::optional<S>& settings, const F& fields) {
  if (!Wants(key, settings.has_value())) {
    settings.reset();
    return;
  }
  if (!settings) settings.emplace();
  Table(key, help, Part([&] { fields(*settings); }));
}

template <typename S, typename F>
void FieldVisitor::Tables(const char* key, const char* help, std::vector<S>& elements, const F& fields,
                          std::optional<std::size_t> count) {
  elements.resize(Elements(key, help, elements.size(), count));
  for (std::size_t i = 0; i < elements.size(); ++i) Element(key, i, [&] { fields(elements[i]); });
}

}  // namespace trefoil::jobs
