#include "jobs/predict/settings.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "jobs/config/toml_reader.h"

namespace trefoil::jobs {
namespace {

constexpr std::size_t kRunDigits = 32;

std::string ReadRun(const Section& section) {
  auto run = section.Text("run");
  if (run.size() != kRunDigits || run.find_first_not_of("0123456789abcdef") != std::string::npos)
    section.Refuse("run", "the run_id of the training's record.json, 32 lower-case hexadecimal digits");
  return run;
}

}  // namespace

bool IsPredictJob(const std::filesystem::path& file) {
  const auto table = ReadToml(file);
  return table["type"].value<std::string>() == "predict";
}

PredictSettings ReadPredictSettings(const std::filesystem::path& file,
                                    const std::vector<std::string>& assignments) {
  auto table = ReadToml(file);
  for (const auto& assignment : assignments) SetValue(table, assignment);
  return ReadPredictSettings(table, file.string());
}

PredictSettings ReadPredictSettings(const toml::table& table, const std::string& name) {
  CheckKeys(table, name,
            {"version", "type", "name", "predict.run", "predict.client", "predict.rows", "predict.scores"});
  const Section document(table, name);
  if (document.Whole("version", {0, INT32_MAX}) != 1) document.Refuse("version", "1");
  PredictSettings job;
  (void)document.Choice("type", {"predict"});
  job.name = document.Name("name");
  const auto predict = document.Table("predict");
  job.run = ReadRun(predict);
  job.client = static_cast<int>(predict.Whole("client", {0, 2}));
  job.rows = predict.Whole("rows", {1, 10'000'000});
  job.scores = predict.Flag("scores", false);
  return job;
}

std::string PredictJobTitle(const PredictSettings& job) {
  return fmt::format("up to {} rows of party {}, {}, by the model of run {}", job.rows, job.client,
                     job.scores ? "classes and scores" : "classes", job.run);
}

std::string PredictJson(const PredictSettings& job) {
  return nlohmann::json{
      {"version", 1},
      {"type", "predict"},
      {"name", job.name},
      {"predict", {{"run", job.run}, {"client", job.client}, {"rows", job.rows}, {"scores", job.scores}}}}
      .dump();
}

std::string PredictToml(const PredictSettings& job) {
  return fmt::format(
      "# The job as it was run, with every default filled in.\n"
      "version = 1\ntype = \"predict\"\nname = \"{}\"\n\n"
      "[predict]\nrun = \"{}\"\nclient = {}\nrows = {}\nscores = {}\n",
      job.name, job.run, job.client, job.rows, job.scores);
}

}  // namespace trefoil::jobs
