#include "runtime/resume/checkpoint_file.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "jobs/config/json_number.h"
#include "jobs/files/share_codec.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kCountedKey = "counted";
constexpr const char* kClipKey = "clip_at";

std::span<std::uint8_t> PutKey(std::span<std::uint8_t> out, const SecretKey& key) {
  std::copy(key.bytes().begin(), key.bytes().end(), out.begin());
  return out.subspan(SecretKey::kBytes);
}

SecretKey TakeKey(std::span<const std::uint8_t> in) { return SecretKey(in.first<SecretKey::kBytes>()); }

std::size_t BytesOfCounts(mpc::Index counts) { return jobs::ShareBytes({.inputs = counts, .outputs = 1}); }

/// Weights, velocity, and the coins and counts where there are any.
jobs::SecretBytes ToBytes(const ml::Checkpoint& checkpoint) {
  const auto& weights = checkpoint.state.weights;
  const auto& velocity = checkpoint.state.velocity;
  const std::size_t share = jobs::ShareBytes({.inputs = weights.rows(), .outputs = weights.cols()});
  std::vector<std::uint8_t> bytes(2 * share + (checkpoint.coins ? 2 * SecretKey::kBytes : 0) +
                                  (checkpoint.counts ? BytesOfCounts(checkpoint.counts->rows()) : 0));
  auto rest = jobs::PutShare(jobs::PutShare(bytes, weights.ring()), velocity.ring());
  if (checkpoint.coins) rest = PutKey(PutKey(rest, checkpoint.coins->schedule), checkpoint.coins->slots);
  if (checkpoint.counts) (void)jobs::PutShare(rest, *checkpoint.counts);
  return jobs::SecretBytes(std::move(bytes));
}

CheckpointName NameIn(const fs::path& file, const Json& header, const CheckpointOwner& owner) {
  CheckpointName name;
  CheckpointOwner found;
  try {
    found = {.party = jobs::NumberOf(header.at("party")),
             .run_id = header.at("run_id").get<std::string>(),
             .job_hash = header.at("job_hash").get<std::string>()};
    name = {.step = jobs::NumberOf(header.at("step")),
            .session = header.at("session").get<std::string>(),
            .counted = header.value(kCountedKey, false)};
  } catch (const Json::exception&) {
    jobs::RefuseSealed(file, "a damaged header", std::string(kCheckpoint.what));
  }
  if (found.party != owner.party)
    jobs::RefuseSealed(file, fmt::format("party {}'s checkpoint", found.party),
                       fmt::format("party {}'s", owner.party));
  if (found.run_id != owner.run_id)
    jobs::RefuseSealed(file, "a checkpoint of run " + found.run_id, "one of run " + owner.run_id);
  if (found.job_hash != owner.job_hash)
    jobs::RefuseSealed(file, "a checkpoint of another job", "one of this run's job");
  return name;
}

/// Where an adaptive clip is on its grid; nothing where the job has none.
std::optional<int> ClipIn(const fs::path& file, const Json& header, bool adaptive) {
  if (!adaptive && !header.contains(kClipKey)) return {};
  const auto number = header.value(kClipKey, Json());
  const auto at = number.is_number_integer() ? number.get<std::int64_t>() : ml::kClipReach + 1;
  if (!adaptive || at < -ml::kClipReach || at > ml::kClipReach)
    jobs::RefuseSealed(file, "a checkpoint with another clip", "one with a clip as its job has");
  return static_cast<int>(at);
}

/// Noisy counts of the classes, where the job has balanced weights.
std::vector<std::int64_t> ClassCountsIn(const fs::path& file, const Json& header) {
  std::vector<std::int64_t> counts;
  try {
    for (const auto& count : header.value("class_counts", Json::array()))
      counts.push_back(count.get_ref<const Json::number_integer_t&>());
  } catch (const Json::exception&) {
    jobs::RefuseSealed(file, "a damaged header", std::string(kCheckpoint.what));
  }
  return counts;
}

}  // namespace

void SaveCheckpoint(const fs::path& file, const CheckpointOwner& owner, const std::string& session,
                    const ml::Checkpoint& checkpoint, const SecretKey& key) {
  Json header{{"party", owner.party},
              {"run_id", owner.run_id},
              {"job_hash", owner.job_hash},
              {"step", checkpoint.state.step},
              {"session", session}};
  if (checkpoint.counts) header[kCountedKey] = true;
  if (!checkpoint.class_counts.empty()) header["class_counts"] = checkpoint.class_counts;
  if (checkpoint.state.clip_at) header[kClipKey] = *checkpoint.state.clip_at;
  const auto secret = ToBytes(checkpoint);
  ReplaceSecretFile(file, jobs::SealFile(kCheckpoint, header, secret.bytes(), key));
}

StoredCheckpoint LoadCheckpoint(const fs::path& file, const CheckpointOwner& owner, const jobs::Job& job,
                                const SecretKey& key) {
  CheckpointName name;
  std::vector<std::int64_t> class_counts;
  std::optional<int> clip_at;
  const auto [shape, bits, coins, joint_slots, counts, classes, adaptive] = job.ShapeOfCheckpoint();
  const auto secret = jobs::OpenSealed(file, kCheckpoint, key, [&, adaptive = adaptive](const Json& header) {
    name = NameIn(file, header, owner);
    class_counts = ClassCountsIn(file, header);
    clip_at = ClipIn(file, header, adaptive);
  });
  const auto bytes = secret.bytes();
  const std::size_t share = jobs::ShareBytes(shape);
  const std::size_t before_counts = 2 * share + (coins ? 2 * SecretKey::kBytes : 0);
  const bool fits = !name.counted || (counts > 0 && name.step == job.Steps().count);
  if (bytes.size() != before_counts + (name.counted ? BytesOfCounts(counts) : 0) || !fits || name.step < 0 ||
      name.step > job.Steps().count)
    jobs::RefuseSealed(file, "a checkpoint that does not fit its job", std::string(kCheckpoint.what));
  if (class_counts.size() != classes)
    jobs::RefuseSealed(file, fmt::format("a checkpoint with {} class counts", class_counts.size()),
                       fmt::format("one with {}, as its job has", classes));
  ml::Checkpoint checkpoint{.state = {.weights = {jobs::TakeShare(bytes, shape), bits},
                                      .velocity = {jobs::TakeShare(bytes.subspan(share), shape), bits},
                                      .step = name.step,
                                      .clip_at = clip_at},
                            .class_counts = std::move(class_counts)};
  if (coins) {
    const auto keys = bytes.subspan(2 * share);
    checkpoint.coins.emplace(
        ml::PublicCoins{.schedule = TakeKey(keys), .slots = TakeKey(keys.subspan(SecretKey::kBytes))});
  }
  if (name.counted)
    checkpoint.counts = jobs::TakeShare(bytes.subspan(before_counts), {.inputs = counts, .outputs = 1});
  return {.name = std::move(name), .checkpoint = std::move(checkpoint)};
}

}  // namespace trefoil::runtime
