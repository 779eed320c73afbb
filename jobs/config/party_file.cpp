#include "jobs/config/party_file.h"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"
#include "jobs/config/fields.h"
#include "jobs/config/path_domains.h"
#include "jobs/config/toml/toml_writer.h"
#include "net/http/http_endpoint.h"
#include "net/start/handshake.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kAddress = "host:port with a port from 1 to 65535";
constexpr const char* kDuration = "a time above 0, of a day at most, such as \"500ms\", \"120s\" or \"2m\"";

struct HostAndPort : TextOfKind {
  HostAndPort()
      : TextOfKind{"host:port", kAddress, R"(^([^: \t\r\n/\[\]]+|\[[^ \t\r\n/\[\]]+\]):0*[1-9][0-9]{0,4}$)"} {
  }
  bool Read(const toml::node& node, Address& member) const { return ReadBy(ParseAddress, node, member); }
  void Write(const Address& member, Json& json) const { json = ToText(member); }
};

/// An array of such addresses.
struct HostsAndPorts {
  [[nodiscard]] static std::string Expected(const toml::node* /*found*/) {
    return fmt::format("an array of addresses, each {}", kAddress);
  }
  [[nodiscard]] static bool Read(const toml::node& node, std::vector<Address>& member) {
    if (!node.is_array()) return false;
    member.clear();
    return std::all_of(node.as_array()->begin(), node.as_array()->end(), [&](const toml::node& each) {
      return HostAndPort().Read(each, member.emplace_back());
    });
  }
  static void Write(const std::vector<Address>& member, Json& json) {
    json = Json::array();
    for (const auto& address : member) json.push_back(ToText(address));
  }
  static void Describe(Json& schema) {
    schema["type"] = "array";
    HostAndPort().Describe(schema["items"]);
  }
};

struct Duration : TextOfKind {
  Duration() : TextOfKind{"duration", kDuration, "^0*[1-9][0-9]*(ms|s|m)$"} {}
  bool Read(const toml::node& node, std::chrono::milliseconds& member) const {
    return ReadBy(ParseDuration, node, member);
  }
  void Write(std::chrono::milliseconds member, Json& json) const {
    const auto count = member.count();
    json = count % 1000 == 0 ? fmt::format("{}s", count / 1000) : fmt::format("{}ms", count);
  }
};

const OneOf<LogLevel>& LogLevels() {
  static const OneOf<LogLevel> levels{{LogLevel::kDebug, "debug"},
                                      {LogLevel::kInfo, "info"},
                                      {LogLevel::kWarning, "warning"},
                                      {LogLevel::kError, "error"},
                                      {LogLevel::kOff, "off"}};
  return levels;
}

const OneOf<dp::FilterMode>& FilterModes() {
  using dp::FilterMode;
  static const OneOf<FilterMode> modes{
      {FilterMode::kRdp, "rdp"}, {FilterMode::kGdp, "gdp"}, {FilterMode::kClosed, "closed"}};
  return modes;
}

/// Of ledgers of owners: jobs on deposits are not entered beforehand.
const OneOf<dp::FilterMode>& OwnerFilterModes() {
  using dp::FilterMode;
  static const OneOf<FilterMode> modes{{FilterMode::kRdp, "rdp"}, {FilterMode::kGdp, "gdp"}};
  return modes;
}

void RefuseLastPorts(const Section& table, const char* key, const Address& first, int ranks) {
  if (first.port + ranks > 65536) table.Refuse(key, "a port with as many behind it as there are ranks");
}

