#include "deposit/store/store.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/sync_to_disk.h"
#include "base/passing_error.h"
#include "base/secrets/random.h"
#include "base/secrets/sealed_box.h"
#include "base/secrets/sha256.h"
#include "deposit/format/bytes.h"
#include "deposit/format/components.h"
#include "jobs/files/sealed_file.h"

namespace trefoil::deposit {
namespace {

namespace fs = std::filesystem;

constexpr jobs::SealedKind kStoredBody{.magic = "trefoil stored deposit 1\n",
                                       .purpose = "trefoil stored deposit",
                                       .what = "a deposit's body of this store"};
constexpr const char* kSealedKey = "trefoil deposit key 1\n";

constexpr const char* kDeposits = R"(
  CREATE TABLE studies (id BLOB PRIMARY KEY, json TEXT NOT NULL) STRICT;
  CREATE TABLE deposits (
    id BLOB PRIMARY KEY, nonce BLOB NOT NULL, study BLOB NOT NULL REFERENCES studies, header BLOB NOT NULL,
    owner BLOB NOT NULL, owner_name TEXT NOT NULL, population TEXT NOT NULL, purpose TEXT NOT NULL,
    accepted INTEGER NOT NULL, key BLOB NOT NULL, UNIQUE (owner, nonce)) STRICT;
  CREATE TABLE commitments (commitment BLOB, deposit BLOB NOT NULL REFERENCES deposits, PRIMARY KEY (commitment, deposit)) STRICT;
  CREATE INDEX live ON deposits (population, purpose);
)";
// What is withdrawn has an empty key among `deposits`; what is withdrawn before it came is not there.
constexpr const char* kWithdrawals = R"(
  CREATE TABLE withdrawals (
    deposit BLOB NOT NULL, owner BLOB NOT NULL, owner_name TEXT NOT NULL, withdrawn INTEGER NOT NULL, signed BLOB NOT NULL,
    PRIMARY KEY (deposit, owner)) STRICT;
)";
constexpr const char* kReceipts = R"(
  CREATE TABLE receipts (deposit BLOB PRIMARY KEY REFERENCES deposits, prefix BLOB NOT NULL, receipt TEXT NOT NULL) STRICT;
)";
constexpr const char* kSpent = R"(
  CREATE TABLE spent (deposit BLOB PRIMARY KEY REFERENCES deposits, run TEXT NOT NULL, spent INTEGER NOT NULL) STRICT;
)";
constexpr const char* kSetAside = R"(
  CREATE TABLE set_aside (deposit BLOB PRIMARY KEY REFERENCES deposits, since INTEGER NOT NULL) STRICT;
)";
constexpr std::array kSchema{kDeposits, kWithdrawals, kReceipts, kSpent, kSetAside};

/// The folder, for this party alone.
fs::path MadeFolder(const fs::path& folder) {
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path());
  for (const auto& one : {folder, folder / "bodies"}) {
    if (!MakePrivateFolder(one) && errno != EEXIST) throw CannotWrite(one);
  }
  return folder;
}

}  // namespace

Store::Store(const fs::path& folder, int party, SecretKey key)
    : folder_(MadeFolder(folder)),
      party_(party),
      key_(std::move(key)),
      database_(folder / "deposits.sqlite", kSchema, "a store of deposits") {
  EndKilledWithdrawals();
}

fs::path Store::BodyFile(const Hash& id) const { return folder_ / "bodies" / (ToHex(id) + ".sealed"); }

void Store::RefuseKnown(const OpenedDeposit& deposit, const fs::path& file) {
  const auto& header = deposit.header;
  if (IsWithdrawn(deposit.id, header.owner, deposit.owner))
    throw RefusedDeposit(Reason::kWithdrawn, file, "a deposit that its owner withdrew", "another one");
  // Of this owner's: with another's nonce or commitment, which a header shows, nobody bars that owner's
  // deposit.
  Database::Query same(database_, "SELECT accepted FROM deposits WHERE id = ? OR (owner = ? AND nonce = ?)");
  if (same.Bind(deposit.id).Bind(header.owner).Bind(header.nonce).Next())
    throw RefusedDeposit(Reason::kRepeated, file, "a deposit, or its nonce, that was taken before",
                         "one of its own");
  for (const auto& commitment : header.commitments) {
    Database::Query known(database_,
                          "SELECT deposit FROM commitments JOIN deposits ON id = deposit "
                          "WHERE commitment = ? AND owner = ?");
    if (known.Bind(commitment).Bind(header.owner).Next()) {
      throw RefusedDeposit(Reason::kRepeated, file, "a component that was taken before, in another deposit",
                           "components of its own");
    }
  }
  // An owner with a new key is the same owner: by its name.
  Database::Query live(
      database_,
      "SELECT id FROM deposits WHERE (owner = ? OR owner_name = ?) AND population = ? AND purpose = ? "
      "AND key <> x'' AND id NOT IN (SELECT deposit FROM spent)");
  if (!header.adds &&
      live.Bind(header.owner).Bind(deposit.owner).Bind(header.population).Bind(header.purpose).Next()) {
    throw RefusedDeposit(
        Reason::kLive, file,
        fmt::format("deposit {} of {} for population {}, purpose {}", ToHex(BytesOf(live.Bytes(0))),
                    deposit.owner, header.population, header.purpose),
        "none, or a deposit with --adds");
  }
}

