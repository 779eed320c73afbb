#include "deposit/on_shares/deposit_rows.h"

#include <utility>

#include "base/error.h"
#include "net/transport.h"

namespace trefoil::deposit {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;

DepositRows::DepositRows(const RowLayout& layout, int party, const OpenedDeposit& deposit)
    : own_(layout, party, deposit.components[0]),
      next_(layout, (party + 1) % net::kParties, deposit.components[1]) {}

ArithShare DepositRows::Next(std::uint64_t rows) {
  RingMatrix own = own_.Next(rows);
  return {std::move(own), next_.Next(rows)};
}

void DepositRows::Skip(std::uint64_t rows) {
  own_.Skip(rows);
  next_.Skip(rows);
}

DepositedSteps::DepositedSteps(const jobs::RecordSchema& records, int party,
                               std::vector<OpenedDeposit> deposits)
    : batches_(records.store.batches.value()), deposits_(std::move(deposits)) {
  Require(static_cast<std::int64_t>(deposits_.size()) <= batches_.deposits,
          "DepositedSteps: no more deposits than there is room for");
  const auto layout = LayoutOf(records);
  columns_ = static_cast<Index>(layout.numbers());
  for (const auto& one : deposits_) rows_.emplace_back(layout, party, one);
}

ArithShare DepositedSteps::Batch(int step) {
  Require(step >= next_, "DepositedSteps: steps in their order");
  const auto rows = static_cast<std::uint64_t>(batches_.rows);
  const Index height = batches_.deposits * batches_.rows;
  RingMatrix own = RingMatrix::Zero(height, columns_);
  RingMatrix next = own;
  Index first = 0;
  for (auto& one : rows_) {
    one.Skip(static_cast<std::uint64_t>(step - next_) * rows);
    const ArithShare batch = one.Next(rows);
    own.middleRows(first, batch.rows()) = batch.own();
    next.middleRows(first, batch.rows()) = batch.next();
    first += batch.rows();
  }
  next_ = step + 1;
  return {std::move(own), std::move(next)};
}

}  // namespace trefoil::deposit
