#include "jobs/histogram/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "jobs/config/party_list.h"
#include "jobs/dpsgd/settings_reader.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostValues = 10'000;
// Pure epsilons do not depend on it.
constexpr double kDeltaOfPure = 1e-9;
constexpr dp::Randomiser kRandomisers[] = {dp::Randomiser::kTwoCoins, dp::Randomiser::kKary,
                                           dp::Randomiser::kSymmetricUnary, dp::Randomiser::kOptimisedUnary};

void ReadData(const Section& section, HistogramSettings& job) {
  job.data_name = section.Name("name");
  (void)section.Choice("format", {"csv"});
  job.rows = ReadRows(section);
  job.column.header = section.Flag("header", true);
  if (job.column.header) {
    if (section.Has("columns"))
      section.Fail("columns", "found names, expected none: the file's header has them");
    return;
  }
  job.column.columns = section.Texts("columns");
}

void ReadCounted(const Section& section, HistogramSettings& job) {
  job.column.column = section.Text("column");
  job.column.values = section.Texts("values");
  const auto& values = job.column.values;
  if (values.empty() || values.size() > kMostValues ||
      std::set<std::string>(values.begin(), values.end()).size() != values.size()) {
    section.Refuse("values", "1 to " + std::to_string(kMostValues) + " different texts");
  }
  job.confidence = section.Number("confidence", {.above = 0.0, .below = 0.9991}, 0.95);
}

dp::Randomiser ReadRandomiser(const Section& section) {
  std::vector<std::string> names;
  for (const auto randomiser : kRandomisers) names.emplace_back(dp::NameOf(randomiser));
  const auto name = section.Choice("randomiser", names);
  return kRandomisers[std::find(names.begin(), names.end(), name) - names.begin()];
}

void ReadMode(const Section& section, HistogramSettings& job) {
  if (section.Choice("mode", {"central", "local"}) == "central") {
    if (section.Has("randomiser")) section.Fail("randomiser", "only histogram.mode \"local\" has it");
    job.gaussian = section.Choice("noise", {"laplace", "gaussian"}, "laplace") == "gaussian";
    return;
  }
  if (section.Has("noise")) section.Fail("noise", "only histogram.mode \"central\" has it");
  job.randomiser = ReadRandomiser(section);
  if (job.randomiser == dp::Randomiser::kTwoCoins && job.column.values.size() != 1)
    section.Fail("values", "found several, expected one: two coins answer yes or no");
}

void ReadPrivacy(const Section& section, HistogramSettings& job) {
  const Interval epsilons{.above = 1e-6, .below = 1024.0};
  job.accountant = ReadTaskAccountant(section);
  if (job.gaussian) {
    if (section.Has("epsilon") == section.Has("sigma"))
      section.Refuse("epsilon", "one of privacy.epsilon and privacy.sigma (the noise multiplier)");
    if (section.Has("epsilon")) {
      job.epsilon = section.Number("epsilon", epsilons);
    } else {
      job.sigma = section.Number("sigma", {.above = 0.0099, .below = 1e6});
    }
    job.delta = section.Number("delta", {.above = 0.0, .below = 1.0});
    job.against = section.Choice("against", {"insider", "outsider"}, "insider");
    return;
  }
  for (const auto* key : {"sigma", "against"}) {
    if (section.Has(key)) section.Fail(key, "only histogram.noise \"gaussian\" has it");
  }
  job.delta = section.Number("delta", {.above = 0.0, .below = 1.0}, kDeltaOfPure);
  if (job.randomiser != dp::Randomiser::kTwoCoins) {
    job.epsilon = section.Number("epsilon", epsilons);
  } else if (section.Has("epsilon")) {
    section.Fail("epsilon", "found a number, expected none: two coins have epsilon ln 3");
  }
}

}  // namespace

HistogramSettings ReadHistogramSettings(const toml::table& root, const std::string& file) {
  CheckKeys(root, file,
            {"version",
             "type",
             "name",
             "data.name",
             "data.format",
             "data.rows",
             "data.header",
             "data.columns",
             "histogram.mode",
             "histogram.column",
             "histogram.values",
             "histogram.randomiser",
             "histogram.noise",
             "histogram.confidence",
             "privacy.epsilon",
             "privacy.sigma",
             "privacy.delta",
             "privacy.accountant",
             "privacy.against",
             "release.to",
             "local.split"});
  const Section document(root, file);
  if (document.Whole("version", {0, INT32_MAX}) != 1) document.Refuse("version", "1");
  HistogramSettings job;
  job.name = document.Name("name");
  ReadData(document.Table("data"), job);
  const auto histogram = document.Table("histogram");
  ReadCounted(histogram, job);
  ReadMode(histogram, job);
  const auto& names = job.column.columns;
  if (!job.column.header && std::count(names.begin(), names.end(), job.column.column) != 1)
    histogram.Refuse("column", "one of data.columns, which has it once");
  ReadPrivacy(document.Table("privacy"), job);
  job.to = ReadParties(document.Table("release"), "to", false);
  job.local = ReadLocal(document.Table("local"), root);
  return job;
}

std::string HistogramJson(const HistogramSettings& job) {
  Json data{{"name", job.data_name}, {"format", "csv"}, {"rows", job.rows}, {"header", job.column.header}};
  if (!job.column.header) data["columns"] = job.column.columns;
  Json histogram{
      {"column", job.column.column}, {"values", job.column.values}, {"confidence", job.confidence}};
  histogram["mode"] = job.randomiser ? "local" : "central";
  if (job.randomiser) {
    histogram["randomiser"] = dp::NameOf(*job.randomiser);
  } else {
    histogram["noise"] = job.gaussian ? "gaussian" : "laplace";
  }
  Json privacy{{"delta", job.delta}, {"accountant", dp::NameOf(job.accountant)}};
  if (job.epsilon) privacy["epsilon"] = *job.epsilon;
  if (job.sigma) privacy["sigma"] = *job.sigma;
  if (job.gaussian) privacy["against"] = job.against;
  return Json{{"version", 1},           {"type", "histogram"}, {"name", job.name},           {"data", data},
              {"histogram", histogram}, {"privacy", privacy},  {"release", {{"to", job.to}}}}
      .dump();
}

}  // namespace trefoil::jobs