void Store::Enter(const OpenedDeposit& deposit, const Study& study, const SecretKey& body_key,
                  std::uint64_t now, const std::string& receipt) {
  const auto& header = deposit.header;
  Database::Query(database_, "INSERT OR IGNORE INTO studies VALUES (?, ?)")
      .Bind(header.study)
      .Bind(JsonOf(study))
      .Run();
  Database::Query(database_, "INSERT INTO deposits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .Bind(deposit.id)
      .Bind(header.nonce)
      .Bind(header.study)
      .Bind(BytesOf(EncodeHeader(header)))
      .Bind(header.owner)
      .Bind(deposit.owner)
      .Bind(header.population)
      .Bind(header.purpose)
      .Bind(static_cast<std::int64_t>(now))
      .Bind(Seal(key_, kSealedKey + ToHex(deposit.id), body_key.bytes()))
      .Run();
  for (const auto& commitment : header.commitments) {
    Database::Query(database_, "INSERT INTO commitments VALUES (?, ?)")
        .Bind(commitment)
        .Bind(deposit.id)
        .Run();
  }
  Database::Query(database_, "INSERT INTO receipts VALUES (?, ?, ?)")
      .Bind(deposit.id)
      .Bind(deposit.prefix)
      .Bind(receipt)
      .Run();
}

void Store::Accept(const OpenedDeposit& deposit, const Study& study, const fs::path& file, std::uint64_t now,
                   const std::string& receipt) {
  database_.Transact([&] {
    RefuseKnown(deposit, file);
    const auto body_key = RandomKey();
    // On disk under its name before it is entered. What a killed acceptance left of that name is replaced.
    ReplaceSecretFile(BodyFile(deposit.id), jobs::SealFile(kStoredBody, {{"deposit", ToHex(deposit.id)}},
                                                           deposit.body.bytes(), body_key));
    try {
      Enter(deposit, study, body_key, now, receipt);
    } catch (...) {
      fs::remove(BodyFile(deposit.id));
      throw;
    }
  });
}

std::vector<StoredDeposit> Store::ListInTransaction() {
  std::vector<StoredDeposit> all;
  Database::Query query(
      database_,
      "SELECT d.id, header, owner_name, accepted, json, coalesce(run, ''), coalesce(since, 0) "
      "FROM deposits d JOIN studies s ON s.id = d.study "
      "LEFT JOIN spent ON spent.deposit = d.id LEFT JOIN set_aside a ON a.deposit = d.id "
      "WHERE key <> x'' ORDER BY d.rowid");
  while (query.Next()) {
    const auto id = query.Bytes(0);
    const auto header = DecodeHeader(query.Bytes(1));
    if (id.size() != sizeof(Hash) || !header ||
        DepositId(EncodeHeader(*header)) != FieldReader(BytesOf(id)).Array<32>())
      throw DataError((folder_ / "deposits.sqlite").string() +
                      ": found a deposit whose header is not its own");
    all.push_back({.id = FieldReader(BytesOf(id)).Array<32>(),
                   .header = *header,
                   .owner = query.Bytes(2),
                   .study = query.Bytes(4),
                   .accepted = static_cast<std::uint64_t>(query.Number(3)),
                   .spent_by = query.Bytes(5),
                   .set_aside = static_cast<std::uint64_t>(query.Number(6))});
  }
  return all;
}

std::vector<StoredDeposit> Store::List() {
  std::vector<StoredDeposit> all;
  database_.Transact([&] { all = ListInTransaction(); });
  return all;
}

void Store::Spend(const std::vector<Hash>& ids, const std::string& run, std::uint64_t now) {
  database_.Transact([&] {
    for (const auto& id : ids) {
      Database::Query known(database_, "SELECT run FROM spent WHERE deposit = ?");
      if (known.Bind(id).Next()) {
        if (const auto by = known.Bytes(0); by != run)
          throw DataError(
              fmt::format("deposit {}: found it spent by run {}, expected it unused, or spent by run {}",
                          ToHex(id), by, run));
        continue;
      }
      Database::Query(database_, "INSERT INTO spent VALUES (?, ?, ?)")
          .Bind(id)
          .Bind(run)
          .Bind(static_cast<std::int64_t>(now))
          .Run();
    }
  });
}

bool Store::HasSpent(const std::string& run) {
  return Database::Query(database_, "SELECT 1 FROM spent WHERE run = ?").Bind(run).Next();
}

bool Store::SetAside(const Hash& id, bool aside, std::uint64_t now) {
  bool changed = false;
  database_.Transact([&] {
    const auto known = Find(id);
    if (!known || known->withdrawn)
      throw DataError(fmt::format("found no deposit {}, expected one of store list", ToHex(id)));
    Database::Query before(database_, "SELECT 1 FROM set_aside WHERE deposit = ?");
    changed = before.Bind(id).Next() != aside;
    if (!changed) return;
    if (aside) {
      Database::Query(database_, "INSERT INTO set_aside VALUES (?, ?)")
          .Bind(id)
          .Bind(static_cast<std::int64_t>(now))
          .Run();
    } else {
      Database::Query(database_, "DELETE FROM set_aside WHERE deposit = ?").Bind(id).Run();
    }
  });
  return changed;
}

SecretKey Store::BodyKey(const StoredDeposit& deposit) {
  Database::Query query(database_, "SELECT key FROM deposits WHERE id = ?");
  const bool found = query.Bind(deposit.id).Next();
  auto key = found ? Unseal(key_, kSealedKey + ToHex(deposit.id), BytesOf(query.Bytes(0))) : std::nullopt;
  if (!key || key->size() != SecretKey::kBytes) {
    throw DataError(
        fmt::format("{}: the key of deposit {} cannot be opened: it was changed, or this party's storage "
                    "key is another",
                    (folder_ / "deposits.sqlite").string(), ToHex(deposit.id)));
  }
  SecretKey opened{std::span<const std::uint8_t, SecretKey::kBytes>(*key)};
  Wipe(std::span(*key));
  return opened;
}

OpenedDeposit Store::Opened(const StoredDeposit& deposit) {
  const auto file = BodyFile(deposit.id);
  const auto study = ParseStudy(deposit.study, (folder_ / "deposits.sqlite").string());
  const auto layout = LayoutOf(study.records);
  if (IdOf(study) != deposit.header.study)
    throw DataError(fmt::format("{}: found a study that is not its own, expected that of deposit {}",
                                file.string(), ToHex(deposit.id)));
  OpenedDeposit opened{
      .id = deposit.id,
      .header = deposit.header,
      .owner = deposit.owner,
      .body = jobs::OpenSealed(file, kStoredBody, BodyKey(deposit), [](const nlohmann::json&) {})};
  const auto body = opened.body.bytes();
  if (body.size() != BodyBytes(layout, deposit.header.capacity, party_))
    jobs::RefuseSealed(file, fmt::format("{} bytes", body.size()), "as many as the deposit's capacity gives");
  opened.components = CheckedComponents(deposit.header, layout, party_, body, file);
  return opened;
}

bool Store::IsWithdrawn(const StoredDeposit& deposit) {
  const auto known = Find(deposit.id);
  return known && known->withdrawn;
}

OpenedDeposit Store::Read(const StoredDeposit& deposit) {
  try {
    return Opened(deposit);
  } catch (const std::runtime_error&) {
    if (!IsWithdrawn(deposit)) throw;
    throw PassingError(
        fmt::format("deposit {}: found it withdrawn meanwhile, expected it as it was before: try again",
                    ToHex(deposit.id)));
  }
}

bool Store::Verify(const StoredDeposit& deposit) {
  try {
    (void)Opened(deposit);
  } catch (const std::runtime_error&) {
    if (!IsWithdrawn(deposit)) throw;
    return false;
  }
  return true;
}

std::vector<fs::path> Store::Strays() {
  std::vector<fs::path> strays;
  database_.Transact([&] {
    std::set<fs::path> known;
    for (const auto& deposit : ListInTransaction()) known.insert(BodyFile(deposit.id));
    for (const auto& entry : fs::directory_iterator(folder_ / "bodies")) {
      if (!known.contains(entry.path())) strays.push_back(entry.path());
    }
  });
  std::sort(strays.begin(), strays.end());
  return strays;
}

}  // namespace trefoil::deposit
