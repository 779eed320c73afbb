#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset/data_files.h"
#include "jobs/config/party_file.h"

namespace trefoil::runtime {

/// The records of a data set by keyed hashes, which tell whoever has not the key nothing but which are the
/// same.
struct RecordTags {
  std::string key;                  ///< names the key: the hash of a constant
  std::vector<std::uint64_t> tags;  ///< ascending, each once
};

/// What RecordTags::key is for this party. Throws as jobs::StorageKey.
[[nodiscard]] std::string TagKeyOf(const jobs::PartyFile& party);

/// SipHash-2-4 (Aumasson, Bernstein 2012) of each record as data::ForEachRawRecord gives it, under a key
/// derived from [storage] key: of n records and m others some two have one tag by chance with a probability
/// of at most nm/2^64. Throws as both.
[[nodiscard]] RecordTags TagsOf(const jobs::PartyFile& party, const data::DataFiles& files);

/// A data set that is to be one of a population's.
struct PopulationClaim {
  std::string population;
  std::string data;        ///< SHA-256 of the data set
  RecordTags records;      ///< without tags where they are known
  bool known = false;      ///< what KnownRecords::Knows said
  bool by_chance = false;  ///< whether records that another population has, too, are equal by chance
};

/// Which records the populations of a folder's ledgers have had: a chain of lines in known_records.jsonl
/// beside the ledgers, mode 0600. A line says of a data set: `kind` "records"; `key`; `ledger`, its file's
/// name; `population`; `sha256`; `tags`, those that the population had not before, sixteen hexadecimal digits
/// each.
class KnownRecords {
 public:
  /// That beside a ledger.
  explicit KnownRecords(const std::filesystem::path& ledger);
  /// A file of another name, for the ledger of this one.
  KnownRecords(std::filesystem::path file, std::string ledger)
      : file_(std::move(file)), ledger_(std::move(ledger)) {}

  /// Whether the data set is known to be the population's. Throws ConfigError where the file's tags have
  /// another key, or the population has its budget in another ledger; DataError where the file was changed.
  [[nodiscard]] bool Knows(const PopulationClaim& claim) const;

  /// How many records of a data set are new to its population, and how many of these are another's, and
  /// whose, the first of them.
  struct Equal {
    std::size_t fresh = 0;
    std::size_t count = 0;
    std::string population{};
    std::string ledger{};
  };
  /// Throws as Knows.
  [[nodiscard]] Equal Compare(const PopulationClaim& claim) const;

  /// Enters the data set's records, under a lock on the file, in one line that is on disk when it returns;
  /// nothing where they are known. Throws as Knows, DataError where Compare finds some and the claim does not
  /// say by_chance, and std::system_error where the file cannot be written, which is then as it was.
  void Enter(const PopulationClaim& claim) const;

  /// Throws DataError for equal records.
  void RequireNone(const Equal& equal) const;

 private:
  std::filesystem::path file_;
  std::string ledger_;  ///< the ledger's file name
};

}  // namespace trefoil::runtime
