#pragma once
#include <vector>

#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// Public tables over the low `bits` bits of a number: 2^bits words each. 1 <= bits <= 12, at least one
/// table.
struct SmallTables {
  int bits = 1;
  std::vector<std::vector<mpc::Word>> tables;
};

/// Each table's entry at x modulo 2^bits, for every ring element x: a row a table, a column an element (row
/// by row). A one-hot vector of the mask is dealt, and rotated by what is opened
/// (docs/reference/protocols.md, "Small tables").
/// Cost:   2 rounds; online bits / 8 bytes an element and 8 a table and element from A and from B; offline
///         8 * 2^bits bytes an element.
/// Throws: ContractError on malformed tables, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] mpc::ArithShare LookUpByLowBits(mpc::Context& party, const SmallTables& tables,
                                              const mpc::ArithShare& x);
[[nodiscard]] mpc::Cost LookUpByLowBitsCost(const SmallTables& tables, mpc::Index count);

}  // namespace trefoil::protocols
