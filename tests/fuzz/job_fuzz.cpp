// A job file of any type, and the JSON of a training's job as models and runs hold it.
#include "apps/job.h"
#include "apps/predict_job.h"
#include "apps/task.h"
#include "base/error.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz {
namespace {

void ReadTraining(const std::filesystem::path& file) {
  const auto job = apps::ReadJob(file);
  const auto json = apps::JobJson(job);
  Check(apps::JobJson(apps::ParseJobJson(json, "job.json")) == json, "another job from its JSON");
  const InputFile copy(apps::JobToml(job));
  Check(apps::JobJson(apps::ReadJob(copy.path())) == json, "another job from its TOML");
}

void ReadTaskJob(const std::filesystem::path& file) {
  const auto task = apps::ReadTask(file);
  const InputFile copy(apps::TaskToml(*task));
  Check(apps::ReadTask(copy.path())->Json() == task->Json(), "another task from its TOML");
}

void ReadPrediction(const std::filesystem::path& file) {
  const auto job = apps::ReadPredictJob(file);
  const InputFile copy(apps::PredictJobToml(job));
  Check(apps::PredictJobJson(apps::ReadPredictJob(copy.path())) == apps::PredictJobJson(job),
        "another prediction from its TOML");
}

void ReadFile(const std::filesystem::path& file) {
  if (apps::IsTask(file)) return ReadTaskJob(file);
  if (apps::IsPredictJob(file)) return ReadPrediction(file);
  ReadTraining(file);
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  ReadAs<ConfigError>([&] { ReadFile(file.path()); });
  ReadAs<ConfigError>([&] { (void)apps::ParseJobJson(std::string(Text(input)), "job.json"); });
}

}  // namespace trefoil::fuzz
