#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "deposit/format/row_layout.h"
#include "deposit/keys.h"
#include "jobs/config/fields.h"
#include "jobs/records/schema.h"

namespace trefoil::deposit {

/// SHA-256.
using Hash = std::array<std::uint8_t, 32>;

/// How many rows each deposit of these records has where owners deposit batches: those of all steps together.
/// Nothing where they deposit rows, of which each owner chooses the number.
[[nodiscard]] std::optional<std::uint64_t> RowsOfBatches(const jobs::RecordSchema& records);

/// To whom deposits of a study are sealed.
struct StudyParty {
  int id = 0;
  PublicKey key{};
  std::string fingerprint{};  ///< of the key, for people; it must be the key's
  std::string inbox{};        ///< host:port, where deposits may be uploaded to; empty: nowhere
  std::string certificate{};  ///< fingerprint of that inbox's TLS certificate
};

/// What owners need to know to hand in records: public, study.toml.
struct Study {
  /// Without what a job alone says: capacities, its type, and of `store` all but `batches`.
  jobs::RecordSchema records;
  std::vector<StudyParty> parties = std::vector<StudyParty>(3);  ///< by id
};

/// Declares the keys of study.toml (docs/reference/deposits.md, "study.toml").
void Fields(jobs::FieldVisitor& v, Study& s);

/// A study for the records that a job declares, and the deposit keys of parties 0, 1 and 2. Throws
/// ConfigError for a vertical partition, means, a column of weights, and for what ParseStudy would not read
/// back: keys of which two are equal, batches that no file holds, rows that LayoutOf refuses.
[[nodiscard]] Study MakeStudy(const jobs::RecordSchema& records, const std::array<PublicKey, 3>& keys);

/// Reads and checks study.toml. Throws ConfigError that names the place and the key.
[[nodiscard]] Study ReadStudy(const std::filesystem::path& file);

/// The study as compact JSON, keys sorted, all defaults filled in.
[[nodiscard]] std::string JsonOf(const Study& study);
/// SHA-256 of the same without inboxes: where a party is found is no part of what owners hand in, and may
/// change.
[[nodiscard]] Hash IdOf(const Study& study);

/// The study whose JsonOf() this is; `source` names it in errors. Throws ConfigError as ReadStudy.
[[nodiscard]] Study ParseStudy(const std::string& json, const std::string& source);

/// A JSON Schema of such files.
[[nodiscard]] std::string StudySchema();

/// The study as a TOML file; ReadStudy reads the same study back.
[[nodiscard]] std::string TomlOf(const Study& study);

}  // namespace trefoil::deposit
