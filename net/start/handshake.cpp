#include "net/start/handshake.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/secrets/sha256.h"

namespace trefoil::net {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kHelloBytes =
    4 + 1 + 1 + 1 + kNonceBytes + kHashBytes + 8 + kParties * sizeof(CertificateHash);
constexpr std::size_t kVersionBytes = 4;
/// Of Hello::ranks and of Hello::rank, which only a party of several machines sends.
constexpr std::size_t kRankBytes = 2;
constexpr int kMaxJobDepth = 32;
constexpr std::size_t kMaxShownValue = 80;
constexpr std::string_view kSessionPrefix = "trefoil session 1";

class Writer {
 public:
  void Number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void Block(std::span<const std::uint8_t> bytes) {
    std::transform(bytes.begin(), bytes.end(), std::back_inserter(out_),
                   [](std::uint8_t b) { return std::byte{b}; });
  }
  Bytes Take() { return std::move(out_); }

 private:
  Bytes out_;
};

// Reads what Writer wrote; the caller has checked the length.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}
  std::uint64_t Number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::to_integer<std::uint64_t>(in_[i]) << (8 * i);
    in_ = in_.subspan(bytes);
    return value;
  }
  void Block(std::span<std::uint8_t> out) {
    for (auto& byte : out) byte = static_cast<std::uint8_t>(Number(1));
  }

 private:
  std::span<const std::byte> in_;
};

// A value on one line, in ASCII, cut to a readable length.
std::string Show(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kMaxShownValue) text = text.substr(0, kMaxShownValue) + "...";
  return text;
}

std::string ShowKey(const std::string& key) {
  const std::string quoted = Show(Json(key));
  const bool plain = quoted == '"' + key + '"' && !key.empty();
  return plain ? key : quoted;
}

struct Difference {
  std::string key;
  std::string mine;
  std::string theirs;
};

Difference Absent(const std::string& key, const Json* mine, const Json* theirs) {
  return {key, mine != nullptr ? Show(*mine) : "absent", theirs != nullptr ? Show(*theirs) : "absent"};
}

std::optional<Difference> Compare(const std::string& path, const Json& mine, const Json& theirs);

std::optional<Difference> CompareObjects(const std::string& path, const Json& mine, const Json& theirs) {
  std::set<std::string> keys;
  for (const auto& item : mine.items()) keys.insert(item.key());
  for (const auto& item : theirs.items()) keys.insert(item.key());
  for (const auto& key : keys) {
    const std::string name = path.empty() ? ShowKey(key) : path + "." + ShowKey(key);
    const auto here = mine.find(key);
    const auto there = theirs.find(key);
    if (here == mine.end() || there == theirs.end()) {
      return Absent(name, here == mine.end() ? nullptr : &*here, there == theirs.end() ? nullptr : &*there);
    }
    if (auto found = Compare(name, *here, *there)) return found;
  }
  return std::nullopt;
}

std::optional<Difference> Compare(const std::string& path, const Json& mine, const Json& theirs) {
  if (mine.is_object() && theirs.is_object()) return CompareObjects(path, mine, theirs);
  if (mine.is_array() && theirs.is_array() && mine.size() == theirs.size()) {
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (auto found = Compare(path + "[" + std::to_string(i) + "]", mine[i], theirs[i])) return found;
    }
    return std::nullopt;
  }
  // By text, so that 1 and 1.0, which hash differently, differ here as well.
  if (mine.type() == theirs.type() &&
      mine.dump() == theirs.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    return std::nullopt;
  }
  return Difference{path, Show(mine), Show(theirs)};
}

// Deeper nesting than any job has is dropped, so that nothing below can recurse far.
Json ParseJob(const std::string& text) {
  return Json::parse(
      text, [](int depth, Json::parse_event_t, Json&) { return depth <= kMaxJobDepth; }, false);
}

std::string Count(int number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

void CheckPins(const Hello& mine, const Hello& theirs, int peer) {
  for (std::size_t party = 0; party < mine.pins.size(); ++party) {
    if (mine.pins[party] == theirs.pins[party]) continue;
    const auto id = static_cast<int>(party);
    const std::string whose = "party " + std::to_string(id);
    throw ConfigError(
        "party " + std::to_string(peer) + ": knows " + (id == mine.sender ? "this party" : whose) +
        " by the certificate " + ShowFingerprint(theirs.pins[party]) + ", here it is " +
        ShowFingerprint(mine.pins[party]) + "; somebody may listen in between: compare both with " + whose +
        " itself by telephone, and store the right one with trefoil trust");
  }
}

}  // namespace

Bytes EncodeHello(const Hello& hello) {
  Writer out;
  out.Number(hello.version, kVersionBytes);
  out.Number(static_cast<std::uint64_t>(hello.sender), 1);
  out.Number(static_cast<std::uint64_t>(hello.receiver), 1);
  out.Number(static_cast<std::uint64_t>(hello.purpose), 1);
  out.Block(hello.nonce);
  out.Block(hello.job);
  out.Number(static_cast<std::uint64_t>(hello.clock_milliseconds), 8);
  for (const auto& pin : hello.pins) out.Block(pin);
  if (hello.ranks > 1) {
    out.Number(static_cast<std::uint64_t>(hello.ranks), kRankBytes);
    out.Number(static_cast<std::uint64_t>(hello.rank), kRankBytes);
  }
  return out.Take();
}

