#include "jobs/config/fields.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

enum class Shape { kFlat, kSteps };

struct Part {
  std::string name;
  std::int64_t size = 0;
};

struct Extra {
  double scale = 0;
};

struct Settings {
  std::int64_t steps = 0;
  Shape shape = Shape::kFlat;
  std::int64_t every = 1;
  std::optional<double> sigma{};
  std::int64_t later = 0;
  std::map<std::string, std::string> aliases{};
  std::vector<Part> parts{};
  std::optional<Extra> extra{};
  bool has_owners = false;
  std::int64_t owners = 0;
};

void Fields(FieldVisitor& v, Settings& s) {
  v.Table("training", "How.", [&] {
    v("steps", s.steps, WholeInterval{1, 100}, "Steps.");
    v("shape", s.shape, OneOf<Shape>{{Shape::kFlat, "flat"}, {Shape::kSteps, "steps"}}, Default(Shape::kFlat),
      "Shape.");
    v.When({s.shape == Shape::kSteps, "training.shape \"steps\""}, [&] {
      v("every", s.every, WholeInterval{1, 9}, "Between two falls.");
    });
    v("later", s.later, WholeInterval{0, 100}, Default(s.steps / 10).Said("a tenth of `steps`").LeftOut(),
      "Later.");
  });
  v("sigma", s.sigma, kPositive, "Noise.");
  v("aliases", s.aliases, "Other names.");
  v.Tables("part", "Parts.", s.parts, [&](Part& part) {
    v("name", part.name, Name{}, "Its name.");
    v("size", part.size, WholeInterval{0, 9}, Default(3), "Its size.");
  });
  v.Table("extra", "May be absent.", s.extra,
          [&](Extra& extra) { v("scale", extra.scale, kPositive, "Its scale."); });
  v.If(s.has_owners, [&] { v("owners", s.owners, WholeInterval{1, 3}, "Owners."); });
  v.Check([&](const Section& document) {
    if (s.sigma && *s.sigma > static_cast<double>(s.steps))
      document.Refuse("sigma", "at most training.steps");
  });
}

Settings SettingsIn(const std::string& text, bool has_owners = false) {
  Settings settings;
  settings.has_owners = has_owners;
  ReadFields(toml::parse(text), "x.toml", settings);
  return settings;
}

std::string ErrorIn(const std::string& text, bool has_owners = false) {
  return testing_support::ErrorText<ConfigError>([&] { (void)SettingsIn(text, has_owners); });
}

constexpr const char* kAll = R"(sigma = 2.5
[training]
steps = 30
shape = "steps"
every = 4
[aliases]
a = "b"
[[part]]
name = "first"
[[part]]
name = "second"
size = 7
[extra]
scale = 0.5
)";

TEST(ReadFields, ReadsEveryKindOfKey) {
  const auto all = SettingsIn(kAll);
  EXPECT_EQ(all.steps, 30);
  EXPECT_EQ(all.shape, Shape::kSteps);
  EXPECT_EQ(all.every, 4);
  EXPECT_EQ(all.later, 3);
  EXPECT_EQ(all.sigma, 2.5);
  EXPECT_EQ(all.aliases.at("a"), "b");
  ASSERT_EQ(all.parts.size(), 2U);
  EXPECT_EQ(all.parts[0].size, 3);
  EXPECT_EQ(all.parts[1].name, "second");
  ASSERT_TRUE(all.extra);
  EXPECT_EQ(all.extra->scale, 0.5);
}

TEST(ReadFields, LeavesOutWhatMayBeAbsent) {
  const auto few = SettingsIn("[training]\nsteps = 30");
  EXPECT_EQ(few.shape, Shape::kFlat);
  EXPECT_FALSE(few.sigma);
  EXPECT_FALSE(few.extra);
  EXPECT_TRUE(few.parts.empty());
}

TEST(ReadFields, NamesPlaceFoundAndExpected) {
  const std::string training = "[training]\nsteps = 30\n";
  EXPECT_EQ(ErrorIn("[training]\n"), "x.toml: missing training.steps, expected a whole number from 1 to 100");
  EXPECT_EQ(ErrorIn("[training]\nsteps = 0"),
            "x.toml:2: training.steps: found 0, expected a whole number from 1 to 100");
  EXPECT_EQ(
      ErrorIn(training + "shape = \"stepps\""),
      "x.toml:3: training.shape: found \"stepps\", expected one of \"flat\", \"steps\"; did you mean steps?");
  EXPECT_EQ(ErrorIn(training + "every = 2"),
            "x.toml:3: training.every: only training.shape \"steps\" has it");
  EXPECT_EQ(ErrorIn(training + "step = 2"),
            "x.toml:3: unknown key training.step; did you mean training.steps?");
  EXPECT_EQ(ErrorIn(training + "[[part]]\nsize = 10"),
            "x.toml: missing part.name, expected a name of letters, digits, '.', '_' and '-' (at most 64), "
            "beginning with a letter or digit");
  EXPECT_EQ(ErrorIn(training + "[extra]\n"), "x.toml: missing extra.scale, expected a number above 0");
  EXPECT_EQ(ErrorIn(training + "[aliases]\na = 1"),
            "x.toml:4: aliases.a: found 1, expected a text in quotes");
  EXPECT_EQ(ErrorIn("sigma = 31\n" + training), "x.toml:1: sigma: found 31, expected at most training.steps");
}

