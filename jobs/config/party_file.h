#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/data_files.h"
#include "dp/ledger/privacy_filter.h"

namespace trefoil::jobs {

class FieldVisitor;

/// "host:port", with an IPv6 host in brackets.
struct Address {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const Address&, const Address&) = default;
};

/// Throws ConfigError "found X, expected host:port ..." unless `text` is an address.
[[nodiscard]] Address ParseAddress(const std::string& text);
[[nodiscard]] std::string ToText(const Address& address);

/// "500ms", "120s" or "2m". Throws ConfigError "found X, expected ..." for anything else, for zero and for
/// more than a day.
[[nodiscard]] std::chrono::milliseconds ParseDuration(const std::string& text);

struct PartyPeer {
  int id = 0;
  Address address;
  std::filesystem::path certificate;
  std::vector<Address> rank_addresses{};  ///< of each of its ranks; empty: rank r is at address, port + r
};

/// Paths that only some types of jobs need, by their keys in full ("pate.queries").
class InputPaths {
 public:
  /// Empty where the party file names none.
  [[nodiscard]] const std::filesystem::path& operator[](const std::string& key) const;
  std::filesystem::path& operator[](const std::string& key) { return paths_[key]; }
  [[nodiscard]] const std::map<std::string, std::filesystem::path>& all() const { return paths_; }

  /// Records that a table of the party file names ("predict"); nothing where it names none.
  [[nodiscard]] const data::DataFiles& Records(const std::string& table) const;
  data::DataFiles& Records(const std::string& table) { return records_[table]; }
  [[nodiscard]] const std::map<std::string, data::DataFiles>& all_records() const { return records_; }

 private:
  std::map<std::string, std::filesystem::path> paths_;
  std::map<std::string, data::DataFiles> records_;
};

/// Declares the keys of the party file that a type of job needs for itself, and where they are kept.
using InputFields = void (*)(FieldVisitor& v, InputPaths& inputs);

/// Declares such a key, which need not be there: a path, relative to the file's folder.
void PathField(FieldVisitor& v, const char* key, std::filesystem::path& path, const char* help);

/// Declares `file` of a table that names records: one path, or those of one table; and `sqlite` or
/// `postgres`, with `query`, in its place.
void TableField(FieldVisitor& v, data::DataFiles& files, const char* help);

/// A table that names the files of records.
void RecordFields(FieldVisitor& v, const char* table, const char* help, data::DataFiles& files);

/// [ledger] or [evaluation_ledger]: what the jobs on this party's data, or on the test records that it holds,
/// may cost them, all together.
struct LedgerSettings {
  std::filesystem::path file;
  double epsilon_cap = 0;  ///< of an insider
  double delta = 0;
  std::optional<dp::FilterMode> mode{};  ///< empty: the ledger's own; a new one's is kRdp
  std::string population{};              ///< whose budget it is; empty: the ledger's own, or of one data set
};

/// [owner_ledgers]: what the jobs on the deposits of one owner's population may cost it, all together.
struct OwnerLedgerSettings {
  /// With a folder for each owner, and in it a ledger for each of its populations.
  std::filesystem::path folder;
  double epsilon_cap = 0;  ///< of a party that knows its own noise
  double delta = 0;
  std::optional<dp::FilterMode> mode{};  ///< as LedgerSettings', of each
};

/// [deposits]: what taking deposits of owners who run no party needs.
struct DepositSettings {
  std::filesystem::path key;     ///< the private key that they are sealed to
  std::filesystem::path owners;  ///< a folder with the public keys of owners whose deposits are taken
  std::filesystem::path store;   ///< a folder with what was taken
};

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

/// [log]: what a run writes down of itself, and where.
struct LogSettings {
  LogLevel level = LogLevel::kInfo;     ///< least that party.log gets
  LogLevel to_stderr = LogLevel::kOff;  ///< least that standard error gets, beside the one line of an error
  bool json = false;                    ///< JSON lines in place of text
  std::filesystem::path audit{};        ///< the session log; empty: audit.jsonl in each run directory

  friend bool operator==(const LogSettings&, const LogSettings&) = default;
};

/// Where a run's page and figures are served.
struct MetricsSettings {
  Address listen{};      ///< its host in figures
  bool exposed = false;  ///< also to other machines
};

/// A party file (docs/reference/formats.md). Paths read from a file are absolute or relative to the working
/// directory; WriteParty takes them as they are to stand in the file, relative to it.
struct PartyFile {
  int id = 0;
  Address listen;
  Address advertise;
  int ranks = 1;  ///< machines that compute as this party together; rank r listens on listen's port + r
  std::vector<PartyPeer> peers = std::vector<PartyPeer>(2);  ///< two, by id
  std::filesystem::path certificate = "party.crt";
  std::filesystem::path private_key = "party.key";
  std::filesystem::path feature_model;   ///< ONNX model of [features]; empty where the file names none
  data::DataFiles data;                  ///< all empty where the file names none; else x and y, or file
  data::DataFiles evaluation;            ///< of [evaluation], likewise: what a job's evaluation.holder holds
  data::DataFiles validation;            ///< of [validation], likewise: initialisation.validation_holder's
  InputPaths inputs;                     ///< what only some types of jobs need
  std::vector<std::int64_t> owner_rows;  ///< of [owners]: how many records each owner has, in the order of
                                         ///< [data]'s file; empty: the file names none
  std::filesystem::path storage_key;     ///< what shares are sealed with; empty: private_key
  std::optional<LedgerSettings> ledger{};              ///< empty: no cap, and nothing is kept
  std::optional<LedgerSettings> evaluation_ledger{};   ///< of [evaluation]'s records, likewise
  std::optional<DepositSettings> deposits{};           ///< empty: none are taken
  std::optional<OwnerLedgerSettings> owner_ledgers{};  ///< empty: no cap, and nothing is kept
  LogSettings log{};
  std::optional<MetricsSettings> metrics{};  ///< empty: no page and no figures are served
  std::chrono::milliseconds start_timeout = std::chrono::seconds(120);
  std::chrono::milliseconds peer_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds handshake_timeout = std::chrono::seconds(10);
};

/// Reads and checks a party file that may have what `inputs` declare; opens none of the files it names.
/// Throws ConfigError with one line: place, key, what was found, what was expected.
[[nodiscard]] PartyFile ReadParty(const std::filesystem::path& file, const std::vector<InputFields>& inputs);

/// A JSON Schema of such a file.
[[nodiscard]] std::string PartySchema(const std::vector<InputFields>& inputs);

/// The party file as commented TOML.
[[nodiscard]] std::string PartyToml(const PartyFile& party);

/// Throws ConfigError unless `key` is a file that its owner alone can read (mode 0600 or 0400).
void CheckKeyMode(const std::filesystem::path& key);

/// The same for any secret; "FILE: CAUSE, expected WHAT".
void CheckSecretMode(const std::filesystem::path& file, const std::string& what);

}  // namespace trefoil::jobs
