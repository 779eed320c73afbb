#include "jobs/config/domains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "jobs/job.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool Takes(const Interval& interval, double number) {
  double member = 0;
  const toml::value<double> node(number);
  return interval.Read(node, member) && member == number;
}

Json SchemaOf(const Interval& interval) {
  Json schema;
  interval.Describe(schema);
  return schema;
}

TEST(Interval, TakesItsClosedEndsAndNothingBeyond) {
  const Interval closed{.least = 0.05, .most = 0.999};
  EXPECT_TRUE(Takes(closed, 0.05));
  EXPECT_TRUE(Takes(closed, 0.999));
  EXPECT_FALSE(Takes(closed, std::nextafter(0.05, 0)));
  EXPECT_FALSE(Takes(closed, std::nextafter(0.999, 1)));
  EXPECT_EQ(closed.Expected(), "a number from 0.05 to 0.999");
  EXPECT_EQ(SchemaOf(closed), Json({{"type", "number"}, {"minimum", 0.05}, {"maximum", 0.999}}));
  EXPECT_FALSE(Takes(Interval{.most = 1.0}, kInfinity));
  EXPECT_FALSE(Takes(Interval{.most = 1.0}, -kInfinity));
}

TEST(Interval, TakesNoOpenEnd) {
  const Interval open{.above = 0.0, .below = 1.0};
  EXPECT_FALSE(Takes(open, 0));
  EXPECT_TRUE(Takes(open, std::nextafter(0, 1)));
  EXPECT_TRUE(Takes(open, std::nextafter(1, 0)));
  EXPECT_FALSE(Takes(open, 1));
  EXPECT_EQ(SchemaOf(open), Json({{"type", "number"}, {"exclusiveMinimum", 0}, {"exclusiveMaximum", 1}}));
}

TEST(Interval, SaysWhichEndsItHas) {
  EXPECT_EQ(kAnyNumber.Expected(), "a finite number");
  EXPECT_EQ(kPositive.Expected(), "a number above 0");
  EXPECT_EQ((Interval{.below = 2.5}.Expected()), "a number below 2.5");
  EXPECT_EQ((Interval{.above = 0.0, .below = 1.0}.Expected()), "a number above 0 and below 1");
  EXPECT_EQ((Interval{.above = 0.0, .most = 1.0}.Expected()), "a number above 0, at most 1");
  EXPECT_EQ((Interval{.least = 0.01, .below = 1e6}.Expected()), "a number from 0.01 to below 1000000");
  EXPECT_EQ((Ascending{{.least = 0.0, .most = 1.0}}.Expected(nullptr)),
            "an array of finite numbers from 0 to 1 in ascending order");
}

using Path = std::vector<std::string>;
using EndCheck = std::function<void(const Path& key, const Json& beyond)>;

/// The numbers next to the ends that the schema of a number states, outside.
std::vector<Json> Beyond(const Json& schema) {
  std::vector<Json> numbers;
  for (const auto& [end, outside] : {std::pair{"minimum", -kInfinity}, std::pair{"maximum", kInfinity}}) {
    if (!schema.contains(end)) continue;
    if (schema.at("type") == "integer") {
      numbers.emplace_back(schema.at(end).get<std::int64_t>() + (outside < 0 ? -1 : 1));
    } else {
      numbers.emplace_back(std::nextafter(schema.at(end).get<double>(), outside));
    }
  }
  for (const char* end : {"exclusiveMinimum", "exclusiveMaximum"}) {
    if (schema.contains(end)) numbers.push_back(schema.at(end));
  }
  return numbers;
}

/// Calls `check` with each key for which the schema states an end, and a value of it that is beyond that.
void ForEachEnd(const Json& schema, const Path& key, const EndCheck& check) {
  for (const auto& one : schema.value("oneOf", Json::array())) ForEachEnd(one, key, check);
  const auto type = schema.value("type", "");
  if (type == "number" || type == "integer") {
    for (const auto& number : Beyond(schema)) check(key, number);
  } else if (type == "array") {
    ForEachEnd(schema.at("items"), key, [&](const Path& inner, const Json& beyond) {
      check(inner,
            inner == key ? Json(std::vector(schema.value("minItems", std::size_t{1}), beyond)) : beyond);
    });
  } else if (type == "object") {
    const auto properties = schema.value("properties", Json::object());  // a table of texts has none
    for (const auto& [name, of] : properties.items()) {
      auto inner = key;
      inner.push_back(name);
      ForEachEnd(of, inner, check);
    }
  }
}

