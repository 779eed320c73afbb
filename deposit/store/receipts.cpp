#include "deposit/format/bytes.h"
#include "deposit/store/store.h"

namespace trefoil::deposit {

std::optional<TakenFile> Store::Find(const Hash& id) {
  Database::Query query(database_,
                        "SELECT prefix, receipt, accepted, key = x'' FROM deposits "
                        "LEFT JOIN receipts ON deposit = id WHERE id = ?");
  if (!query.Bind(id).Next()) return {};
  return TakenFile{.prefix = query.Bytes(0),
                   .receipt = query.Bytes(1),
                   .accepted = static_cast<std::uint64_t>(query.Number(2)),
                   .withdrawn = query.Number(3) == 1};
}

std::string Store::EnterReceipt(const Hash& id, const std::string& receipt, const std::string& before) {
  std::string stands;
  database_.Transact([&] {
    Database::Query(database_, "UPDATE receipts SET receipt = ? WHERE deposit = ? AND receipt = ?")
        .Bind(receipt)
        .Bind(id)
        .Bind(before)
        .Run();
    Database::Query query(database_, "SELECT receipt FROM receipts WHERE deposit = ?");
    if (query.Bind(id).Next()) stands = query.Bytes(0);
  });
  return stands;
}

}  // namespace trefoil::deposit
