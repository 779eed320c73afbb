#include <spdlog/fmt/fmt.h>

#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/sync_to_disk.h"
#include "deposit/format/bytes.h"
#include "deposit/store/store.h"

namespace trefoil::deposit {

namespace fs = std::filesystem;

namespace {

Hash TakeId(const std::string& bytes) {
  if (bytes.size() != sizeof(Hash)) throw DataError("deposits.sqlite: found an id of another length");
  return FieldReader(BytesOf(bytes)).Array<sizeof(Hash)>();
}

}  // namespace

WithdrawalResult Store::EnterWithdrawal(const Withdrawal& withdrawal, const std::vector<TrustedOwner>& owners,
                                        const fs::path& file, std::uint64_t now) {
  auto name = NameOfOwner(withdrawal.owner, owners);
  Database::Query deposit(database_, "SELECT owner, owner_name, key = x'' FROM deposits WHERE id = ?");
  const bool here = deposit.Bind(withdrawal.deposit).Next();
  // An owner that is not listed any more may still withdraw; with a new key it is the same owner, by its
  // name.
  const bool own =
      here ? deposit.Bytes(0) == TextOf(withdrawal.owner) || deposit.Bytes(1) == name : !name.empty();
  if (!own) {
    throw RefusedDeposit(
        Reason::kOwner, file, "the owner's key " + Fingerprint(KeyKind::kOwner, withdrawal.owner),
        here ? "that of the deposit's owner" : "one that this party lists, since the deposit is not here");
  }
  if (here) name = deposit.Bytes(1);
  Database::Query known(database_, "SELECT 1 FROM withdrawals WHERE deposit = ? AND owner = ?");
  const bool again =
      here ? deposit.Number(2) == 1 : known.Bind(withdrawal.deposit).Bind(withdrawal.owner).Next();
  if (again) return WithdrawalResult::kAgain;
  Database::Query(database_, "INSERT OR IGNORE INTO withdrawals VALUES (?, ?, ?, ?, ?)")
      .Bind(withdrawal.deposit)
      .Bind(withdrawal.owner)
      .Bind(name)
      .Bind(static_cast<std::int64_t>(now))
      .Bind(BytesOf(withdrawal.content))
      .Run();
  if (!here) return WithdrawalResult::kAhead;
  Database::Query(database_, "UPDATE deposits SET key = x'' WHERE id = ?").Bind(withdrawal.deposit).Run();
  return WithdrawalResult::kDeleted;
}

std::vector<fs::path> Store::BodiesOfWithdrawn() {
  std::vector<fs::path> bodies;
  Database::Query query(database_, "SELECT id FROM deposits WHERE key = x''");
  while (query.Next()) {
    if (auto body = BodyFile(TakeId(query.Bytes(0))); fs::exists(body)) bodies.push_back(std::move(body));
  }
  return bodies;
}

/// The file of an emptied body stays until the key has left the log: by it the next one sees what is to do.
void Store::ClearWithdrawn() {
  const auto bodies = BodiesOfWithdrawn();
  std::error_code gone;  // by another process, which does the same
  for (const auto& body : bodies) fs::resize_file(body, 0, gone);
  database_.EmptyLog();
  for (const auto& body : bodies) fs::remove(body);
  SyncToDisk(folder_ / "bodies");
}

void Store::EndKilledWithdrawals() {
  const bool bodies = !BodiesOfWithdrawn().empty();
  try {
    if (bodies) ClearWithdrawn();
    ClearWithdrawnParts({});  // by the owner's key; of one whose key was replaced with the next withdrawal
  } catch (const std::runtime_error&) {
    // What is left has no way to be used here; whoever opens the store next tries again.
  }
}

/// Of each owner's deposits alone: another one may have withdrawn the same id before it came.
void Store::ClearWithdrawnParts(const std::vector<TrustedOwner>& owners) {
  const auto parts = folder_ / kPartsFolder;
  bool removed = false;
  std::error_code none;  // no inbox was here
  for (const auto& entry : fs::directory_iterator(parts, none)) {
    const auto bytes = PrefixIn(RegularFile(entry.path()));
    if (!bytes) continue;
    const auto prefix = DecodePrefix(*bytes);
    const auto taken = Find(prefix.id);
    if ((taken && taken->withdrawn) ||
        IsWithdrawn(prefix.id, prefix.owner, NameOfOwner(prefix.owner, owners)))
      removed = fs::remove(entry.path()) || removed;
  }
  if (removed) SyncToDisk(parts);
}

bool Store::IsWithdrawn(const Hash& id, const PublicKey& owner, const std::string& name) {
  Database::Query query(database_,
                        "SELECT 1 FROM withdrawals WHERE deposit = ? AND (owner = ? OR owner_name = ?)");
  return query.Bind(id).Bind(owner).Bind(name).Next();
}

WithdrawalResult Store::Withdraw(const Withdrawal& withdrawal, const std::vector<TrustedOwner>& owners,
                                 const fs::path& file, std::uint64_t now) {
  auto result = WithdrawalResult::kAgain;
  database_.Transact([&] { result = EnterWithdrawal(withdrawal, owners, file, now); });
  // Also what withdrawals left that were killed here.
  ClearWithdrawn();
  ClearWithdrawnParts(owners);
  return result;
}

std::vector<StoredWithdrawal> Store::Withdrawals() {
  std::vector<StoredWithdrawal> all;
  Database::Query query(database_,
                        "SELECT deposit, owner_name, withdrawn FROM withdrawals ORDER BY withdrawals.rowid");
  while (query.Next()) {
    all.push_back({.deposit = TakeId(query.Bytes(0)),
                   .owner = query.Bytes(1),
                   .withdrawn = static_cast<std::uint64_t>(query.Number(2))});
  }
  return all;
}

}  // namespace trefoil::deposit
