// What the files of configs/ say: the canonical job that the parties compare, its hash, and what is planned
// for it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "jobs/job.h"
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

Json Of(const fs::path& file) {
  const auto job = jobs::ReadJob(file);
  Json json{{"hash", jobs::HashOf(*job)}, {"job", Json::parse(job->Json())}};
  if (!job->Covered().empty()) return json;
  const auto plan = job->Plan({});
  const auto epsilons = job->Epsilons();
  json["local"] = Json::parse(job->LocalJson());
  json["events"] = EventsJson(plan.events);
  json["epsilons"] = InTwelveDigits({epsilons.outsider, epsilons.insider});
  for (auto run = plan.forms.rbegin(); run != plan.forms.rend(); ++run) {
    if (run->step) {
      json["step"][run->form] =
          CostJson(run->step->rounds(), run->step->bytes_sent(), run->step->bytes_offline());
    } else {
      json["run"] = {{"rounds", run->cost.rounds}, {"bytes_sent", run->cost.bytes_sent}};
    }
  }
  return json;
}

TEST(ConfigGoldens, AreTheJobsThatTheyWere) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(TREFOIL_SOURCE_DIR "/configs")) {
    const auto& file = entry.path();
    SCOPED_TRACE(file.string());
    const auto name = file.stem().string() + ".json";
    names.insert(name);
    ExpectGolden("configs/" + name, Of(file));
  }
  EXPECT_GE(names.size(), 6U);
  ExpectNoOtherGoldens("configs", names);
}

}  // namespace
}  // namespace trefoil::goldens
