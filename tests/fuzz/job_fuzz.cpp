// A job file of any type, and the JSON of a training's job as models and runs hold it.
#include "base/error.h"
#include "jobs/dpsgd/settings.h"
#include "jobs/job.h"
#include "jobs/predict/settings.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz {
namespace {

void ReadTraining(const std::filesystem::path& file) {
  const auto job = jobs::ReadDpsgdSettings(file);
  const auto json = jobs::DpsgdJson(job);
  Check(jobs::DpsgdJson(jobs::ParseDpsgdJson(json, "job.json")) == json, "another job from its JSON");
  const InputFile copy(jobs::DpsgdToml(job));
  Check(jobs::DpsgdJson(jobs::ReadDpsgdSettings(copy.path())) == json, "another job from its TOML");
}

void ReadTaskJob(const std::filesystem::path& file) {
  const auto task = jobs::ReadJob(file);
  const InputFile copy(jobs::TomlOf(*task));
  Check(jobs::ReadJob(copy.path())->Json() == task->Json(), "another task from its TOML");
}

void ReadPrediction(const std::filesystem::path& file) {
  const auto job = jobs::ReadPredictSettings(file);
  const InputFile copy(jobs::PredictToml(job));
  Check(jobs::PredictJson(jobs::ReadPredictSettings(copy.path())) == jobs::PredictJson(job),
        "another prediction from its TOML");
}

void ReadFile(const std::filesystem::path& file) {
  if (jobs::IsRegisteredJob(file)) return ReadTaskJob(file);
  if (jobs::IsPredictJob(file)) return ReadPrediction(file);
  ReadTraining(file);
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  ReadAs<ConfigError>([&] { ReadFile(file.path()); });
  ReadAs<ConfigError>([&] { (void)jobs::ParseDpsgdJson(std::string(Text(input)), "job.json"); });
}

}  // namespace trefoil::fuzz
