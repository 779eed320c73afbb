#pragma once
#include <string>
#include <vector>

#include "mpc/context.h"
#include "mpc/cost.h"

namespace trefoil::ml {

/// Makes sure that all three parties hold the same keys of rows in the same order. Each hashes its list under
/// a key that the three draw together first (BLAKE2b, 128 bits); the hashes are shared and compared as
/// shares, and one bit opens: whether all are equal. So a party learns nothing else of another's list, also
/// if they differ, and has nothing against which it could try guesses. Lists that differ pass with
/// probability 2^-128.
///
/// Cost:   RequireSameKeysCost: JointSeed, EqualEverywhere of 128 planes, one bit opened; where keys differ
///         one round more.
/// Throws: DataError, which names no key, at all three parties if they differ; NetworkError, ProtocolError.
void RequireSameKeys(mpc::Context& party, const std::vector<std::string>& keys);
[[nodiscard]] mpc::Cost RequireSameKeysCost();

}  // namespace trefoil::ml
