#include "data/dataset/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

DataSpec ValidSpec() {
  DataSpec spec;
  spec.format = Format::kCsv;
  spec.features = 3;
  spec.columns = {{"age", ColumnKind::kNumber, 40, 10, {}},
                  {"job", ColumnKind::kCategory, 0, 1, {"clerk", "nurse"}},
                  {"note", ColumnKind::kIgnore, 0, 0, {}}};
  spec.label = {"rich", {"no", "yes"}, {{"no.", "no"}}};
  return spec;
}

TEST(ValidateSpec, AcceptsAConsistentSpec) {
  EXPECT_NO_THROW(ValidateSpec(ValidSpec()));
  DataSpec labelled = ValidSpec();
  labelled.columns.push_back({"rich", ColumnKind::kCategory, 0, 1, {}});  // the label's kind does not matter
  EXPECT_NO_THROW(ValidateSpec(labelled));
  DataSpec idx;
  idx.features = 784;
  EXPECT_NO_THROW(ValidateSpec(idx));
}

TEST(ValidateSpec, TakesImagesOfOneSizeWithAFolderForEachClass) {
  DataSpec spec;
  spec.format = Format::kImages;
  spec.features = 12;
  spec.image = {.height = 2, .width = 2, .channels = 3};
  spec.label.values = {"cat", "guide dog"};
  EXPECT_NO_THROW(ValidateSpec(spec));
  const auto error = [&](const ImageSize& image, std::vector<std::string> values) {
    auto other = spec;
    other.image = image;
    other.label.values = std::move(values);
    return ErrorText<ConfigError>([&] { ValidateSpec(other); });
  };
  EXPECT_EQ(error({.height = 3, .width = 4}, spec.label.values), "");
  for (const auto& image : {ImageSize{}, ImageSize{2, 3, 2}, ImageSize{2, 2, 1}})
    EXPECT_THAT(error(image, spec.label.values),
                HasSubstr("of 12 values (data.features), with data.format \"images\""));
  EXPECT_THAT(error(spec.image, {"cat"}), HasSubstr("data.label.values: found 1 values, expected 2"));
  EXPECT_THAT(error(spec.image, {"cat", "cat"}), HasSubstr("\"cat\" twice"));
  for (const std::string name : {"", ".", "..", ".dog", "a/b", "../dog"})
    EXPECT_THAT(error(spec.image, {"cat", name}),
                HasSubstr("expected names of folders with data.format \"images\""));
}

TEST(CountFeatures, CountsNumbersAndCategoriesButNotTheLabel) {
  DataSpec spec = ValidSpec();
  EXPECT_EQ(CountFeatures(spec), 3);
  spec.label.column = "job";
  EXPECT_EQ(CountFeatures(spec), 1);
}

TEST(CountFeatures, CountsDatesBinsAndIndicators) {
  DataSpec spec = ValidSpec();
  spec.columns[0].missing_indicator = true;
  spec.columns[2].kind = ColumnKind::kBin;
  spec.columns[2].edges = {1, 2, 3};
  spec.columns.push_back({.name = "since", .kind = ColumnKind::kDate, .values = {}});
  EXPECT_EQ(CountFeatures(spec), 2 + 2 + 4 + 1);
}

struct SpecFlaw {
  std::string name;
  std::function<void(DataSpec&)> make;
  std::string text;
};

class ValidateSpecRefusal : public testing::TestWithParam<SpecFlaw> {};

TEST_P(ValidateSpecRefusal, NamesTheKey) {
  DataSpec spec = ValidSpec();
  GetParam().make(spec);
  EXPECT_THAT(ErrorText<ConfigError>([&] { ValidateSpec(spec); }), HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Flaws, ValidateSpecRefusal,
    testing::Values(
        SpecFlaw{"features_differ", [](DataSpec& s) { s.features = 4; },
                 "data.features: found 4, expected 3"},
        SpecFlaw{"no_features", [](DataSpec& s) { s.features = 0; }, "data.features: found 0"},
        SpecFlaw{"negative_rows", [](DataSpec& s) { s.rows[1] = -1; }, "data.rows: found -1"},
        SpecFlaw{"one_class", [](DataSpec& s) { s.classes = 1; }, "data.classes: found 1"},
        SpecFlaw{"zero_scale", [](DataSpec& s) { s.scale = 0; }, "data.scale: found 0"},
        SpecFlaw{"no_columns", [](DataSpec& s) { s.columns.clear(); }, "data.column: found none"},
        SpecFlaw{"same_name", [](DataSpec& s) { s.columns[2].name = "age"; }, "found \"age\" twice"},
        SpecFlaw{"column_scale", [](DataSpec& s) { s.columns[0].scale = -1; },
                 "data.column \"age\" scale: found -1"},
        SpecFlaw{"column_mean",
                 [](DataSpec& s) { s.columns[0].mean = std::numeric_limits<double>::quiet_NaN(); },
                 "data.column \"age\" mean: found nan"},
        SpecFlaw{"no_categories", [](DataSpec& s) { s.columns[1].values.clear(); },
                 "data.column \"job\" values: found none"},
        SpecFlaw{"same_category",
                 [](DataSpec& s) {
                   s.columns[1].values = {"a", "a"};
                 },
                 "found \"a\" twice"},
        SpecFlaw{"numeric_words", [](DataSpec& s) { s.columns[1].numeric = true; },
                 "data.column \"job\" values: found \"clerk\", expected numbers"},
        SpecFlaw{"alias_of_no_category", [](DataSpec& s) { s.columns[1].aliases["x"] = "y"; },
                 "data.column \"job\" aliases: found \"y\", expected one of the values"},
        SpecFlaw{"numeric_alias_of_two",
                 [](DataSpec& s) {
                   s.label.values = {"0", "1"};
                   s.label.numeric = true;
                   s.label.aliases = {{"1.0", "0"}};
                 },
                 "data.label.aliases: found \"1.0\" for another value"},
        SpecFlaw{"infinite_edge",
                 [](DataSpec& s) {
                   s.columns[2].kind = ColumnKind::kBin;
                   s.columns[2].edges = {0, std::numeric_limits<double>::infinity()};
                 },
                 "data.column \"note\" edges: found edges out of order"},
        SpecFlaw{"fill_too_large", [](DataSpec& s) { s.columns[0].fill = "1e20"; },
                 "data.column \"age\" fill: found \"1e20\", expected at most 1e+09"},
        SpecFlaw{"no_label", [](DataSpec& s) { s.label.column = ""; }, "data.label.column"},
        SpecFlaw{"label_count", [](DataSpec& s) { s.classes = 3; },
                 "data.label.values: found 2 values, expected 3"},
        SpecFlaw{"same_label",
                 [](DataSpec& s) {
                   s.label.values = {"no", "no"};
                 },
                 "data.label.values: found \"no\" twice"},
        SpecFlaw{"alias_of_nothing", [](DataSpec& s) { s.label.aliases["maybe"] = "perhaps"; },
                 "found \"perhaps\""},
        SpecFlaw{"alias_of_two", [](DataSpec& s) { s.label.aliases["yes"] = "no"; },
                 "found \"yes\" for another value"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trefoil::data