/// The document with this value of a key; where tables of an array have the key, once for each of them.
std::vector<Json> Edits(const Json& document, const Path& key, const Json& value) {
  if (key.empty()) return {value};
  std::vector<Json> edits;
  if (document.is_array()) {
    for (std::size_t i = 0; i < document.size(); ++i) {
      for (const auto& edit : Edits(document[i], key, value)) edits.emplace_back(document)[i] = edit;
    }
    return edits;
  }
  const auto table = document.is_object() ? document : Json::object();
  for (const auto& edit : Edits(table.value(key[0], Json()), {key.begin() + 1, key.end()}, value))
    edits.emplace_back(table)[key[0]] = edit;
  return edits;
}

/// Changes of a file of configs/, as RFC 7396 says, which let keys in that none of these has. What comes of it
/// need not be a job.
constexpr std::pair<const char*, const char*> kChanges[] = {
    {"mnist.toml", R"({"privacy": {"clip": "adaptive"}, "training": {"schedule": "cosine"}})"},
    {"mnist.toml",
     R"({"privacy": {"epsilon": null, "sigma": 2}, "model": {"hidden": [8], "class_weights": "balanced"},
      "training": {"schedule": "step", "decay_every": 2, "decay_factor": 0.5}})"},
    {"mnist.toml", R"({"model": {"loss": "huber"}, "features": {"standardise": "private"}})"},
    {"mnist.toml", R"({"data": {"source": "store", "rows": null, "capacity": 9},
      "batches": {"run": "a", "deposits": 2, "records": 3}})"},
    {"mnist.toml", R"({"features": {"method": "onnx", "model_sha256": "", "outputs": 2}})"},
    {"mnist.toml", R"({"evaluation": {"holder": 0, "rows": 9},
      "privacy": {"unit": "group", "group_column": "k", "max_group_rows": 2}})"},
    {"mnist-pea.toml", R"({"initialisation": {"method": "accuracy", "epsilon": null, "sigma": 2}})"},
    {"mnist-pea.toml", R"({"initialisation": {"method": "accuracy", "selection": "public-validation",
      "validation_holder": 0, "validation_rows": 9, "selection_rows": null, "selection_sigma": null}})"},
    {"adult.toml", R"({"data": {"column": [{"name": "a"}, {"name": "b", "kind": "weight"}]}})"},
    {"adult.toml", R"({"data": {"column": [{"name": "a", "range": "private"}]},
      "features": {"standardise": "private"}})"},
    {"adult-vertical.toml", R"({"data": {"classes": null, "label": null,
      "target": {"column": "a", "low": 0, "high": 1, "party": 1}}})"},
    {"adult-histogram.toml", R"({"privacy": {"epsilon": null, "sigma": 2, "delta": 1e-5},
      "histogram": {"mode": "central", "noise": "gaussian", "randomiser": null}})"},
    {"pate.toml", R"({"pate": {"mechanism": "lnmax", "scale": 9, "sigma": null, "threshold": null,
      "threshold_sigma": null, "answers": null}})"},
    {"pate.toml", R"({"pate": {"mechanism": "interactive-gnmax"}})"},
    {"mnist-pate.toml", R"({"teacher": {"loss": "one-vs-rest", "lambda": 0.1}, "student": {"lambda": 0.1}})"},
    {"sum.toml", R"({"sum": {"summed": "owner", "allowance": 0.1, "sampling_rate": null}})"},
};

constexpr const char* kPredictions[] = {
    R"({"version": 1, "type": "predict", "name": "p", "predict":
      {"run": "0123456789abcdef0123456789abcdef", "client": 1, "rows": 10, "scores": false}})",
    R"({"version": 1, "type": "predict", "name": "p", "predict":
      {"run": "0123456789abcdef0123456789abcdef", "source": "store", "capacity": 10, "scores": false}})"};

