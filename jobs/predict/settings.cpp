#include "jobs/predict/settings.h"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/files/files.h"
#include "jobs/config/common_fields.h"

namespace trefoil::jobs {
namespace {

constexpr std::size_t kRunDigits = 32;
constexpr std::uintmax_t kLargestRecord = std::uintmax_t{16} << 20;

bool IsRunId(const std::string& text) {
  return text.size() == kRunDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The run_id of the record in a run directory; empty where there is none.
std::string RunIdOf(const std::filesystem::path& folder) {
  const auto file = folder / "record.json";
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return {};
  const auto json = nlohmann::json::parse(ReadTextFile(file, "a record", kLargestRecord), nullptr, false);
  if (!json.is_object() || !json.contains("run_id") || !json.at("run_id").is_string()) return {};
  return json.at("run_id").get<std::string>();
}

/// The run_id of a training, or a run directory that has it.
struct RunId : Text {
  [[nodiscard]] std::string Expected(const toml::node* found) const {
    if (found == nullptr || !found->is_string()) return Text::Expected(found);
    return "the run_id of the training's record.json, 32 lower-case hexadecimal digits, or a run directory "
           "with it";
  }
  bool Read(const toml::node& node, std::string& member) const {
    std::string run;
    if (!Text::Read(node, run)) return false;
    if (!IsRunId(run)) run = RunIdOf(run);
    if (!IsRunId(run)) return false;
    member = std::move(run);
    return true;
  }
};

}  // namespace

void Fields(FieldVisitor& v, PredictSettings& s) {
  HeaderFields(v, "predict", s.name);
  v.Table("predict", "The model, and whose rows it classifies.", [&] {
    v("run", s.run, RunId{},
      "Which model: the training's `run_id`, 32 hexadecimal digits (its `record.json`), or a run directory "
      "of "
      "it, from the folder where the program is called: in job and hash its `run_id` stands.");
    v("client", s.client, WholeInterval{0, 2}, "Whose rows, and who gets the predictions.");
    v("rows", s.rows, WholeInterval{1, 10'000'000},
      "Public. As many rows are shared: the client's own, and zeros.");
    v("scores", s.scores, Flag{}, Default(false),
      "Whether the client gets the logits; else the class alone.");
    v("threshold", s.threshold, Interval{.above = 0.0, .below = 1.0},
      "Two classes: in place of the `model.threshold` of the training.");
  });
}

PredictSettings ReadPredictSettings(const toml::table& root, const std::string& file) {
  PredictSettings job;
  ReadFields(root, file, job);
  return job;
}

std::string PredictJobTitle(const PredictSettings& job) {
  return fmt::format("up to {} rows of party {}, {}, by the model of run {}", job.rows, job.client,
                     job.scores ? "classes and scores" : "classes", job.run);
}

std::string PredictJson(const PredictSettings& job) { return HashedJson(job); }

}  // namespace trefoil::jobs
