#pragma once
#include <array>
#include <string>
#include <vector>

#include "tests/support/run_parties.h"
#include "tests/support/secrecy/prg_tracker.h"

namespace trefoil::testing_support {

/// InsecurePrss, with what each party draws written to its log.
[[nodiscard]] PrssMaker LoggedPrss(Seed seed, std::array<DrawLog, net::kParties>& logs);

/// Whether `key` is one of the two that a party of such a session holds.
[[nodiscard]] bool HoldsKey(Seed seed, int party, const CipherKey& key);

/// Checks that in a session of LoggedPrss every mask came from the right stream, one line for each violation:
/// - a stream is that of (component, purpose, operation), begins at counter 0, and is drawn exactly once by
/// each of
///   the component's two holders, P_j and P_{j-1}, to the same length, and by nobody else;
/// - a sharing of zero takes all three components: at each party the own and the next;
/// - in a masked opening with A = P_a, B = P_{a+1} and dealer D = P_{a+2}, masks, roots and re-sharing come
/// from
///   components a (A and D) and a + 2 (B and D), what is dealt from component a, and nothing from component a
///   + 1, which A and B, who open, both hold. So neither of them can compute the other's half of the mask.
[[nodiscard]] std::vector<std::string> StreamViolations(
    Seed seed, const std::array<std::vector<StreamDraw>, net::kParties>& draws);

}  // namespace trefoil::testing_support
