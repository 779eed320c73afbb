// What the files of configs/ say: the canonical job that the parties compare, its hash, and what is planned for it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/job.h"
#include "apps/predict_job.h"
#include "apps/task.h"
#include "apps/training_settings.h"
#include "base/sha256.h"
#include "tests/goldens/compare.h"

namespace trefoil::goldens {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json EventsJson(const std::vector<dp::RecordedEvent>& events) {
  const dp::TrainingRecord record{.job_hash = "00", .run_id = "00", .events = events};
  return InTwelveDigits(Json::parse(dp::ToJson(record).at("events").dump()));
}

Json CostJson(int rounds, const Json& bytes_sent, const Json& bytes_offline) {
  return {{"rounds", rounds}, {"bytes_sent", bytes_sent}, {"bytes_offline", bytes_offline}};
}

Json OfTraining(const fs::path& file) {
  const auto job = apps::ReadJob(file);
  const auto settings = apps::SettingsOf(job);
  const auto plan = ml::MakePlan(settings);
  Json json{{"hash", apps::JobHash(job)},
            {"job", Json::parse(apps::JobJson(job))},
            {"local", Json::parse(apps::LocalSpecJson(job.local))},
            {"events", EventsJson(plan.events)},
            {"epsilons", InTwelveDigits({plan.epsilon_outsider, plan.epsilon_insider})}};
  for (const auto& [name, form] :
       {std::pair{"bulk", protocols::Form::kBulk}, std::pair{"latency", protocols::Form::kLatency}}) {
    const auto step = ml::PlannedStepCost(settings, form);
    json["step"][name] = CostJson(step.rounds(), step.bytes_sent(), step.bytes_offline());
  }
  return json;
}

Json OfTask(const fs::path& file) {
  const auto task = apps::ReadTask(file);
  const auto epsilons = apps::PlannedEpsilons(*task);
  const auto cost = task->Cost().session.total();
  return {{"hash", apps::TaskHash(*task)},
          {"job", Json::parse(task->Json())},
          {"local", Json::parse(task->LocalJson())},
          {"events", EventsJson(task->Events())},
          {"epsilons", InTwelveDigits({epsilons.outsider, epsilons.insider})},
          {"run", {{"rounds", cost.rounds}, {"bytes_sent", cost.bytes_sent}}}};
}

Json OfPrediction(const fs::path& file) {
  const auto json = apps::PredictJobJson(apps::ReadPredictJob(file));
  return {{"hash", Sha256Hex(json)}, {"job", Json::parse(json)}};
}

TEST(ConfigGoldens, AreTheJobsThatTheyWere) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(TREFOIL_SOURCE_DIR "/configs")) {
    const auto& file = entry.path();
    SCOPED_TRACE(file.string());
    const auto name = file.stem().string() + ".json";
    names.insert(name);
    ExpectGolden("configs/" + name, apps::IsPredictJob(file) ? OfPrediction(file)
                                    : apps::IsTask(file)     ? OfTask(file)
                                                             : OfTraining(file));
  }
  EXPECT_GE(names.size(), 6U);
  ExpectNoOtherGoldens("configs", names);
}

}  // namespace
}  // namespace trefoil::goldens
