#pragma once
#include <vector>

#include "mpc/cost.h"
#include "mpc/share.h"
#include "protocols/arithmetic/rounding.h"
#include "protocols/form.h"

namespace trefoil::protocols {

/// Public tables over the position L of a positive number's leading bit, lowest <= L < lowest + K: entry
/// L - lowest of each. At least one table, all of the same K >= 2 entries; lowest >= 0, lowest + K <= 63.
struct LeadingBitTables {
  int lowest = 0;
  std::vector<std::vector<mpc::Word>> tables;
};

/// In latency form the bits below a power of two that are compared with it, at least.
constexpr int kReadBelowPower = 10;

/// Each table's entry for the leading bit of each element: a row a table, a column an element (row by row).
/// With exact rounding, and always in bulk form, it is the leading bit; else, in latency form, an element
/// from 2^t (1 - 2^-kReadBelowPower) to 2^t may pass for one with leading bit t, by a coin.
///
/// Pre:    0 <= x < 2^(lowest + K). Below 2^lowest the first entry counts, also for x = 0.
/// Cost:   bulk: a bit decomposition, a suffix-or and BitToArith of K - 1 planes, 16 rounds at most; latency:
///         2 rounds with K - 1 thresholds; see LookUpByLeadingBitCost.
/// Throws: ContractError on malformed tables, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] mpc::ArithShare LookUpByLeadingBit(mpc::Context& party, const LeadingBitTables& tables,
                                                 const mpc::ArithShare& x, Form form = Form::kBulk,
                                                 Rounding rounding = Rounding::kStochastic);
[[nodiscard]] mpc::Cost LookUpByLeadingBitCost(const LeadingBitTables& tables, mpc::Index count,
                                               Form form = Form::kBulk,
                                               Rounding rounding = Rounding::kStochastic);

}  // namespace trefoil::protocols