TEST(ReadFields, DoesNotKnowKeysOfAnotherCase) {
  EXPECT_EQ(ErrorIn("owners = 2\n[training]\nsteps = 30"), "x.toml:1: unknown key owners");
  EXPECT_EQ(SettingsIn("owners = 2\n[training]\nsteps = 30", true).owners, 2);
  EXPECT_EQ(ErrorIn("[training]\nsteps = 30", true),
            "x.toml: missing owners, expected a whole number from 1 to 3");
}

Json JsonOf(Settings settings) {
  return WriteJson([&](FieldVisitor& v) { Fields(v, settings); });
}

TEST(WriteJson, FillsInDefaultsAndLeavesOutWhatIsNotThere) {
  EXPECT_EQ(JsonOf(SettingsIn("[training]\nsteps = 30")).dump(),
            R"({"aliases":{},"part":[],"training":{"shape":"flat","steps":30}})");
  EXPECT_EQ(JsonOf(SettingsIn("[training]\nsteps = 30\nlater = 4")).at("training").at("later"), 4);
  EXPECT_EQ(
      JsonOf(SettingsIn(kAll)).dump(),
      R"({"aliases":{"a":"b"},"extra":{"scale":0.5},"part":[{"name":"first","size":3},{"name":"second","size":7}],)"
      R"("sigma":2.5,"training":{"every":4,"shape":"steps","steps":30}})");
}

TEST(SchemaJson, JoinsPartsOfATableAndAlternatives) {
  std::int64_t number = 0;
  const auto table = [&](FieldVisitor& v, const char* name, const char* help, const char* key) {
    v.Table(name, help, [&] { v(key, number, WholeInterval{0, 9}, "A number."); });
  };
  const auto schema = Json::parse(SchemaJson("x", [&](FieldVisitor& v) {
    table(v, "parts", "The first.", "a");
    table(v, "parts", "", "b");
    v.If(true, [&] { table(v, "either", "The first.", "a"); });
    v.If(false, [&] { table(v, "either", "The last.", "b"); });
    v.If(true, [&] { table(v, "alike", "", "a"); });
    v.If(false, [&] { table(v, "alike", "", "a"); });
  }));
  const auto& parts = schema.at("properties").at("parts");
  EXPECT_EQ(parts.at("description"), "The first.");
  EXPECT_EQ(parts.at("properties").size(), 2U);
  EXPECT_EQ(parts.at("required"), Json({"a", "b"}));
  const auto& either = schema.at("properties").at("either");
  EXPECT_EQ(either.at("description"), "The last.");
  EXPECT_EQ(either.at("properties").size(), 2U);
  EXPECT_FALSE(either.contains("required"));  // in either case only one of them
  for (const char* key : {"a", "b"}) EXPECT_EQ(either.at("properties").at(key).at("x-required"), true);
  EXPECT_EQ(schema.at("properties").at("alike").at("required"), Json({"a"}));
}

TEST(SchemaJson, SaysRangesChoicesDefaultsAndConditions) {
  Settings settings;
  const auto schema = Json::parse(SchemaJson("x", [&](FieldVisitor& v) { Fields(v, settings); }));
  EXPECT_EQ(schema.at("required"), Json({"training"}));
  EXPECT_EQ(schema.at("additionalProperties"), false);
  const auto& training = schema.at("properties").at("training");
  EXPECT_EQ(training.at("required"), Json({"steps"}));
  const auto& keys = training.at("properties");
  EXPECT_EQ(keys.at("steps"),
            Json({{"type", "integer"}, {"minimum", 1}, {"maximum", 100}, {"description", "Steps."}}));
  EXPECT_EQ(keys.at("shape").at("enum"), Json({"flat", "steps"}));
  EXPECT_EQ(keys.at("shape").at("default"), "flat");
  EXPECT_EQ(keys.at("every").at("description"), "Between two falls. Only with training.shape \"steps\".");
  EXPECT_EQ(keys.at("later").at("x-default"), "a tenth of `steps`");
  const auto& part = schema.at("properties").at("part");
  EXPECT_EQ(part.at("type"), "array");
  EXPECT_EQ(part.at("items").at("required"), Json({"name"}));
  EXPECT_EQ(schema.at("properties").at("extra").at("required"), Json({"scale"}));
  EXPECT_TRUE(schema.at("properties").contains("owners"));
}

}  // namespace
}  // namespace trefoil::jobs
