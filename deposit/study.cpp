#include "deposit/study.h"

#include <sodium.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/secrets/random.h"
#include "base/secrets/sha256.h"
#include "deposit/format/components.h"
#include "jobs/config/at_place.h"
#include "jobs/config/party_file.h"
#include "jobs/config/path_domains.h"
#include "jobs/config/toml/toml_reader.h"
#include "jobs/config/toml/toml_writer.h"
#include "jobs/deposited_vectors.h"

namespace trefoil::deposit {
namespace {

using Json = nlohmann::json;

constexpr const char* kHexKey = "64 hexadecimal digits, the second line of the party's deposit.pub";

/// What FromHex takes.
constexpr const char* kHexPattern = "^[0-9A-Fa-f]{64}$";

PublicKey KeyOf(const std::string& text) {
  const auto key = FromHex(text);
  if (!key) throw ConfigError("found no key");
  return *key;
}

struct HexKey : jobs::TextOfKind {
  HexKey() : TextOfKind{"string", kHexKey, kHexPattern} {}
  bool Read(const toml::node& node, PublicKey& member) const { return ReadBy(KeyOf, node, member); }
  void Write(const PublicKey& member, Json& json) const { json = ToHex(member); }
};

/// Whether two parties can agree on a secret by this key: not where it is a point of small order.
bool IsUsable(const PublicKey& key) {
  const auto secret = RandomKey();
  SecretKey shared;
  return crypto_scalarmult(shared.bytes().data(), secret.bytes().data(), key.data()) == 0;
}

/// Whether the text is as net::ShowFingerprint gives it.
bool IsFingerprint(const std::string& text) {
  std::string digits;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (k % 3 == 2 ? text[k] != ':' : text[k] < '0' || text[k] > 'F') return false;
    if (k % 3 != 2) digits += text[k];
  }
  return text.size() == 95 && FromHex(digits).has_value();
}

void CheckInbox(const StudyParty& party, const jobs::Section& table) {
  if (party.inbox.empty() && party.certificate.empty()) return;
  try {
    (void)jobs::ParseAddress(party.inbox);
  } catch (const ConfigError&) {
    table.Refuse("inbox", "host:port, as in \"a.example.org:7800\"");
  }
  if (!IsFingerprint(party.certificate))
    table.Refuse("certificate", "the fingerprint of the inbox's certificate, 32 pairs as openssl shows them");
}

void PartyFields(jobs::FieldVisitor& v, Study& s) {
  v.Check([](const jobs::Section& document) {
    const auto found = document.Tables("party").size();
    if (found != 3)
      throw ConfigError(fmt::format("{}: found {} [[party]] tables, expected three", document.file(), found));
  });
  int next = 0;
  const auto fields = [&](StudyParty& party) {
    v("id", party.id, jobs::WholeInterval{0, 2}, "Which party it is; they come in this order.");
    v("key", party.key, HexKey(), "Its public deposit key, in hexadecimal.");
    v("fingerprint", party.fingerprint, jobs::Text{},
      "That key's fingerprint, which an owner compares with the party by telephone.");
    v("inbox", party.inbox, jobs::Text{}, jobs::Default(std::string()).Said("none").LeftOut(),
      "host:port of its inbox, to which trefoil deposit --send uploads. Neither this nor the next key is in "
      "the id.");
    v("certificate", party.certificate, jobs::Text{}, jobs::Default(std::string()).Said("none").LeftOut(),
      "The fingerprint of the TLS certificate that the inbox shows, which is compared likewise.");
    v.Check([&](const jobs::Section& table) {
      if (party.id != next++) table.Refuse("id", "0, 1 and 2, in this order");
      if (!IsUsable(party.key)) table.Refuse("key", "a key that was made by trefoil init or deposit-key");
      CheckInbox(party, table);
      if (party.fingerprint != Fingerprint(KeyKind::kParty, party.key))
        table.Refuse("fingerprint", "that of the key: " + Fingerprint(KeyKind::kParty, party.key));
    });
  };
  v.Tables("party", "To whom deposits are sealed.", s.parties, fields, 3);
}

/// The hash of a job.
struct JobHash : jobs::TextOfKind {
  JobHash() : TextOfKind{"string", "64 lower-case hexadecimal digits", kHexPattern} {}
  bool Read(const toml::node& node, std::string& member) const {
    return ReadBy([](const std::string& text) { return ToHex(KeyOf(text)); }, node, member);
  }
  void Write(const std::string& member, Json& json) const { json = member; }
};

void BatchFields(jobs::FieldVisitor& v, jobs::BatchSpec& s) {
  constexpr jobs::WholeInterval kCounts{1, 10'000'000};
  v("job", s.job, JobHash(), "The SHA-256 of the job that they are for, as JSON, without `data.study`.");
  v("run", s.run, jobs::Name{}, "The run of it that they are for, by its name in the job.");
  v("steps", s.steps, kCounts, "Steps of the job: so many batches are in each deposit.");
  v("rows", s.rows, kCounts,
    "Rows of a batch, padding included; where more are drawn, some are dropped at random.");
  v("sampling_rate", s.sampling_rate, jobs::Fraction{true},
    "The probability with which each record is in a batch, by a coin of its own.");
  v("records", s.records, kCounts, "Records that one deposit is drawn from, at most.");
}

/// Throws ConfigError, naming `place`, where the batches of one deposit do not fit into a file.
void CheckBatches(const jobs::RecordSchema& records, const std::string& place) {
  const auto rows = RowsOfBatches(records);
  const auto most = LargestCapacity(LayoutOf(records));
  if (!rows || *rows <= most) return;
  throw ConfigError(fmt::format(
      "{}: batches: found {} steps of {} rows, expected at most {} rows of all steps, which one file "
      "holds: fewer steps, or a smaller training.max_batch_per_owner",
      place, records.store.batches->steps, records.store.batches->rows, most));
}

void CheckKeys(const std::vector<StudyParty>& parties, const std::string& place) {
  for (std::size_t i = 0; i < parties.size(); ++i) {
    const auto& next = parties.at((i + 1) % parties.size());
    if (parties[i].key == next.key)
      throw ConfigError(fmt::format("{}: found one deposit key for parties {} and {}, expected one of each",
                                    place, parties[i].id, next.id));
  }
}

}  // namespace

