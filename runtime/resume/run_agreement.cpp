#include "runtime/resume/run_agreement.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "jobs/config/json_number.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/component_check.h"

namespace trefoil::runtime {
namespace {

using Json = nlohmann::json;

/// Room for some ten thousand sessions.
constexpr std::size_t kLargestClaim = std::size_t{1} << 20;
constexpr std::size_t kLongestId = 64;

/// "here" or "at party 1".
std::string Place(int party, int self) {
  return party == self ? std::string("here") : fmt::format("at party {}", party);
}

std::string StepsOf(const RunClaim& claim) {
  if (claim.held.empty()) return "none";
  std::vector<int> steps;
  for (const auto& name : claim.held) steps.push_back(name.step);
  std::sort(steps.begin(), steps.end());
  return fmt::format("{}", fmt::join(steps, " and "));
}

std::string IdIn(const Json& json) {
  auto id = json.get<std::string>();
  if (id.size() > kLongestId || id.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw ProtocolError("no id");
  return id;
}

int StepIn(const Json& json, int least, int most) {
  const int step = jobs::NumberOf(json);
  if (step < least || step > most) throw ProtocolError("no step");
  return step;
}

CheckpointName HeldIn(const Json& json, int steps) {
  const bool counted = json.value("counted", false);
  return {.step = StepIn(json.at("step"), counted ? steps : 0, steps),
          .session = IdIn(json.at("session")),
          .counted = counted};
}

ml::SessionSteps SessionIn(const Json& json, int steps) {
  ml::SessionSteps session;
  session.id = IdIn(json.at("id"));
  session.from_start = json.at("from_start").get<bool>();
  session.first = StepIn(json.at("first"), 0, steps);
  session.begun = StepIn(json.at("begun"), session.first, steps);
  session.evaluated = json.at("evaluated").get<bool>();
  return session;
}

/// The one run that anybody knows of; empty if nobody does.
std::string CommonRun(const std::array<RunClaim, 3>& claims, int self) {
  int first = -1;
  for (int party = 0; party < 3; ++party) {
    const auto& claim = claims.at(static_cast<std::size_t>(party));
    if (claim.run_id.empty()) continue;
    if (first < 0) first = party;
    const auto& run = claims.at(static_cast<std::size_t>(first)).run_id;
    if (claim.run_id != run) {
      throw ConfigError(
          fmt::format("--out: found run {} {}, run {} {}, expected the same: name the run directory of one "
                      "run at all three",
                      run, Place(first, self), claim.run_id, Place(party, self)));
    }
  }
  return first < 0 ? std::string() : claims.at(static_cast<std::size_t>(first)).run_id;
}

bool Holds(const RunClaim& claim, const CheckpointName& name) {
  return std::find(claim.held.begin(), claim.held.end(), name) != claim.held.end();
}

std::optional<CheckpointName> LastHeldByAll(const std::array<RunClaim, 3>& claims) {
  std::optional<CheckpointName> last;
  for (const auto& name : claims[0].held) {
    if (Holds(claims[1], name) && Holds(claims[2], name) && (!last || last->rank() < name.rank()))
      last = name;
  }
  return last;
}

/// Without a common checkpoint a run begins anew only if it died while the first was being written: then
/// nobody holds a later one. Else somebody lost theirs.
void RequireNothingLost(const std::array<RunClaim, 3>& claims, int self) {
  const bool later = std::any_of(claims.begin(), claims.end(), [](const RunClaim& claim) {
    return std::any_of(claim.held.begin(), claim.held.end(),
                       [](const CheckpointName& name) { return name.step > 0; });
  });
  if (!later) return;
  std::vector<std::string> found;
  for (int party = 0; party < 3; ++party)
    found.push_back(
        fmt::format("{} {}", StepsOf(claims.at(static_cast<std::size_t>(party))), Place(party, self)));
  throw ConfigError(
      fmt::format("--resume: found checkpoints of steps {}, expected one that all three hold: name the run "
                  "directory of this run at all three, with its checkpoint folder as it was left",
                  fmt::join(found, ", ")));
}

/// Whoever has begun to release a model knows that all three held its checkpoint, the one behind the last
/// step. From an older one the run would release a second.
void RequireTheReleased(const std::array<RunClaim, 3>& claims, const std::optional<CheckpointName>& from,
                        int self, int steps) {
  for (int party = 0; party < 3; ++party) {
    const auto& claim = claims.at(static_cast<std::size_t>(party));
    if (!claim.released) continue;
    const auto last = std::max_element(claim.held.begin(), claim.held.end());
    if (from && from->step == steps && last != claim.held.end() && *from == *last) continue;
    throw ConfigError(fmt::format(
        "--resume: found a run whose model may have been released {}, and no checkpoint behind its last step "
        "that all three hold, expected one: name the newest run directory of this run at all three",
        Place(party, self)));
  }
}

/// Else who begins a run would go on with another one, which its ledger has charged already.
void RequireNoneAnew(const std::array<RunClaim, 3>& claims, int self) {
  for (int party = 0; party < 3; ++party) {
    if (claims.at(static_cast<std::size_t>(party)).anew)
      throw ConfigError(fmt::format(
          "--resume: found a run to go on with, and none {}, expected --resume at all three or at nobody",
          Place(party, self)));
  }
}

void Merge(ml::SessionHistory& all, const ml::SessionHistory& more) {
  for (const auto& session : more) {
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.id == session.id; });
    if (known == all.end()) {
      all.push_back(session);
    } else {
      known->begun = std::max(known->begun, session.begun);
      known->evaluated = known->evaluated || session.evaluated;
    }
  }
}

}  // namespace

