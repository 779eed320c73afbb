// A job file of any type, and the JSON beside a model.
#include "base/error.h"
#include "jobs/job.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::job_target {
namespace {

void ReadFile(const std::filesystem::path& file) {
  const auto job = jobs::ReadJob(file);
  const auto json = job->Json();
  Check(jobs::ParseJob(json, "job.json")->Json() == json, "another job from its JSON");
  const InputFile copy(jobs::TomlOf(*job));
  Check(jobs::ReadJob(copy.path())->Json() == json, "another job from its TOML");
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  ReadAs<ConfigError>([&] { ReadFile(file.path()); });
  ReadAs<ConfigError>([&] { (void)jobs::ParseModelSchema(std::string(Text(input)), "job.json"); });
}

const Target kTarget("job", Read);

}  // namespace trefoil::fuzz::job_target
