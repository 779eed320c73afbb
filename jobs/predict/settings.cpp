#include "jobs/predict/settings.h"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/files/files.h"
#include "jobs/config/common_fields.h"
#include "jobs/records/source_fields.h"

namespace trefoil::jobs {
namespace {

constexpr std::size_t kRunDigits = 32;
constexpr WholeInterval kRows{1, 10'000'000};
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
    StoreFields(v, s.store,
                "`store`: rows that owners deposited, each of whom gets its own predictions (`owners.md`).",
                "predict", [&] {
                  v("capacity", s.rows, kRows,
                    "The capacities of all deposits together, at most; as many rows are classified.");
                });
    v.When({!s.store.on, "predict.source \"files\""}, [&] {
      v("client", s.client, WholeInterval{0, 2}, "Whose rows, and who gets the predictions.");
      v("rows", s.rows, kRows, "Public. As many rows are shared: the client's own, and zeros.");
    });
    v("scores", s.scores, Flag{}, Default(false),
      "Whether who gets the predictions gets the logits; else the class alone.");
    v("threshold", s.threshold, kThresholds,
      "Two classes: in place of the `model.threshold` of the training.");
    v.Check([&](const Section& table) {
      if (s.store.on && !IsToPredict(s.store.purpose))
        table.Refuse("purpose",
                     "\"predict\" or a name that begins with \"predict-\": owners deposit rows to predict "
                     "under such a one");
    });
  });
}

PredictSettings ReadPredictSettings(const toml::table& root, const std::string& file) {
  PredictSettings job;
  ReadFields(root, file, job);
  return job;
}

std::string PredictJobTitle(const PredictSettings& job) {
  const auto whose = job.store.on ? std::string("deposits") : fmt::format("party {}", job.client);
  return fmt::format("up to {} rows of {}, {}, by the model of run {}", job.rows, whose,
                     job.scores ? "classes and scores" : "classes", job.run);
}

std::string PredictJson(const PredictSettings& job) { return HashedJson(job); }

}  // namespace trefoil::jobs