std::string ToText(const RunClaim& claim) {
  Json held = Json::array();
  for (const auto& name : claim.held) {
    held.push_back({{"step", name.step}, {"session", name.session}});
    if (name.counted) held.back()["counted"] = true;
  }
  Json sessions = Json::array();
  for (const auto& one : claim.sessions) {
    sessions.push_back({{"id", one.id},
                        {"from_start", one.from_start},
                        {"first", one.first},
                        {"begun", one.begun},
                        {"evaluated", one.evaluated}});
  }
  Json json{{"run_id", claim.run_id}, {"held", held}, {"sessions", sessions}, {"released", claim.released}};
  if (claim.again) json["again"] = true;
  if (claim.anew) json["anew"] = true;
  return json.dump();
}

RunClaim ReadClaim(const std::string& text, int peer, int steps) {
  try {
    const auto json = Json::parse(text);
    RunClaim claim{.run_id = IdIn(json.at("run_id")), .held = {}, .sessions = {}};
    claim.released = json.value("released", false);  // absent in a run.json that is older than the note
    for (const auto& one : json.at("held")) claim.held.push_back(HeldIn(one, steps));
    for (const auto& one : json.at("sessions")) claim.sessions.push_back(SessionIn(one, steps));
    claim.again = json.value("again", false);
    claim.anew = json.value("anew", false);
    return claim;
  } catch (const std::exception&) {
    throw ProtocolError(fmt::format("party {}: found no account of a run, expected one", peer), peer);
  }
}

std::int64_t LostSteps(const AgreedRun& agreed) {
  std::int64_t executed = 0;
  for (const auto& session : agreed.earlier) executed += session.begun - session.first;
  return executed - (agreed.from ? agreed.from->step : 0);
}

AgreedRun Agree(const std::array<RunClaim, 3>& claims, int self, int steps) {
  AgreedRun agreed{.run_id = CommonRun(claims, self), .from = LastHeldByAll(claims), .earlier = {}};
  if (!agreed.run_id.empty()) RequireNoneAnew(claims, self);
  RequireTheReleased(claims, agreed.from, self, steps);
  if (!agreed.from) RequireNothingLost(claims, self);
  for (const auto& claim : claims) Merge(agreed.earlier, claim.sessions);
  agreed.again = std::all_of(claims.begin(), claims.end(), [](const RunClaim& claim) { return claim.again; });
  return agreed;
}

AgreedRun AgreeOnRun(mpc::Context& party, const RunClaim& own, int steps) {
  const auto texts = protocols::ExchangeTexts(party, ToText(own), kLargestClaim);
  std::array<RunClaim, 3> claims;
  for (int other = 0; other < 3; ++other) {
    const auto at = static_cast<std::size_t>(other);
    claims.at(at) = other == party.self() ? own : ReadClaim(texts.at(at), other, steps);
  }
  AgreedRun agreed;
  try {
    agreed = Agree(claims, party.self(), steps);
  } catch (const ConfigError& error) {
    protocols::RefuseTogether(party, error);
  }
  protocols::Barrier(party);
  return agreed;
}

void RequireOneCheckpoint(mpc::Context& party, const ml::Checkpoint& checkpoint, const std::string& job_hash,
                          bool joint_slots, const std::filesystem::path& run_folder) {
  const auto hash_of = [](const SecretKey& key) {
    return Sha256Hex({reinterpret_cast<const char*>(key.bytes().data()), key.bytes().size()});
  };
  const auto& [weights, velocity, step, clip_at] = checkpoint.state;
  const auto& counts = checkpoint.counts;
  auto common = fmt::format("{} {}", job_hash, step);
  if (clip_at) common += fmt::format(" clip {}", *clip_at);
  for (const std::int64_t count : checkpoint.class_counts) common += fmt::format(" {}", count);
  if (checkpoint.coins) {
    common += fmt::format(" {}", hash_of(checkpoint.coins->schedule));
    if (joint_slots)
      common += fmt::format(" {}", hash_of(checkpoint.coins->slots));  // else its owner's alone
  }
  const protocols::ComparedShares compared{
      .common = std::move(common),
      .what = fmt::format("checkpoint of step {}", step),
      .remedy =
          fmt::format("--resume: expected the run directory of one run at all three, with its checkpoint "
                      "folder as it was left; found {} here",
                      run_folder.string())};
  if (counts)
    return protocols::RequireSharesOfOne(party, {&weights.ring(), &velocity.ring(), &*counts}, compared);
  protocols::RequireSharesOfOne(party, {&weights.ring(), &velocity.ring()}, compared);
}

}  // namespace trefoil::runtime
