#include "runtime/resume/run_state.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/regular_file.h"
#include "base/files/sync_to_disk.h"
#include "base/passing_error.h"
#include "base/threads/blocking_call.h"
#include "jobs/config/json_number.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kStateVersion = 1;
// Since bounds that are fixed before the coins decide which of them are kept; the noise was another one, too.
constexpr int kVersionWithCoins = 2;
constexpr std::size_t kKept = 2;
constexpr std::size_t kDigitsInName = 16;
constexpr const char* kFolder = "checkpoint";
constexpr const char* kRunFile = "run.json";
constexpr const char* kStepFile = "step";
constexpr const char* kSealed = ".sealed";
constexpr const char* kCountedName = "-counted";
constexpr const char* kDraft = ".part";  // of base/files/files.h, where a write was interrupted

/// What changes when the machine starts anew, and takes along what was written but not synchronised.
std::string BootId() {
  std::ifstream stream("/proc/sys/kernel/random/boot_id");
  std::string id;
  stream >> id;
  return id;
}

/// The last words of a session in the file `step`.
struct LastStep {
  std::string boot;
  std::string session;
  int begun = 0;
};

std::optional<LastStep> ReadLastStep(const fs::path& file) {
  if (!RegularFile(file)) return {};
  std::ifstream stream(file);
  LastStep last;
  if (!(stream >> last.boot >> last.session >> last.begun)) return {};
  return last;
}

/// CheckpointName::rank of a file's name.
std::pair<int, bool> RankOf(const fs::path& checkpoint) {
  const auto name = checkpoint.filename().string();
  return {std::atoi(name.c_str()), name.find(kCountedName) != std::string::npos};
}

[[noreturn]] void RefuseRun(const fs::path& file, const std::string& found, const std::string& expected) {
  throw DataError(fmt::format("{}: found {}, expected {}", file.string(), found, expected));
}

}  // namespace

int CallsBegun(const ml::SessionHistory& sessions) {
  int begun = 0;
  for (const auto& session : sessions) begun = std::max(begun, session.begun);
  return begun;
}

RunState::RunState(const fs::path& run_folder, RunOwner owner, SecretKey key)
    : folder_(run_folder / kFolder),
      owner_(std::move(owner)),
      key_(std::move(key)),
      boot_(BootId()),
      version_(owner_.job->ShapeOfCheckpoint().coins ? kVersionWithCoins : kStateVersion) {
  if (!fs::exists(folder_ / kRunFile)) return;
  try {
    Lock();
    ReadRun();
    CountLastSession();
    FindCheckpoints();
  } catch (...) {
    if (steps_file_ >= 0) close(steps_file_);
    throw;
  }
}

RunState::~RunState() {
  if (steps_file_ >= 0) close(steps_file_);
}

fs::path RunState::FileOf(const CheckpointName& name) const {
  return folder_ / fmt::format("{:06}-{}{}{}", name.step, name.session.substr(0, kDigitsInName),
                               name.counted ? kCountedName : "", kSealed);
}

CheckpointOwner RunState::Owner() const {
  return {.party = owner_.party, .run_id = claim_.run_id, .job_hash = jobs::HashOf(*owner_.job)};
}

void RunState::Lock() {
  const auto file = folder_ / kStepFile;
  steps_file_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (steps_file_ < 0) throw CannotWrite(file);
  if (flock(steps_file_, LOCK_EX | LOCK_NB) != 0) {
    throw PassingError(fmt::format("{}: found a run that another process executes, expected it to have ended",
                                   folder_.string()));
  }
}

void RunState::ReadRun() {
  const auto file = folder_ / kRunFile;
  const auto json = Json::parse(ReadTextFile(file, "a run", kLargestOwnFile), nullptr, false);
  try {
    if (const int party = jobs::NumberOf(json.at("party")); party != owner_.party)
      RefuseRun(file, fmt::format("party {}'s run", party), fmt::format("party {}'s", owner_.party));
    const auto began = jobs::ParseJob(json.at("job").get<std::string>(), file.string(), owner_.types)->Json();
    if (const auto own = owner_.job->Json(); own != began) {
      throw ConfigError(fmt::format("{}, as in {}: a run goes on with the job that it began with",
                                    jobs::DescribeDifference(own, began), file.string()));
    }
    if (json.at("version") != version_)
      RefuseRun(file, "version " + json.at("version").dump(), fmt::format("version {}", version_));
    if (json.at("data").get<std::string>() != owner_.data_hash) {  // no hash of data in a session's log
      throw DataError(file.string() +
                      ": found other data: a run goes on with the files of [data] that it began with");
    }
    claim_ = ReadClaim(json.at("run").dump(), owner_.party, steps());
  } catch (const Json::exception&) {
    RefuseRun(file, "a damaged file", "a run");
  } catch (const ProtocolError&) {
    RefuseRun(file, "a damaged file", "a run");
  }
}

/// The machine may have lost what a process wrote last; the process cannot. Calls are announced one by one.
void RunState::CountLastSession() {
  if (owner_.job->Calls() > 0) return;
  const auto last = ReadLastStep(folder_ / kStepFile);
  if (claim_.sessions.empty() || !last || boot_.empty() || last->boot != boot_) return;
  auto& session = claim_.sessions.back();
  if (last->session == session.id && last->begun >= session.first)
    session.begun = std::min(session.begun, last->begun);
}