Hello DecodeHello(std::span<const std::byte> bytes) {
  if (bytes.size() < kVersionBytes)
    throw ProtocolError("greeting of " + std::to_string(bytes.size()) + " bytes");
  Reader in(bytes);
  Hello hello;
  hello.version = static_cast<std::uint32_t>(in.Number(kVersionBytes));
  if (hello.version != kProtocolVersion) return hello;
  const bool has_ranks = bytes.size() == kHelloBytes + 2 * kRankBytes;
  if (bytes.size() != kHelloBytes && !has_ranks) {
    throw ProtocolError("greeting of " + std::to_string(bytes.size()) + " bytes, " +
                        std::to_string(kHelloBytes) + " expected");
  }
  hello.sender = static_cast<int>(in.Number(1));
  hello.receiver = static_cast<int>(in.Number(1));
  const std::uint64_t purpose = in.Number(1);
  if (purpose != static_cast<std::uint64_t>(Purpose::kRun) &&
      purpose != static_cast<std::uint64_t>(Purpose::kCheck)) {
    throw ProtocolError("greeting of unknown purpose " + std::to_string(purpose));
  }
  hello.purpose = static_cast<Purpose>(purpose);
  in.Block(hello.nonce);
  in.Block(hello.job);
  hello.clock_milliseconds = static_cast<std::int64_t>(in.Number(8));
  for (auto& pin : hello.pins) in.Block(pin);
  if (!has_ranks) return hello;
  hello.ranks = static_cast<int>(in.Number(kRankBytes));
  hello.rank = static_cast<int>(in.Number(kRankBytes));
  if (hello.ranks < 2 || hello.ranks > kMaxRanks || hello.rank >= hello.ranks)
    throw ProtocolError("greeting of rank " + std::to_string(hello.rank) + " of " +
                        std::to_string(hello.ranks));
  return hello;
}

JobHash HashJob(const std::string& job_json) {
  if (job_json.empty()) return {};
  Sha256 hash;
  hash.Update(job_json);
  return hash.Digest();
}

SessionId MakeSession(const std::array<Nonce, kParties>& nonces) {
  Sha256 hash;
  hash.Update(kSessionPrefix);
  for (const Nonce& nonce : nonces) hash.Update({reinterpret_cast<const char*>(nonce.data()), nonce.size()});
  const auto digest = hash.Digest();
  SessionId session{};
  std::copy_n(digest.begin(), session.size(), session.begin());
  return session;
}

void CheckGreeting(const Hello& mine, const Hello& theirs, int peer) {
  const std::string name = "party " + std::to_string(peer);
  if (theirs.version != mine.version) {
    throw ConfigError(name + ": speaks protocol version " + std::to_string(theirs.version) +
                      ", this party version " + std::to_string(mine.version) +
                      "; all three must run the same release");
  }
  if (theirs.sender != peer) {
    throw ConfigError(name + ": its program says that it is party " + std::to_string(theirs.sender) +
                      "; compare id in the party files");
  }
  if (theirs.receiver != mine.sender) {
    throw ConfigError(name + ": takes this party for party " + std::to_string(theirs.receiver) +
                      ", but it is party " + std::to_string(mine.sender) + "; compare id in the party files");
  }
  if (theirs.ranks != mine.ranks) {
    throw ConfigError(name + ": found " + Count(theirs.ranks, "rank") + ", expected " +
                      std::to_string(mine.ranks) + "; compare party.ranks in the party files");
  }
  if (theirs.rank != mine.rank) {
    throw ConfigError(name + ": found rank " + std::to_string(theirs.rank) + ", expected rank " +
                      std::to_string(mine.rank) + "; compare addresses in the party files");
  }
  CheckPins(mine, theirs, peer);
}

bool JobsDiffer(const Hello& mine, const Hello& theirs) {
  constexpr JobHash kNone{};
  const auto no_job = [&](const Hello& hello) {
    return hello.purpose == Purpose::kCheck && hello.job == kNone;
  };
  return !no_job(mine) && !no_job(theirs) && mine.job != theirs.job;
}

std::string DescribeJobDifference(const std::string& mine, const std::string& theirs, int peer) {
  const std::string name = "party " + std::to_string(peer);
  const Json here = ParseJob(mine);
  const Json there = ParseJob(theirs);
  if (there.is_discarded() || !there.is_object())
    return "job: differs from that of " + name + ", which sent no readable job";
  if (here.is_discarded() || !here.is_object())
    return "job: differs from that of " + name + ", and this party has none";
  const auto difference = Compare("", here, there);
  if (!difference) return "job: its text differs from that of " + name + ", its values do not";
  return difference->key + ": " + difference->mine + " here, " + difference->theirs + " at " + name;
}

}  // namespace trefoil::net
