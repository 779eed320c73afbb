#pragma once
#include <array>
#include <string>

#include "deposit/study.h"
#include "jobs/job.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/fixed_key.h"

namespace trefoil::deposit {

inline constexpr const char* kSampleJob = R"(version = 1
type = "dpsgd"
name = "sample"
[data]
name = "secret-name"
format = "csv"
rows = [10, 10, 10]
classes = 3
[[data.column]]
name = "a"
[[data.column]]
name = "b"
mean = 1.0
[[data.column]]
name = "c"
kind = "category"
values = ["u", "v"]
[[data.column]]
name = "y"
kind = "ignore"
[data.label]
column = "y"
values = ["p", "q", "r"]
[features]
row_norm = 2.0
[training]
steps = 4
expected_batch = 3
max_batch_per_owner = 5
learning_rate = 1.0
[privacy]
sigma = 20.0
delta = 1e-5
clip = 1.0
)";

inline jobs::RecordSchema SampleRecords(const TemporaryFolder& folder) {
  return *jobs::ReadJob(folder.Write("job.toml", kSampleJob))->Records();
}

/// NOT SECRET: the deposit key of a party of samples, and the key of an owner.
inline KeyPair SamplePair(KeyKind kind, int number) {
  return PairOf(kind, testing_support::FixedKey(static_cast<std::uint8_t>(1 + number)));
}

/// Four features, three classes; rows of norm 2 at most.
inline Study SampleStudy(const TemporaryFolder& folder) {
  std::array<PublicKey, 3> keys{};
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = SamplePair(KeyKind::kParty, static_cast<int>(i)).known;
  return MakeStudy(SampleRecords(folder), keys);
}

inline constexpr std::int64_t kSampleSteps = 5;
inline constexpr std::int64_t kSampleBatch = 4;
inline constexpr double kSampleRate = 0.4;

/// The same records where owners deposit batches of them.
inline jobs::RecordSchema SampleRecordsOfBatches(const TemporaryFolder& folder) {
  auto records = SampleRecords(folder);
  records.store.batches = {.job = std::string(64, 'a'),
                           .run = "spring",
                           .steps = kSampleSteps,
                           .rows = kSampleBatch,
                           .sampling_rate = kSampleRate,
                           .records = 6,
                           .deposits = 2};
  return records;
}

inline Study SampleStudyOfBatches(const TemporaryFolder& folder) {
  auto study = SampleStudy(folder);
  std::array<PublicKey, 3> keys{};
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = study.parties[i].key;
  return MakeStudy(SampleRecordsOfBatches(folder), keys);
}

}  // namespace trefoil::deposit