void PeerFields(FieldVisitor& v, PartyFile& s) {
  v.Check([](const Section& document) {
    const auto found = document.Tables("peer").size();
    if (found != 2)
      throw ConfigError(fmt::format("{}: found {} [[peer]] tables, expected two, one for each other party",
                                    document.file(), found));
  });
  std::set<int> seen;
  const auto fields = [&](PartyPeer& peer) {
    v("id", peer.id, WholeInterval{0, 2}, "Which party it is.");
    v.Check([&](const Section& table) {
      if (peer.id == s.id) table.Refuse("id", "another party than party.id");
      if (!seen.insert(peer.id).second) table.Refuse("id", "each other party once");
    });
    v("address", peer.address, HostAndPort(), "Where it is reached.");
    v("rank_addresses", peer.rank_addresses, HostsAndPorts(),
      Default(std::vector<Address>()).Said("rank r at `address`, its port + r").LeftOut(),
      "With `party.ranks`: where each of its machines is reached, in the order of their ranks.");
    v.Check([&](const Section& table) {
      const bool listed = !peer.rank_addresses.empty();
      if (listed && peer.rank_addresses.size() != static_cast<std::size_t>(s.ranks))
        table.Refuse("rank_addresses", fmt::format("{} addresses, one for each of party.ranks", s.ranks));
      if (!listed) RefuseLastPorts(table, "address", peer.address, s.ranks);
    });
    v("certificate", peer.certificate, Path(), "Its certificate.");
  };
  v.Tables("peer", "The other two parties.", s.peers, fields, 2);
}

/// Of ledgers as they are declared: LedgerSettings or OwnerLedgerSettings.
template <typename Settings>
void CapFields(FieldVisitor& v, Settings& s, const OneOf<dp::FilterMode>& modes) {
  v("epsilon_cap", s.epsilon_cap, kPositive, "Most that all jobs together may cost, as an insider's ε.");
  v("delta", s.delta, Interval{.above = 0.0, .below = 1.0},
    "At which that is computed; fixed when the ledger is opened.");
  v("mode", s.mode, modes,
    "How jobs are composed (`privacy.md`, \"Filters\"); fixed when the ledger is opened. Where it is missing "
    "it is the ledger's own, and `rdp` of a new one.");
}

void OwnerLedgerFields(FieldVisitor& v, OwnerLedgerSettings& s) {
  v("folder", s.folder, Path(),
    "A folder with a ledger `OWNER/POPULATION.jsonl` for each population whose deposits were used; made if "
    "it is "
    "not there, mode 0700; on a local file system.");
  CapFields(v, s, OwnerFilterModes());
}

void LedgerFields(FieldVisitor& v, LedgerSettings& s) {
  v("file", s.file, Path(), "The ledger; made if it is not there, mode 0600; on a local file system.");
  CapFields(v, s, FilterModes());
  v("population", s.population, Text(),
    Default(std::string()).Said("none: a ledger of one data set").LeftOut(),
    "A name for everybody who may appear in any of the files that the ledger is charged for, over time: "
    "those that `trefoil ledger declare` has declared (`operations.md`, \"A population has a budget, not a "
    "file\"). The ledger keeps it.");
}

void LogFields(FieldVisitor& v, LogSettings& s) {
  const LogSettings fresh;
  v("level", s.level, LogLevels(), Default(fresh.level).LeftOut(),
    "The least level of lines that `party.log` gets.");
  v("stderr", s.to_stderr, LogLevels(), Default(fresh.to_stderr).LeftOut(),
    "The least level of lines that standard error gets. It gets the one line of an error in any case.");
  v("format", s.json, OneOf<bool>{{false, "text"}, {true, "json"}}, Default(fresh.json).LeftOut(),
    "`text`: `TIME(UTC) LEVEL TEXT`; `json`: a JSON object a line, with `time`, `level`, `party`, `text`.");
  v("audit", s.audit, Path(), Default(fresh.audit).Said("`audit.jsonl` in each run directory").LeftOut(),
    "The session log; one file for all runs if it is named.");
}

