#include "jobs/config/party_file.h"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "jobs/config/toml_reader.h"
#include "jobs/config/toml_writer.h"
#include "net/http/http_endpoint.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& KnownKeys() {
  static const std::vector<std::string> keys{"party.id",
                                             "party.listen",
                                             "party.advertise",
                                             "peer.id",
                                             "peer.address",
                                             "peer.certificate",
                                             "tls.certificate",
                                             "tls.private_key",
                                             "data.x",
                                             "data.y",
                                             "data.file",
                                             "features.model",
                                             "timeouts.start",
                                             "timeouts.peer",
                                             "timeouts.handshake",
                                             "ledger.file",
                                             "ledger.epsilon_cap",
                                             "ledger.delta",
                                             "ledger.mode",
                                             "evaluation_ledger.file",
                                             "evaluation_ledger.epsilon_cap",
                                             "evaluation_ledger.delta",
                                             "evaluation_ledger.mode",
                                             "log.level",
                                             "log.stderr",
                                             "log.format",
                                             "log.audit",
                                             "metrics.listen",
                                             "evaluation.x",
                                             "evaluation.y",
                                             "evaluation.file",
                                             "validation.x",
                                             "pate.queries",
                                             "pate.predictions",
                                             "pate.student",
                                             "predict.share",
                                             "predict.x",
                                             "predict.file",
                                             "storage.key",
                                             "validation.y",
                                             "validation.file",
                                             "owners.rows"};
  return keys;
}

Address ReadAddress(const Section& section, std::string_view key) {
  try {
    return ParseAddress(section.Text(key));
  } catch (const ConfigError&) {
    section.Refuse(key, "host:port with a port from 1 to 65535");
  }
}

std::chrono::milliseconds ReadDuration(const Section& section, std::string_view key, const char* fallback) {
  const auto text = section.Text(key, fallback);
  try {
    return ParseDuration(text);
  } catch (const ConfigError&) {
    section.Refuse(key, "a time such as \"500ms\", \"120s\" or \"2m\"");
  }
}

/// A path of the file, relative to the file's folder.
fs::path ReadPath(const Section& section, std::string_view key, const fs::path& folder) {
  const auto text = section.Text(key);
  if (text.empty()) section.Refuse(key, "a path");
  return folder / text;
}

data::DataFiles ReadDataFiles(const Section& section, const fs::path& folder) {
  const auto read = [&](const char* key) {
    return section.Has(key) ? ReadPath(section, key, folder) : fs::path();
  };
  data::DataFiles files{.x = read("x"), .y = read("y"), .file = read("file")};
  if (section.Has("file") && (section.Has("x") || section.Has("y"))) {
    section.Fail("file", fmt::format("{} or {} is given too, expected x and y, or file", section.Path("x"),
                                     section.Path("y")));
  }
  if (section.Has("x") != section.Has("y")) {
    section.Refuse(section.Has("x") ? "y" : "x", fmt::format("a path, as the other of {} and {} is given",
                                                             section.Path("x"), section.Path("y")));
  }
  return files;
}

PredictFiles ReadPredict(const Section& section, const fs::path& folder) {
  const auto read = [&](const char* key) {
    return section.Has(key) ? ReadPath(section, key, folder) : fs::path();
  };
  if (section.Has("x") && section.Has("file"))
    section.Fail("file", "predict.x is given too, expected only one of them");
  return {.share = read("share"), .rows = {.x = read("x"), .y = {}, .file = read("file")}};
}

constexpr std::array<std::pair<const char*, LogLevel>, 5> kLogLevels{{{"debug", LogLevel::kDebug},
                                                                      {"info", LogLevel::kInfo},
                                                                      {"warning", LogLevel::kWarning},
                                                                      {"error", LogLevel::kError},
                                                                      {"off", LogLevel::kOff}}};

LogLevel ReadLevel(const Section& section, std::string_view key, const char* fallback) {
  std::vector<std::string> names;
  for (const auto& [name, level] : kLogLevels) names.emplace_back(name);
  const auto chosen = section.Choice(key, names, fallback);
  return std::find_if(kLogLevels.begin(), kLogLevels.end(),
                      [&](const auto& one) { return chosen == one.first; })
      ->second;
}

const char* NameOf(LogLevel level) {
  return std::find_if(kLogLevels.begin(), kLogLevels.end(),
                      [&](const auto& one) { return level == one.second; })
      ->first;
}

LogSettings ReadLog(const Section& section, const fs::path& folder) {
  return {.level = ReadLevel(section, "level", "info"),
          .to_stderr = ReadLevel(section, "stderr", "off"),
          .json = section.Choice("format", {"text", "json"}, "text") == "json",
          .audit = section.Has("audit") ? ReadPath(section, "audit", folder) : fs::path()};
}

std::string Quoted(const fs::path& path) { return TomlString(path.generic_string()); }

std::string Quoted(const Address& address) { return TomlString(ToText(address)); }

