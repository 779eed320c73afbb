#pragma once
#include <functional>
#include <vector>

#include "mpc/cost.h"
#include "mpc/dcf/dcf.h"
#include "protocols/arithmetic/masked_opening.h"

namespace trefoil::protocols {

/// What A or B of a masked opening holds of distributed comparison functions that D dealt, one an element:
/// f_j(z) = payload_j if z < point_j, else 0, on inputs of a shape; and its half of what D dealt
/// beside them. Empty at D.
struct DealtDcf {
  bool first = false;  ///< A's side
  mpc::DcfCorrections corrections;
  std::vector<mpc::Block> roots;
  mpc::RingMatrix half;
};

/// Of the functions that D deals: one of each an element, in rows; and values to be shared 2-of-2 beside
/// them.
struct DcfDealing {
  mpc::RingMatrix points;
  mpc::RingMatrix payloads;
  mpc::RingMatrix shared;
};

/// Deals `count` keys of a shape: the roots from the PRG, the correction words by D to both alike; and values
/// of `rows` x `cols` to be shared modulo 2^width. All of it may depend on the mask alone. Once an opening.
///
/// Pre:     1 <= bits <= 63; points below 2^bits.
/// Cost:    offline, DcfWords of the shape (3 bits + 1 where all bits are read) from D to each of A and B;
///          width / 8 bytes a shared value to B.
/// Throws:  ContractError on bits out of range, before anything is sent; NetworkError, ProtocolError.
/// Secrecy: one party's key hides point and payload (mpc/dcf/dcf.h).
[[nodiscard]] DealtDcf DealDcf(MaskedOpening& opening, const mpc::DcfShape& shape, mpc::Index count,
                               mpc::Index rows, mpc::Index cols,
                               const std::function<DcfDealing(const mpc::Dealer&)>& functions,
                               int width = 64);
/// Pre: `shared` values beside the keys.
[[nodiscard]] mpc::Cost DealDcfCost(const mpc::DcfShape& shape, mpc::Index count, mpc::Index shared = 0,
                                    int width = 64);

/// A's or B's half of f_j at every row of public `inputs` (column j: key j), below 2^bits, with the numbers
/// of low bits `unread` in each row (mpc/dcf/dcf.h); local.
[[nodiscard]] mpc::RingMatrix EvaluateDcf(ThreadPool& pool, const DealtDcf& keys,
                                          const mpc::RingMatrix& inputs, const std::vector<int>& unread = {});

}  // namespace trefoil::protocols
