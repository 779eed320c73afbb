#include "runtime/observe/session_log.h"

#include <spdlog/fmt/fmt.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/regular_file.h"
#include "base/secrets/random.h"
#include "base/secrets/sha256.h"
#include "data/formats/file.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kLogVersion = 2;
constexpr int kUnsaltedVersion = 1;                           // whose hashes of data have no salt
constexpr std::string_view kFirstKey = "{\"certificates\":";  // of a session's entry, keys in order

[[noreturn]] void Refuse(const std::string& found, const std::string& expected) {
  throw DataError("found " + found + ", expected " + expected);
}

std::string FreshId() {
  std::array<std::uint8_t, 8> id{};
  FillRandom(id);
  return ToHex(id);
}

const char* NameOf(net::AbortCode code) {
  switch (code) {
    case net::AbortCode::kInternal:
      return "internal";
    case net::AbortCode::kConfiguration:
      return "configuration";
    case net::AbortCode::kPeerLost:
      return "peer lost";
    case net::AbortCode::kData:
      return "data";
    case net::AbortCode::kBudget:
      return "budget";
    case net::AbortCode::kStopped:
      return "stopped";
    case net::AbortCode::kStorage:
      return "storage";
    case net::AbortCode::kMemory:
      return "memory";
    case net::AbortCode::kProtocol:
      return "protocol";
    case net::AbortCode::kRankLost:
      return "rank lost";
  }
  return "internal";
}

/// The sessions of a log as its lines are read: each entry must be one that may come next.
class Reader {
 public:
  void Apply(const Json& entry) {
    if (!entry.contains("kind") || !entry.contains("session") || !entry.contains("time"))
      Refuse("no kind, session or time", "an entry of an audit log");
    const auto kind = entry["kind"].dump();
    const auto session = entry["session"].dump();
    if (kind == "\"session\"") return Begin(entry, session);
    if (!open_.contains(session)) Refuse("an entry of no session", "one that has begun, and not ended");
    if (kind == "\"release\"") {
      ++view.releases;
    } else if (kind == "\"end\"") {
      open_.erase(session);
    } else if (kind != "\"connected\"") {
      Refuse("the kind " + kind, "session, connected, release or end");
    }
  }

  AuditView Take() {
    view.open = open_.size();
    return std::move(view);
  }

  AuditView view;

 private:
  void Begin(const Json& entry, const std::string& session) {
    const int version = entry.value("version", 0);
    if (version != kLogVersion && version != kUnsaltedVersion) Refuse("another version", "version 1 or 2");
    if (!seen_.insert(session).second) Refuse("a session twice", "one that is new");
    open_.insert(session);
    ++view.sessions;
  }

  std::set<std::string> seen_;
  std::set<std::string> open_;
};

}  // namespace

AuditLog::AuditLog(const fs::path& file, const AuditedSession& session)
    : session_(FreshId()), chain_(file, ChainFile::Access::kAppend, "an audit log") {
  Json certificates = Json::array();
  for (const auto& fingerprint : session.fingerprints) certificates.push_back(fingerprint);
  Write({{"kind", "session"},
         {"version", kLogVersion},
         {"party", session.party},
         {"job", session.job},
         {"job_hash", session.job_hash},
         {"data", session.data.empty() ? Json(nullptr) : Json(session.data)},
         {"certificates", certificates}});
}

void AuditLog::Write(Json entry) { WriteAll({std::move(entry)}); }

void AuditLog::WriteAll(std::vector<Json> entries) {
  const std::lock_guard lock(mutex_);
  if (ended_ || entries.empty()) return;
  for (Json& entry : entries) {
    entry["session"] = session_;
    entry["time"] = TimeNow();
  }
  const ChainFile::Locked locked(chain_);
  chain_.Follow([](const Json&) {});
  chain_.AppendAll(entries);
  ended_ = entries.back()["kind"] == "end";
}

void AuditLog::Connected(const std::string& id) { Write({{"kind", "connected"}, {"id", id}}); }

void AuditLog::ReleasedFile(const std::string& what, const fs::path& file) {
  Write({{"kind", "release"}, {"what", what}, {"sha256", data::FileSha256(file)}});
}

void AuditLog::ReleasedSecretFile(const std::string& what, const fs::path& file, const std::string& salt) {
  Write({{"kind", "release"}, {"what", what}, {"salted_sha256", Sha256Hex(salt + data::FileSha256(file))}});
}

void AuditLog::Released(const std::vector<jobs::ReleasedValue>& values) {
  std::vector<Json> entries;
  for (const auto& [name, value, sha256] : values) {
    entries.push_back({{"kind", "release"}, {"what", name}});
    if (sha256.empty()) {
      entries.back()["value"] = value;
    } else {
      entries.back()["sha256"] = sha256;
    }
  }
  WriteAll(std::move(entries));
}

std::string AuditLog::Done() {
  Write({{"kind", "end"}, {"outcome", "done"}});
  return chain_.head();
}

std::string AuditLog::Failed(int exit_code, const net::AbortReason& reason) {
  Json entry{
      {"kind", "end"}, {"outcome", "failed"}, {"exit_code", exit_code}, {"reason", NameOf(reason.code)}};
  const bool names = reason.code == net::AbortCode::kPeerLost || reason.code == net::AbortCode::kProtocol;
  if (names && reason.about >= 0) entry["party"] = reason.about;
  Write(std::move(entry));
  return chain_.head();
}

AuditView ReadAuditLog(const fs::path& file) {
  ChainFile chain(file, ChainFile::Access::kRead, "an audit log");
  const ChainFile::Locked locked(chain);
  Reader reader;
  chain.Follow([&](const Json& entry) { reader.Apply(entry); });
  auto view = reader.Take();
  view.lines = chain.lines();
  view.head = chain.head();
  view.torn = chain.torn();
  return view;
}

std::vector<AuditedSession> SessionsMetAs(const fs::path& file, const std::string& id) {
  ChainFile chain(file, ChainFile::Access::kRead, "an audit log");
  const ChainFile::Locked locked(chain);
  Reader reader;
  std::map<std::string, Json> begun;
  std::vector<AuditedSession> met;
  chain.Follow([&](const Json& entry) {
    reader.Apply(entry);
    const auto session = entry["session"].dump();
    if (entry["kind"] == "session") begun[session] = entry;
    if (entry["kind"] != "connected" || entry.value("id", Json()) != id) return;
    const auto& first = begun.at(session);
    if (first["version"] == kUnsaltedVersion) return;
    try {
      met.push_back({.party = first.at("party").get<int>(),
                     .job = first.at("job").get<std::string>(),
                     .job_hash = first.at("job_hash").get<std::string>(),
                     .data = first.at("data").is_null() ? "" : first.at("data").get<std::string>(),
                     .fingerprints = first.at("certificates").get<decltype(AuditedSession::fingerprints)>()});
    } catch (const Json::exception&) {
      Refuse("a session's beginning in another form", "its party, job, data and certificates");
    }
  });
  return met;
}

bool IsAuditLog(const fs::path& file) {
  if (!RegularFile(file)) return false;
  std::ifstream stream(file, std::ios::binary);
  std::string begin(kFirstKey.size(), '\0');
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kFirstKey;
}

}  // namespace trefoil::runtime
