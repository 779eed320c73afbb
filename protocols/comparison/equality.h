#pragma once
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// Whether all three parties hold the same bits, item by item, as one shared bit each; nothing opens. Every
/// party inputs bits of its own, all of the same shape.
/// Pre:    at least one plane. Where an item does not fit a few words, parties pass a digest of it under a
///         key that they drew together after the item was fixed: two that differ then agree in all planes
///         with probability 2^-planes.
/// Cost:   1 round for the inputs and one AND a level, ceil(log2(2 planes)) levels of 2 planes - 1 bits in
///         all; see EqualEverywhereCost.
/// Throws: ContractError without planes, before anything is sent; NetworkError, ProtocolError.
/// Secrecy: as input and AND; nothing depends on the bits but shares.
[[nodiscard]] mpc::BoolShare EqualEverywhere(mpc::Context& party, const mpc::BitMatrix& own);
[[nodiscard]] mpc::Cost EqualEverywhereCost(mpc::Index planes, mpc::Index count);

}  // namespace trefoil::protocols
