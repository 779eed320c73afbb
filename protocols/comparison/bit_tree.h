#pragma once
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// Of each item the AND, or the OR, of its bits in all planes: one plane. Halves of the planes against each
/// other.
/// Pre:    at least one plane.
/// Cost:   one AND a level, ceil(log2(planes)) levels of planes - 1 bits an item in all.
/// Throws: ContractError without planes, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] mpc::BoolShare AllPlanes(mpc::Context& party, mpc::BoolShare bits);
[[nodiscard]] mpc::Cost AllPlanesCost(mpc::Index planes, mpc::Index count);
[[nodiscard]] mpc::BoolShare AnyPlane(mpc::Context& party, const mpc::BoolShare& bits);
[[nodiscard]] mpc::Cost AnyPlaneCost(mpc::Index planes, mpc::Index count);

/// The OR of all items' bits: one plane of one item. Words of 64 items at a time become 64 planes.
/// Pre:    one plane, at least one item.
/// Cost:   AnyPlane of 64 planes or fewer, for each power of 64 below the number of items; at most 6 rounds
///         each.
/// Throws: as AnyPlane.
[[nodiscard]] mpc::BoolShare AnyItem(mpc::Context& party, mpc::BoolShare bits);
[[nodiscard]] mpc::Cost AnyItemCost(mpc::Index count);

}  // namespace trefoil::protocols
