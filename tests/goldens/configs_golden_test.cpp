// What the files of configs/ say: the canonical job that the parties compare, its hash, and what is planned for it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/sha256.h"
#include "jobs/dpsgd/settings.h"
#include "jobs/dpsgd/training_settings.h"
#include "jobs/job.h"
#include "jobs/predict/settings.h"
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
  const auto job = jobs::ReadDpsgdSettings(file);
  const auto settings = jobs::SettingsOf(job);
  const auto plan = ml::MakePlan(settings);
  Json json{{"hash", jobs::DpsgdHash(job)},
            {"job", Json::parse(jobs::DpsgdJson(job))},
            {"local", Json::parse(jobs::LocalSpecJson(job.local))},
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
  const auto task = jobs::ReadJob(file);
  const auto epsilons = task->Epsilons();
  const auto cost = task->Plan({}).forms.front().cost;
  return {{"hash", jobs::HashOf(*task)},
          {"job", Json::parse(task->Json())},
          {"local", Json::parse(task->LocalJson())},
          {"events", EventsJson(task->Events())},
          {"epsilons", InTwelveDigits({epsilons.outsider, epsilons.insider})},
          {"run", {{"rounds", cost.rounds}, {"bytes_sent", cost.bytes_sent}}}};
}

Json OfPrediction(const fs::path& file) {
  const auto json = jobs::PredictJson(jobs::ReadPredictSettings(file));
  return {{"hash", Sha256Hex(json)}, {"job", Json::parse(json)}};
}

TEST(ConfigGoldens, AreTheJobsThatTheyWere) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(TREFOIL_SOURCE_DIR "/configs")) {
    const auto& file = entry.path();
    SCOPED_TRACE(file.string());
    const auto name = file.stem().string() + ".json";
    names.insert(name);
    ExpectGolden("configs/" + name, jobs::IsPredictJob(file)      ? OfPrediction(file)
                                    : jobs::IsRegisteredJob(file) ? OfTask(file)
                                                                  : OfTraining(file));
  }
  EXPECT_GE(names.size(), 6U);
  ExpectNoOtherGoldens("configs", names);
}

}  // namespace
}  // namespace trefoil::goldens