std::string LogToml(const LogSettings& log) {
  auto text = fmt::format("\n[log]\nlevel = \"{}\"\nstderr = \"{}\"\nformat = \"{}\"\n", NameOf(log.level),
                          NameOf(log.to_stderr), log.json ? "json" : "text");
  if (!log.audit.empty()) text += fmt::format("audit = {}\n", Quoted(log.audit));
  return text;
}

LedgerSettings ReadLedgerSettings(const Section& section, const fs::path& folder) {
  LedgerSettings ledger{.file = ReadPath(section, "file", folder),
                        .epsilon_cap = section.Number("epsilon_cap", {.above = 0, .below = {}}),
                        .delta = section.Number("delta", {.above = 0, .below = 1})};
  if (section.Has("mode"))
    ledger.mode = dp::FilterModeNamed(section.Choice("mode", {"rdp", "gdp", "closed"}, "rdp"));
  return ledger;
}

std::string LedgerToml(const char* table, const LedgerSettings& ledger) {
  auto text = fmt::format(
      "\n[{}]\nfile = {}\nepsilon_cap = {}  # insider epsilon, all jobs on this data together\ndelta = {}\n",
      table, Quoted(ledger.file), ledger.epsilon_cap, ledger.delta);
  if (ledger.mode) text += fmt::format("mode = \"{}\"\n", dp::NameOf(*ledger.mode));
  return text;
}

PateFiles ReadPate(const Section& section, const fs::path& folder) {
  const auto read = [&](const char* key) {
    return section.Has(key) ? ReadPath(section, key, folder) : fs::path();
  };
  return {.queries = read("queries"), .predictions = read("predictions"), .student = read("student")};
}

std::array<PartyPeer, 2> ReadPeers(const Section& document, int self, const fs::path& folder) {
  std::array<PartyPeer, 2> peers;
  std::array<bool, 3> seen{};
  const auto tables = document.Tables("peer");
  if (tables.size() != peers.size()) {
    throw ConfigError(fmt::format("{}: found {} [[peer]] tables, expected two, one for each other party",
                                  document.file(), tables.size()));
  }
  for (const auto& table : tables) {
    const auto id = static_cast<int>(table.Whole("id", {0, 2}));
    if (id == self) table.Refuse("id", "another party than party.id");
    if (std::exchange(seen[static_cast<std::size_t>(id)], true)) table.Refuse("id", "each other party once");
    const int lower = self == 0 ? 1 : 0;
    peers[id == lower ? 0 : 1] = {.id = id,
                                  .address = ReadAddress(table, "address"),
                                  .certificate = ReadPath(table, "certificate", folder)};
  }
  return peers;
}

std::string DurationText(std::chrono::milliseconds time) {
  const auto count = time.count();
  return count % 1000 == 0 ? fmt::format("{}s", count / 1000) : fmt::format("{}ms", count);
}

std::string FilesToml(const data::DataFiles& files) {
  if (!files.file.empty()) return fmt::format("file = {}\n", Quoted(files.file));
  return fmt::format("x = {}\ny = {}\n", Quoted(files.x), Quoted(files.y));
}

std::string DataToml(const data::DataFiles& data) {
  if (!data.empty()) return FilesToml(data);
  return "# Where this party's own data is. Images and labels:\n"
         "#   x = \"data/images-idx3-ubyte.gz\"\n"
         "#   y = \"data/labels-idx1-ubyte.gz\"\n"
         "# or one table:\n"
         "#   file = \"data/train.csv\"\n";
}

std::string PredictToml(const PredictFiles& predict) {
  auto text = fmt::format("\n[predict]\nshare = {}\n", Quoted(predict.share));
  const auto& [x, y, file] = predict.rows;
  if (!file.empty()) text += fmt::format("file = {}\n", Quoted(file));
  if (!x.empty()) text += fmt::format("x = {}\n", Quoted(x));
  return text;
}

std::string PateToml(const PateFiles& pate) {
  std::string text = "\n[pate]\n";
  for (const auto& [key, file] :
       {std::pair{"queries", pate.queries}, {"predictions", pate.predictions}, {"student", pate.student}}) {
    if (!file.empty()) text += fmt::format("{} = {}\n", key, Quoted(file));
  }
  return text;
}

}  // namespace

Address ParseAddress(const std::string& text) {
  const auto fail = [&] {
    throw ConfigError(fmt::format("found \"{}\", expected host:port with a port from 1 to 65535", text));
  };
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
  constexpr std::int64_t kMost = 24 * 60 * 60 * 1000;
  std::int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  const std::int64_t factor = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "m" ? 60'000 : 0;
  if (error != std::errc{} || factor == 0 || number <= 0 || number > kMost / factor) {
    throw ConfigError(
        fmt::format("found \"{}\", expected a time such as \"500ms\", \"120s\" or \"2m\"", text));
  }
  return std::chrono::milliseconds(number * factor);
}

