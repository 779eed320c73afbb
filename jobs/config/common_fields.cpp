#include "jobs/config/common_fields.h"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

/// The number 1: of the format of job files.
struct Version {
  [[nodiscard]] std::string Expected(const toml::node* found) const {
    return found != nullptr && kAny.Value(*found) ? "1" : kAny.Expected();
  }
  bool Read(const toml::node& node, int& member) const { return WholeInterval{1, 1}.Read(node, member); }
  void Write(int member, Json& json) const { json = member; }
  void Describe(Json& schema) const { schema["const"] = 1; }

  static constexpr WholeInterval kAny{0, INT32_MAX};
};

const OneOf<bool>& SplitKinds() {
  static const OneOf<bool> kinds{{false, "even"}, {true, "sorted"}};
  return kinds;
}

/// local.split: a word, or three fractions.
struct Split {
  [[nodiscard]] std::string Expected(const toml::node* found) const {
    if (found == nullptr || !found->is_array()) return SplitKinds().Expected(found);
    for (const auto& element : *found->as_array()) {
      double fraction = 0;
      if (!kDeltas.Read(element, fraction)) return "an array, each of it " + kDeltas.Expected();
    }
    return "\"even\", \"sorted\" or three fractions above 0 that add up to at most 1";
  }

  bool Read(const toml::node& node, LocalSpec& local) const {
    if (!node.is_array()) return SplitKinds().Read(node, local.sorted);
    std::array<double, 3> fractions{};
    const auto& array = *node.as_array();
    if (array.size() != fractions.size()) return false;
    for (std::size_t i = 0; i < fractions.size(); ++i) {
      if (!kDeltas.Read(array[i], fractions.at(i))) return false;
    }
    if (fractions[0] + fractions[1] + fractions[2] > 1.0 + 1e-9) return false;
    local.fractions = fractions;
    return true;
  }

  void Write(const LocalSpec& local, Json& json) const {
    if (local.fractions) {
      json = *local.fractions;
    } else {
      SplitKinds().Write(local.sorted, json);
    }
  }

  void Describe(Json& schema) const {
    Json words = Json::object();
    SplitKinds().Describe(words);
    Json fraction = Json::object();
    kDeltas.Describe(fraction);
    schema["oneOf"] = {words, {{"type", "array"}, {"items", fraction}, {"minItems", 3}, {"maxItems", 3}}};
  }
};

}  // namespace

void TypeFields(FieldVisitor& v, const char* type) {
  int version = 1;
  v("version", version, Version{}, "The version of the format.");
  int only = 0;
  v("type", only, OneOf<int>{{0, type}}, "The type of job.");
}

void NameField(FieldVisitor& v, std::string& name) {
  v("name", name, Name{}, "Letters, digits, `.`, `_`, `-`; beginning with a letter or digit.");
}

void HeaderFields(FieldVisitor& v, const char* type, std::string& name) {
  TypeFields(v, type);
  NameField(v, name);
}

void RowsField(FieldVisitor& v, std::array<std::int64_t, 3>& rows) {
  v("rows", rows, OfEachParty{1'000'000'000, true},
    "Capacity of each party, one in all at least. More rows are an error, fewer are padded.");
}

void AccountantField(FieldVisitor& v, dp::AccountantKind& accountant) {
  v("accountant", accountant,
    OneOf<dp::AccountantKind>{{dp::AccountantKind::kPld, "pld"}, {dp::AccountantKind::kRdp, "rdp"}},
    Default(dp::AccountantKind::kPld),
    "By which ε is computed and Gaussian noise calibrated: `pld`, exact for plain Gaussians; or `rdp`.");
}

const OneOf<ml::Adversary>& Adversaries() {
  static const OneOf<ml::Adversary> adversaries{{ml::Adversary::kInsider, "insider"},
                                                {ml::Adversary::kOutsider, "outsider"}};
  return adversaries;
}

void CheckOneOfEpsilonAndSigma(FieldVisitor& v) {
  v.Check([](const Section& privacy) {
    if (privacy.Has("epsilon") == privacy.Has("sigma"))
      privacy.Refuse("epsilon", "one of privacy.epsilon and privacy.sigma (the noise multiplier)");
  });
}

void ReleaseFields(FieldVisitor& v, const char* help, std::vector<int>& to, bool none_allowed) {
  v.Table("release", "Who gets the results.", [&] {
    v("to", to, Parties{none_allowed}, Default(std::vector<int>{0, 1, 2}), help);
  });
}

void Fields(FieldVisitor& v, LocalSpec& local) {
  v("split", local, Split{}, Default(LocalSpec{}),
    "`even`: row i to party i mod 3; `sorted`: stably by label, contiguous thirds; or three fractions of the "
    "rows, each above 0 and below 1, of sum at most 1.");
}

std::string WithoutLocal(const Declaration& fields) {
  auto json = WriteJson(fields);
  json.erase("local");
  return json.dump();
}

std::string OnlyLocal(const Declaration& fields) {
  return WriteJson(fields).value("local", Json::object()).dump();
}

}  // namespace trefoil::jobs