void RunState::FindCheckpoints() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().extension() != kSealed) continue;
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end(),
            [](const fs::path& a, const fs::path& b) { return RankOf(a) > RankOf(b); });
  for (const auto& file : files) FindCheckpoint(file);
  std::sort(claim_.held.begin(), claim_.held.end());
}

/// Reads all of it: that it was damaged is better found out now than with the peers. The newest must be
/// whole; an older one is not needed where a newer one is, and may be damaged, unprotected or unreadable.
void RunState::FindCheckpoint(const fs::path& file) {
  const auto leave_aside = [&](const std::exception& error) {
    const bool needed = std::none_of(claim_.held.begin(), claim_.held.end(),
                                     [&](const CheckpointName& name) { return name.rank() > RankOf(file); });
    if (!needed) damaged_.emplace_back(error.what());
    return !needed;
  };
  try {
    claim_.held.push_back(LoadCheckpoint(file, Owner(), *owner_.job, key_).name);
  } catch (const DataError& error) {
    if (!leave_aside(error)) throw;
  } catch (const ConfigError& error) {
    if (!leave_aside(error)) throw;
  }
}

/// What was not held by all belongs to steps that are done again.
void RunState::DropAfter(const std::optional<CheckpointName>& last) {
  const auto stays = [&](const CheckpointName& name) {
    return last && (name == *last || name.rank() < last->rank());
  };
  for (const auto& name : claim_.held) {
    if (!stays(name)) fs::remove(FileOf(name));
  }
  std::erase_if(claim_.held, [&](const CheckpointName& name) { return !stays(name); });
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().extension() == kDraft) fs::remove(entry.path());
  }
}

ml::Resumption RunState::Begin(const AgreedRun& agreed, const std::string& session,
                               const CheckpointCheck& check) {
  ml::Resumption resumption{.from = {}, .earlier = agreed.earlier};
  if (agreed.from) {
    resumption.from = LoadCheckpoint(FileOf(*agreed.from), Owner(), *owner_.job, key_).checkpoint;
    if (check) check(*resumption.from);
  }
  if (steps_file_ < 0) {
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
    Lock();
  }
  claim_.run_id = agreed.run_id.empty() ? session : agreed.run_id;
  claim_.sessions = agreed.earlier;
  DropAfter(agreed.from);
  const int first = agreed.from               ? agreed.from->step
                    : owner_.job->Calls() > 0 ? CallsBegun(agreed.earlier)
                                              : 0;
  releasing_ = agreed.from && first == steps() ? agreed.from->session : session;
  session_ = {.id = session, .from_start = !agreed.from, .first = first, .begun = first};
  WriteRun();
  return resumption;
}

void RunState::WriteRun() const {
  const Json json{{"version", version_},
                  {"party", owner_.party},
                  {"job", owner_.job->Json()},
                  {"data", owner_.data_hash},
                  {"run", Json::parse(ToText({.run_id = claim_.run_id,
                                              .held = {},
                                              .sessions = claim_.sessions,
                                              .released = claim_.released}))}};
  ReplaceSecretFile(folder_ / kRunFile, json.dump(2) + "\n");
}

/// One write of a few bytes to the same place: a process that is killed has written all of them or none.
void RunState::WriteStep(int begun) const {
  const auto file = folder_ / kStepFile;
  const BlockingCall call("writing", file);
  const auto line = fmt::format("{} {} {:>10}\n", boot_.empty() ? "unknown" : boot_, session_.id, begun);
  if (pwrite(steps_file_, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size()))
    throw CannotWrite(file);
}

/// The session counts from here on: first in `step`, which says that nothing has begun.
void RunState::List() {
  if (std::exchange(listed_, true)) return;
  WriteStep(session_.first);
  claim_.sessions.push_back(session_);
}

void RunState::Announce(int steps) {
  List();
  claim_.sessions.back().begun = steps;
  WriteRun();
}

void RunState::BeginStep(int step) { WriteStep(step + 1); }

void RunState::BeginRelease() {
  claim_.released = true;
  WriteRun();
}

void RunState::BeginEvaluation() {
  List();
  claim_.sessions.back().evaluated = true;
  WriteRun();
}

void RunState::Keep(const ml::Checkpoint& checkpoint) {
  // What is counted belongs to the weights that an earlier session may have made.
  const CheckpointName name{.step = static_cast<int>(checkpoint.state.step),
                            .session = releasing_,
                            .counted = checkpoint.counts.has_value()};
  SaveCheckpoint(FileOf(name), Owner(), releasing_, checkpoint, key_);
  claim_.held.push_back(name);
  while (claim_.held.size() > kKept) {
    const BlockingCall call("removing a checkpoint from", folder_);
    fs::remove(FileOf(claim_.held.front()));
    claim_.held.erase(claim_.held.begin());
  }
}

void RunState::Discard() { RemoveCheckpoints(folder_.parent_path()); }

void RemoveCheckpoints(const fs::path& run_folder) {
  const auto folder = run_folder / kFolder;
  const BlockingCall call("removing", folder);
  if (!fs::exists(folder)) return;
  fs::remove(folder / kRunFile);
  SyncToDisk(folder);  // else a crash could leave a run of which there are no checkpoints any more
  fs::remove_all(folder);
  SyncToDisk(run_folder);
}

}  // namespace trefoil::runtime
