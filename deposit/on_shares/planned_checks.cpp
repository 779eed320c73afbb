#include "deposit/on_shares/planned_checks.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "base/error.h"
#include "deposit/on_shares/checked_rows.h"
#include "deposit/on_shares/store_records.h"
#include "deposit/study.h"
#include "protocols/arithmetic/agreement.h"

namespace trefoil::deposit {
namespace {

/// Of a mark a deposit, which parties tell each other.
mpc::Cost MarksCost(std::int64_t deposits) {
  const auto bytes = static_cast<std::uint64_t>(deposits);
  return protocols::ExchangeTextsCost({bytes, bytes, bytes});
}

/// The most deposits that can be there for the job.
std::int64_t MaxDeposits(const jobs::RecordSchema& records) {
  const auto& batches = records.store.batches;
  return std::min(kMostDeposits, batches ? batches->deposits : records.data.rows[0]);
}

/// Of a deposit that a run opens; where that is none, the job is refused by its data.memory.
std::int64_t MostRows(const jobs::RecordSchema& records) {
  return std::max<std::int64_t>(static_cast<std::int64_t>(MostRowsOpened(records)), 1);
}

/// The fewest that share the capacity evenly in parts that a run opens.
std::int64_t FewestDeposits(const jobs::RecordSchema& records) {
  return records.data.rows[0] / (MostRows(records) + 1) + 1;
}

std::int64_t NumberOf(const jobs::RecordSchema& records, std::optional<std::int64_t> deposits) {
  const auto most = MaxDeposits(records);
  if (!deposits)
    return records.store.batches
               ? most
               : std::min(std::max<std::int64_t>(net::kParties, FewestDeposits(records)), most);
  if (*deposits < 1 || *deposits > most)
    throw ConfigError(fmt::format(
        "--deposits: found {}, expected 1 to {}, as {}", *deposits, most,
        most == kMostDeposits ? "a run takes at most"
                              : (records.store.batches ? "the job has room for" : "the job has rows")));
  return *deposits;
}

/// Of each of so many deposits.
std::int64_t RowsOfEach(const jobs::RecordSchema& records, std::int64_t deposits) {
  if (const auto rows = RowsOfBatches(records)) return static_cast<std::int64_t>(*rows);
  return std::min(records.data.rows[0] / deposits, MostRows(records));
}

}  // namespace

jobs::DepositChecks PlannedChecks(const jobs::RecordSchema& records, std::optional<std::int64_t> deposits) {
  jobs::DepositChecks checks{.deposits = NumberOf(records, deposits)};
  checks.rows = RowsOfEach(records, checks.deposits);
  auto& part = checks.part;
  part.messages = AgreeOnDepositsCost(checks.deposits);
  if (records.store.batches) part.messages = Then(part.messages, MarksCost(checks.deposits + 1));  // spent
  part.messages = Then(part.messages, MarksCost(checks.deposits));                                 // capped
  if (records.store.batches) part.messages = Then(part.messages, protocols::BarrierCost());
  const auto each = CheckedRowsCost(records, checks.rows, CheckedAtOnce(records));
  for (std::int64_t k = 0; k < checks.deposits; ++k) {
    part.messages = Then(part.messages, each.messages);
    part.work += each.work;
  }
  return checks;
}

}  // namespace trefoil::deposit