PartyFile ReadParty(const fs::path& file) {
  const auto table = ReadToml(file);
  const auto name = file.string();
  CheckKeys(table, name, KnownKeys());
  const Section document(table, name);
  const auto folder = file.parent_path();
  PartyFile party;
  const auto own = document.Table("party");
  party.id = static_cast<int>(own.Whole("id", {0, 2}));
  party.listen = ReadAddress(own, "listen");
  party.advertise = own.Has("advertise") ? ReadAddress(own, "advertise") : party.listen;
  party.peers = ReadPeers(document, party.id, folder);
  const auto tls = document.Table("tls");
  party.certificate = ReadPath(tls, "certificate", folder);
  party.private_key = ReadPath(tls, "private_key", folder);
  party.data = ReadDataFiles(document.Table("data"), folder);
  party.evaluation = ReadDataFiles(document.Table("evaluation"), folder);
  party.validation = ReadDataFiles(document.Table("validation"), folder);
  party.predict = ReadPredict(document.Table("predict"), folder);
  party.pate = ReadPate(document.Table("pate"), folder);
  const auto owners = document.Table("owners");
  if (owners.Has("rows"))
    party.owner_rows =
        owners.Wholes("rows", {0, 1'000'000'000}, "a whole number for each of this party's owners");
  const auto storage = document.Table("storage");
  if (storage.Has("key")) party.storage_key = ReadPath(storage, "key", folder);
  const auto features = document.Table("features");
  if (features.Has("model")) party.feature_model = ReadPath(features, "model", folder);
  const auto timeouts = document.Table("timeouts");
  party.start_timeout = ReadDuration(timeouts, "start", "120s");
  party.peer_timeout = ReadDuration(timeouts, "peer", "10s");
  party.handshake_timeout = ReadDuration(timeouts, "handshake", "10s");
  if (document.Has("ledger")) party.ledger = ReadLedgerSettings(document.Table("ledger"), folder);
  if (document.Has("evaluation_ledger"))
    party.evaluation_ledger = ReadLedgerSettings(document.Table("evaluation_ledger"), folder);
  party.log = ReadLog(document.Table("log"), folder);
  if (document.Has("metrics")) {
    const auto metrics = document.Table("metrics");
    party.metrics = ReadAddress(metrics, "listen");
    if (!net::IsLoopback(party.metrics->host))
      metrics.Refuse("listen", "127.0.0.1:PORT or [::1]:PORT: what it tells is for this machine alone");
  }
  return party;
}

std::string PartyToml(const PartyFile& party) {
  std::string text = fmt::format(
      "# Party {0} of three. Paths are relative to this file.\n"
      "[party]\nid = {0}\nlisten = {1}\nadvertise = {2}\n",
      party.id, Quoted(party.listen), Quoted(party.advertise));
  for (const auto& peer : party.peers) {
    text += fmt::format("\n[[peer]]\nid = {}\naddress = {}\ncertificate = {}\n", peer.id,
                        Quoted(peer.address), Quoted(peer.certificate));
  }
  text += fmt::format("\n[tls]\ncertificate = {}\nprivate_key = {}  # mode 0600, never leaves this machine\n",
                      Quoted(party.certificate), Quoted(party.private_key));
  text += "\n[data]\n" + DataToml(party.data);
  if (!party.evaluation.empty()) text += "\n[evaluation]\n" + FilesToml(party.evaluation);
  if (!party.validation.empty()) text += "\n[validation]\n" + FilesToml(party.validation);
  if (party.ledger) text += LedgerToml("ledger", *party.ledger);
  if (party.evaluation_ledger) text += LedgerToml("evaluation_ledger", *party.evaluation_ledger);
  if (party.log != LogSettings()) text += LogToml(party.log);
  if (party.metrics) text += fmt::format("\n[metrics]\nlisten = {}\n", Quoted(*party.metrics));
  if (!party.feature_model.empty())
    text += fmt::format("\n[features]\nmodel = {}\n", Quoted(party.feature_model));
  if (!party.predict.share.empty()) text += PredictToml(party.predict);
  if (!party.pate.queries.empty()) text += PateToml(party.pate);
  if (!party.owner_rows.empty())
    text += fmt::format("\n[owners]\nrows = [{}]\n", fmt::join(party.owner_rows, ", "));
  if (!party.storage_key.empty()) text += fmt::format("\n[storage]\nkey = {}\n", Quoted(party.storage_key));
  text += fmt::format(
      "\n[timeouts]\n"
      "start = \"{}\"  # how long to wait for the others to come up\n"
      "peer = \"{}\"  # how long a party may be silent before it counts as lost\n"
      "handshake = \"{}\"  # how long an attempt to connect, a TLS handshake or a greeting may take\n",
      DurationText(party.start_timeout), DurationText(party.peer_timeout),
      DurationText(party.handshake_timeout));
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