void MetricsFields(FieldVisitor& v, MetricsSettings& s) {
  v("listen", s.listen, HostAndPort(),
    "An address in figures: `run` serves a page to watch it by, `/metrics`, `/healthz` and `/readyz` there "
    "(`operations.md`, \"Metrics and health\"). A loopback address, `127.0.0.1:9100` or `[::1]:9100`, but "
    "with "
    "`exposed`.");
  v("exposed", s.exposed, Flag{}, Default(false).LeftOut(),
    "Whether `listen` may be an address that other machines reach, as `0.0.0.0:9100`: whoever does can read "
    "it "
    "all, without TLS and without a password.");
  v.Check([&](const Section& metrics) {
    if (!s.exposed && !net::IsLoopback(s.listen.host))
      metrics.Refuse(
          "listen", "127.0.0.1:PORT or [::1]:PORT, where this machine alone can read it; or metrics.exposed");
    if (!net::IsAddress(s.listen.host)) metrics.Refuse("listen", "an address in figures, as 0.0.0.0:9100");
  });
}

void TimeoutFields(FieldVisitor& v, PartyFile& s) {
  const PartyFile fresh;
  v("start", s.start_timeout, Duration(), Default(fresh.start_timeout),
    "How long to wait for the others to come up. As the others: `500ms`, `120s`, `2m`; above 0, at most a "
    "day.");
  v("peer", s.peer_timeout, Duration(), Default(fresh.peer_timeout),
    "Silence after which a peer is lost; heartbeats go on while it computes. A longer wait for a peer or for "
    "storage is reported (`operations.md`, \"When a run stands still\").");
  v("handshake", s.handshake_timeout, Duration(), Default(fresh.handshake_timeout),
    "An attempt to connect, a TLS handshake or a greeting that takes longer is given up.");
}

/// What this party brings, and what that may cost it.
void BroughtFields(FieldVisitor& v, PartyFile& s) {
  RecordFields(v, "data", "This party's own records, for a job that takes records from files.", s.data);
  RecordFields(v, "evaluation",
               "Test records, as `[data]`: required where the job's `evaluation.holder` is this party.",
               s.evaluation);
  RecordFields(v, "validation",
               "Validation records, as `[data]`: required where the job's `initialisation.validation_holder` "
               "is this party.",
               s.validation);
  const auto ledger = [&](LedgerSettings& settings) { LedgerFields(v, settings); };
  v.Table("ledger", "The ledger of this party's data set, below. Without the table there is no cap.",
          s.ledger, ledger);
  v.Table("evaluation_ledger",
          "The same for the test records of `[evaluation]`, at their holder: its noisy evaluations are "
          "entered there.",
          s.evaluation_ledger, ledger);
  v.Check([&](const Section& document) {
    const bool both = s.ledger && s.evaluation_ledger;
    if (both && s.ledger->file.lexically_normal() == s.evaluation_ledger->file.lexically_normal())
      document.Table("evaluation_ledger")
          .Refuse("file", "another file than that of [ledger], which is of other records");
  });
}