/// Jobs by their types.
std::map<std::string, std::vector<Json>> SomeJobs() {
  std::map<std::string, std::vector<Json>> jobs;
  for (const char* prediction : kPredictions) jobs["predict"].push_back(Json::parse(prediction));
  const std::filesystem::path folder = TREFOIL_SOURCE_DIR "/configs";
  const auto add = [&](const std::filesystem::path& file, const char* change) {
    auto job = Json::parse(ReadJob(file)->Json());
    job.merge_patch(Json::parse(change));
    jobs[job.at("type").get<std::string>()].push_back(std::move(job));
  };
  for (const auto& entry : std::filesystem::directory_iterator(folder)) add(entry.path(), "{}");
  for (const auto& [file, change] : kChanges) add(folder / file, change);
  return jobs;
}

/// Whether the error is about the number that a key has.
bool Names(const std::string& error, const std::string& key) {
  const auto start = key + ": found ";
  const auto at = error.find(start);
  return at != std::string::npos &&
         std::string_view("-[0123456789").find(error[at + start.size()]) != std::string_view::npos;
}

/// Whether one of the jobs, with this value of a key, is refused because of it; none is read.
bool IsRefused(const std::vector<Json>& jobs, const Path& path, const Json& value) {
  const auto key = fmt::format("{}", fmt::join(path, "."));
  for (const auto& job : jobs) {
    for (const auto& edit : Edits(job, path, value)) {
      const auto error = testing_support::ErrorText<ConfigError>([&] { (void)ParseJob(edit.dump(), "job"); });
      EXPECT_FALSE(error.empty()) << job.at("type") << ": " << key << " = " << value;
      if (Names(error, key)) return true;
    }
  }
  return false;
}

// What a key may have is what its schema says.
TEST(JobSchema, StatesEndsBeyondWhichNothingIsRead) {
  const auto jobs = SomeJobs();
  std::set<std::string> refused;
  std::set<std::string> others;  // of types whose jobs above do not have the key
  for (const auto& type : ShippedTypes()) {
    ForEachEnd(Json::parse(JobSchema(type.name)), {}, [&](const Path& path, const Json& beyond) {
      const auto end = fmt::format("{} = {}", fmt::join(path, "."), beyond.dump());
      (IsRefused(jobs.at(type.name), path, beyond) ? refused : others).insert(end);
    });
  }
  EXPECT_GT(refused.size(), 200U);
  for (const auto& end : refused) others.erase(end);  // another type has the same end
  EXPECT_THAT(others, testing::IsEmpty());
}

// A value that is read but that what uses it refuses could end a run behind its charge.
TEST(JobKeys, TakeTheirClosedEndsAndNothingBeyond) {
  struct Closed {
    const char* type;
    Path key;
    double end;
    double beyond;
  };
  const auto jobs = SomeJobs();
  for (const auto& [type, key, end, beyond] :
       std::vector<Closed>{{"histogram", {"histogram", "confidence"}, 0.999, 0.99900001},
                           {"histogram", {"privacy", "sigma"}, 0.01, 0.0099999},
                           {"tune", {"evaluation", "sigma"}, 0.01, 0.0099999},
                           {"tune", {"tune", "competing"}, 1, 0.99999},
                           {"pate", {"pate", "scale"}, 0.01, 0.0099999},
                           {"pate", {"pate", "sigma"}, 0.05, 0.0499999},
                           {"pate", {"pate", "threshold_sigma"}, 0.05, 0.0499999},
                           {"pate", {"student", "keep"}, 1, 1.00001},
                           {"predict", {"predict", "threshold"}, 1e-6, 0.99e-6},
                           {"predict", {"predict", "threshold"}, 0.999999, 0.9999991}}) {
    const auto name = fmt::format("{}", fmt::join(key, "."));
    EXPECT_TRUE(IsRefused(jobs.at(type), key, beyond)) << name << " = " << beyond;
    const auto takes = [&, &key = key, end = end](const Json& job) {
      const auto edit = Edits(job, key, end).at(0).dump();
      return testing_support::ErrorText<ConfigError>([&] { (void)ParseJob(edit, "job"); }).empty();
    };
    EXPECT_TRUE(std::any_of(jobs.at(type).begin(), jobs.at(type).end(), takes)) << name << " = " << end;
  }
}

}  // namespace
}  // namespace trefoil::jobs