void Fields(jobs::FieldVisitor& v, Study& s) {
  int version = 1;
  v("version", version, jobs::WholeInterval{1, 1}, "The version of the format.");
  jobs::StudyRecordsFields(v, s.records);
  v.Table(
      "batches",
      "Of a job whose owners draw the batches of one run and deposit these. Without the table owners deposit "
      "their records.",
      s.records.store.batches, [&](jobs::BatchSpec& batches) { BatchFields(v, batches); });
  PartyFields(v, s);
  v.Check([&](const jobs::Section& document) {
    CheckKeys(s.parties, document.file());
    if (s.records.store.batches && s.records.added_up())
      document.Fail("batches", "found it beside [vectors] or [statistics], expected it with [columns] alone");
    (void)jobs::AtPlace(document.file(), [&] { return LayoutOf(s.records); });
    CheckBatches(s.records, document.file());
  });
}

std::optional<std::uint64_t> RowsOfBatches(const jobs::RecordSchema& records) {
  const auto& batches = records.store.batches;
  if (!batches) return {};
  return static_cast<std::uint64_t>(batches->steps) * static_cast<std::uint64_t>(batches->rows);
}

Study MakeStudy(const jobs::RecordSchema& records, const std::array<PublicKey, 3>& keys) {
  if (records.data.vertical)
    throw ConfigError(
        "data.partition: found \"vertical\", expected \"horizontal\": an owner deposits whole records");
  if (!records.features.means.empty())
    throw ConfigError(
        "features.means: found them, expected none for a study: owners hand in rows that nothing is "
        "subtracted from");
  for (const auto& column : records.data.columns) {
    if (column.kind != data::ColumnKind::kWeight) continue;
    throw ConfigError(
        fmt::format("data.column: found \"{}\" of kind \"weight\", expected none for a study: a row of a "
                    "deposit has no weight",
                    column.name));
  }
  Study study;
  study.records = records;
  study.records.use = jobs::RecordUse::kOther;  // a study is of no one job
  study.records.data.name.clear();
  study.records.data.rows = {};
  study.records.store = {.batches = records.store.batches};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    study.parties[i] = {
        .id = static_cast<int>(i), .key = keys[i], .fingerprint = Fingerprint(KeyKind::kParty, keys[i])};
    if (!IsUsable(keys[i]))
      throw ConfigError(
          fmt::format("party {}: found a deposit key of small order, expected one that was made by "
                      "trefoil init or deposit-key",
                      i));
  }
  // All else that is checked when it is read: nobody is sent a study that cannot be.
  (void)ParseStudy(JsonOf(study), "study");
  return study;
}

Study ReadStudy(const std::filesystem::path& file) {
  Study study;
  jobs::ReadFields(jobs::ReadToml(file), file.string(), study);
  return study;
}

Study ParseStudy(const std::string& json, const std::string& source) {
  Study study;
  jobs::ReadFields(jobs::TableOfJson(json, source), source, study);
  return study;
}

std::string JsonOf(const Study& study) {
  return jobs::WriteJson([copy = study](jobs::FieldVisitor& v) mutable { Fields(v, copy); }).dump();
}

std::string StudySchema() {
  Study study;
  return jobs::SchemaJson("study", [&](jobs::FieldVisitor& v) { Fields(v, study); });
}

Hash IdOf(const Study& study) {
  auto plain = study;
  for (auto& party : plain.parties) {
    party.inbox.clear();
    party.certificate.clear();
  }
  Sha256 hash;
  hash.Update(JsonOf(plain));
  return hash.Digest();
}

std::string TomlOf(const Study& study) {
  const auto json = Json::parse(JsonOf(study));
  std::string text = fmt::format(
      "# Study {}\n# What owners need to hand in records. Public; compare the fingerprints with the parties "
      "by "
      "telephone.\n",
      ToHex(IdOf(study)));
  for (const auto* key : {"version", "name", "fraction_bits"})
    text += fmt::format("{} = {}\n", key, jobs::TomlValue(json.at(key)));
  for (const auto& [key, value] : json.items())
    if (value.is_object() && key != "batches") text += jobs::DataTables(value, key);
  if (json.contains("batches")) text += jobs::DataTables(json.at("batches"), "batches");
  for (const auto& party : json.at("party")) text += "\n[[party]]\n" + jobs::TomlLines(party);
  return text;
}

}  // namespace trefoil::deposit
