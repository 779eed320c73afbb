// A sealed file: as it is, and with a seal that is right, so that what is behind it is read, too. In the
// second case a line feed divides the header from the secret.
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/secrets/sealed_box.h"
#include "jobs/files/share_file.h"
#include "runtime/resume/checkpoint_file.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::sealed_target {
namespace {

constexpr const char* kJob = R"(version = 1
type = "dpsgd"
name = "tiny"
[data]
name = "tiny"
format = "idx"
rows = [10, 10, 10]
features = 2
classes = 2
[training]
steps = 4
expected_batch = 3
max_batch_per_owner = 5
learning_rate = 1.0
[privacy]
sigma = 20.0
delta = 1e-5
clip = 1.0
sampling = "public"
)";

void ReadEach(const std::filesystem::path& file, const SecretKey& key) {
  static const auto kTraining = jobs::ReadJob(InputFile(kJob).path());
  const runtime::CheckpointOwner owner{.party = 0, .run_id = "ab", .job_hash = "cd"};
  ReadAs<DataError>([&] { return jobs::LoadShare(file, 0, key).party; });
  ReadAs<DataError>([&] {
    const auto checkpoint = runtime::LoadCheckpoint(file, owner, *kTraining, key).checkpoint;
    Check(checkpoint.state.step >= 0 && checkpoint.state.step <= 4, "a step that is not the job's");
    return checkpoint.state.step;
  });
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  static const SecretKey kKey = DeriveKey(std::array<std::uint8_t, 32>{}, "fuzz");
  ReadEach(InputFile(Text(input)).path(), kKey);

  const auto text = Text(input);
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return;
  const auto header = nlohmann::json::parse(text.substr(0, end), nullptr, false);
  if (header.is_discarded()) return;
  for (const auto& kind : {jobs::kModelShare, runtime::kCheckpoint})
    ReadEach(InputFile(jobs::SealFile(kind, header, input.subspan(end + 1), kKey)).path(), kKey);
}

const Target kTarget("sealed", Read);

}  // namespace trefoil::fuzz::sealed_target