/// All but what types of jobs need for themselves.
void Fields(FieldVisitor& v, PartyFile& s) {
  v.Table("party", "This party.", [&] {
    v("id", s.id, WholeInterval{0, 2}, "Which of the three it is.");
    v("listen", s.listen, HostAndPort(), "Address and port to accept on; IPv6 in brackets.");
    v("advertise", s.advertise, HostAndPort(), Default(s.listen).Said("`party.listen`"),
      "Where the others reach this party.");
    v("ranks", s.ranks, WholeInterval{1, net::kMaxRanks}, Default(PartyFile().ranks).LeftOut(),
      "Machines that compute as this party together, the same number at all three, started by mpirun "
      "(`operations.md`, \"A party of many machines\"). Rank r listens on the port of `listen` + r.");
    v.Check([&](const Section& table) { RefuseLastPorts(table, "listen", s.listen, s.ranks); });
  });
  PeerFields(v, s);
  v.Table("tls", "Who this party is to the others.", [&] {
    v("certificate", s.certificate, Path(), "This party's certificate.");
    v("private_key", s.private_key, Path(), "Its key, of mode 0600 or 0400.");
  });
  BroughtFields(v, s);
  v.Table("log", "What a run writes down of itself, and where.", [&] { LogFields(v, s.log); });
  v.Table("metrics",
          "Figures of a run while it goes on, and a page to watch; without the table there are none.",
          s.metrics, [&](MetricsSettings& metrics) { MetricsFields(v, metrics); });
  v.Table("features", "What the job's `[features]` want of each party.", [&] {
    PathField(v, "model", s.feature_model,
              "Required for method `onnx`: the ONNX model of the job's `features.model_sha256`.");
  });
  v.Table("owners", "Whose the records are.", [&] {
    v("rows", s.owner_rows, Wholes{{0, 1'000'000'000}, "a whole number for each of this party's owners"},
      Default(PartyFile().owner_rows).Said("by hash").LeftOut(),
      "With a job's `[owners]`: how many of the `[data]` records each owner of this party has, in the file's "
      "order. Without it a record goes to the owner that its SHA-256 names (`privacy.md`, \"Averaged "
      "classifiers\"); required with several owners and `privacy.neighbours = \"replaced\"`. With a job's "
      "`[teacher]`: of each teacher, in place of slices by hash. Refused for several owners' or teachers' "
      "images in folders, which have no order.");
  });
  v.Table("storage", "What shares are sealed with.", [&] {
    v("key", s.storage_key, Path(), Default(fs::path()).Said("`tls.private_key`").LeftOut(),
      "A file of mode 0600 or 0400 and 32 bytes or more; shares are sealed with a key derived from its "
      "bytes.");
  });
  v.Table(
      "deposits", "Deposits of owners who run no party (`owners.md`); without the table none can be taken.",
      s.deposits, [&](DepositSettings& deposits) {
        v("key", deposits.key, Path(),
          "The deposit key, of mode 0600 or 0400, that deposits for this party are sealed to.");
        v("owners", deposits.owners, Path(),
          "A folder with a file `NAME.pub` for each owner whose deposits are taken, as `trefoil trust-owner` "
          "writes it.");
        v("store", deposits.store, Path(),
          "A folder with the deposits that were taken; made if it is not there, mode 0700; on a local file "
          "system.");
      });
  v.Table("owner_ledgers",
          "What jobs may cost each population whose records owners deposited (`owners.md`, \"Budgets\"). "
          "Without the table there is no cap.",
          s.owner_ledgers, [&](OwnerLedgerSettings& settings) { OwnerLedgerFields(v, settings); });
  v.Table("timeouts", "How long this party waits.", [&] { TimeoutFields(v, s); });
}

struct DeclaredParty {
  PartyFile party{};
  const std::vector<InputFields>& inputs;
};

void Fields(FieldVisitor& v, DeclaredParty& s) {
  Fields(v, s.party);
  for (const auto& fields : s.inputs) fields(v, s.party.inputs);
}

/// What the file says beside a key, for who reads it.
constexpr std::pair<const char*, const char*> kRemarks[] = {
    {"tls.private_key", "mode 0600, never leaves this machine"},
    {"deposits.key", "mode 0600, never leaves this machine"},
    {"ledger.epsilon_cap", "insider epsilon, all jobs on this data together"},
    {"evaluation_ledger.epsilon_cap", "insider epsilon, all jobs on this data together"},
    {"timeouts.start", "how long to wait for the others to come up"},
    {"timeouts.peer", "how long a party may be silent before it counts as lost"},
    {"timeouts.handshake", "how long an attempt to connect, a TLS handshake or a greeting may take"}};

constexpr const char* kNoData =
    "\n[data]\n"
    "# Where this party's own data is. Images and labels:\n"
    "#   x = \"data/images-idx3-ubyte.gz\"\n"
    "#   y = \"data/labels-idx1-ubyte.gz\"\n"
    "# or one table:\n"
    "#   file = \"data/train.csv\"\n";

std::string TableToml(const std::string& name, const nlohmann::ordered_json& table) {
  std::string text;
  for (const auto& [key, value] : table.items()) {
    text += fmt::format("{} = {}", key, TomlValue(value));
    for (const auto& [of, remark] : kRemarks) {
      if (of == name + "." + key) text += fmt::format("  # {}", remark);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

Address ParseAddress(const std::string& text) {
  const auto fail = [&] { throw ConfigError(fmt::format("found \"{}\", expected {}", text, kAddress)); };
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) fail();
  auto host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != std::string::npos) fail();
  if (host.find_first_of(" \t\r\n/[]") != std::string::npos) fail();
  std::uint16_t port = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (error != std::errc{} || stop != end || port == 0) fail();
  return {.host = host, .port = port};
}

std::string ToText(const Address& address) {
  const bool bracket = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", bracket ? "[" : "", address.host, bracket ? "]" : "", address.port);
}

std::chrono::milliseconds ParseDuration(const std::string& text) {
  constexpr std::int64_t kMax = 24 * 60 * 60 * 1000;
  std::int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  const std::int64_t factor = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "m" ? 60'000 : 0;
  if (error != std::errc{} || factor == 0 || number <= 0 || number > kMax / factor) {
    throw ConfigError(fmt::format("found \"{}\", expected {}", text, kDuration));
  }
  return std::chrono::milliseconds(number * factor);
}

PartyFile ReadParty(const fs::path& file, const std::vector<InputFields>& inputs) {
  DeclaredParty declared{.inputs = inputs};
  ReadFields(ReadToml(file), file.string(), declared);
  auto& peers = declared.party.peers;
  std::sort(peers.begin(), peers.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return std::move(declared.party);
}

std::string PartySchema(const std::vector<InputFields>& inputs) {
  DeclaredParty declared{.inputs = inputs};
  return SchemaJson("party", [&](FieldVisitor& v) { Fields(v, declared); });
}

std::string PartyToml(const PartyFile& party) {
  auto tables = WriteOrderedJson([copy = party](FieldVisitor& v) mutable { Fields(v, copy); });
  for (const auto& [key, path] : party.inputs.all()) {
    const auto dot = key.find('.');
    if (!path.empty()) tables[key.substr(0, dot)][key.substr(dot + 1)] = path.generic_string();
  }
  for (const auto& [table, files] : party.inputs.all_records()) {
    auto keys = WriteOrderedJson([copy = files](FieldVisitor& v) mutable {
      PathField(v, "x", copy.x, "");
      TableField(v, copy, "");
    });
    tables[table].update(keys);
  }
  auto text = fmt::format("# Party {} of three. Paths are relative to this file.\n", party.id);
  for (const auto& [name, table] : tables.items()) {
    if (table.is_array()) {
      for (const auto& element : table) text += fmt::format("\n[[{}]]\n{}", name, TableToml(name, element));
    } else if (!table.empty()) {
      text += fmt::format("\n[{}]\n{}", name, TableToml(name, table));
    } else if (name == "data") {
      text += kNoData;
    }
  }
  return text;
}

void CheckKeyMode(const fs::path& key) { CheckSecretMode(key, "this party's private key"); }

void CheckSecretMode(const fs::path& file, const std::string& what) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0)
    throw ConfigError(fmt::format("{}: {}, expected {}", file.string(), std::strerror(errno), what));
  if (!S_ISREG(status.st_mode)) throw ConfigError(file.string() + ": not a file, expected " + what);
  const unsigned mode = status.st_mode & 07777U;
  if (mode != 0600 && mode != 0400) {
    throw ConfigError(
        fmt::format("{0}: found mode {1:04o}, expected 0600: run chmod 600 {0}", file.string(), mode));
  }
}

}  // namespace trefoil::jobs
