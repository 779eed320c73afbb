#include "jobs/predict/settings.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "jobs/config/common_fields.h"

namespace trefoil::jobs {
namespace {

constexpr std::size_t kRunDigits = 32;

/// The run_id of a training.
struct RunId : Text {
  [[nodiscard]] std::string Expected(const toml::node* found) const {
    if (found == nullptr || !found->is_string()) return Text::Expected(found);
    return "the run_id of the training's record.json, 32 lower-case hexadecimal digits";
  }
  bool Read(const toml::node& node, std::string& member) const {
    std::string run;
    if (!Text::Read(node, run) || run.size() != kRunDigits ||
        run.find_first_not_of("0123456789abcdef") != std::string::npos)
      return false;
    member = std::move(run);
    return true;
  }
  void Describe(nlohmann::json& schema) const {
    schema.update({{"type", "string"}, {"pattern", "^[0-9a-f]{32}$"}});
  }
};

}  // namespace

void Fields(FieldVisitor& v, PredictSettings& s) {
  HeaderFields(v, "predict", s.name);
  v.Table("predict", "The model, and whose rows it classifies.", [&] {
    v("run", s.run, RunId{},
      "Which model: the training's `run_id`, 32 hexadecimal digits (its `record.json`).");
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
