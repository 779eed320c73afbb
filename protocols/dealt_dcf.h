#pragma once
#include <functional>
#include <vector>

#include "mpc/cost.h"
#include "mpc/dcf.h"
#include "protocols/masked_opening.h"

namespace trefoil::protocols {

/// What A or B of a masked opening holds of distributed comparison functions that D dealt, one an element:
/// f_j(z) = payload_j if z < point_j, else 0, on inputs of a number of bits. Empty at D.
struct DealtDcf {
  bool first = false;  ///< A's side
  mpc::DcfCorrections corrections;
  std::vector<mpc::Block> roots;
};

/// Of the functions that D deals: one of each an element, in rows.
struct PointsAndPayloads {
  mpc::RingMatrix points;
  mpc::RingMatrix payloads;
};

/// Deals `count` keys on inputs of `bits` bits: the roots from the PRG, the correction words by D to both
/// alike. Points and payloads (`count` each) may depend on the mask alone. Once an opening.
/// Pre:     1 <= bits <= 63; points below 2^bits.
/// Cost:    offline, 3 bits + 1 words a key from D to each of A and B.
/// Throws:  ContractError on bits out of range, before anything is sent; NetworkError, ProtocolError.
/// Secrecy: one party's key hides point and payload (mpc/dcf.h).
[[nodiscard]] DealtDcf DealDcf(MaskedOpening& opening, int bits, mpc::Index count,
                               const std::function<PointsAndPayloads(const mpc::Dealer&)>& functions);
[[nodiscard]] mpc::Cost DealDcfCost(int bits, mpc::Index count);

/// A's or B's half of f_j at every row of public `inputs` (column j: key j), below 2^bits; local.
[[nodiscard]] mpc::RingMatrix EvaluateDcf(ThreadPool& pool, const DealtDcf& keys,
                                          const mpc::RingMatrix& inputs);

}  // namespace trefoil::protocols
