#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/secrets/secure_memory.h"
#include "mpc/context.h"
#include "mpc/cost.h"

namespace trefoil::protocols {

/// Makes sure that all three parties hold the same public text (constants that each has derived for itself).
/// Cost:   1 round, 64 bytes from each party.
/// Throws: ConfigError naming the party that holds another text; NetworkError, ProtocolError.
void RequireSameEverywhere(mpc::Context& party, const std::string& text, const std::string& what);
[[nodiscard]] mpc::Cost RequireSameEverywhereCost();

/// Every party's public text, in their order: what the parties have to tell one another, and nobody need
/// hide.
///
/// Pre:    own.size() <= limit, the same at all three; nothing of it is secret.
/// Cost:   1 round; each party sends its text twice, with 8 bytes more.
/// Throws: ProtocolError for a longer text than `limit`, or of another length than was said; NetworkError.
[[nodiscard]] std::array<std::string, net::kParties> ExchangeTexts(mpc::Context& party,
                                                                   const std::string& own, std::size_t limit);
/// Of texts of so many bytes.
[[nodiscard]] mpc::Cost ExchangeTextsCost(const std::array<std::uint64_t, net::kParties>& bytes);

/// Nobody passes before everybody has arrived.
/// Cost:   1 round, no payload.
/// Throws: NetworkError, ProtocolError.
void Barrier(mpc::Context& party);
[[nodiscard]] mpc::Cost BarrierCost();

/// Throws `cause`, once both peers have come to refuse, too, or are lost: so each of the three says why, and
/// not that another one aborted. Pre: all three find the cause in what they have exchanged, and call this.
/// Cost:   that of a Barrier.
[[noreturn]] void RefuseTogether(mpc::Context& party, const ConfigError& cause);
[[noreturn]] void RefuseTogether(mpc::Context& party, const BudgetError& cause);
[[noreturn]] void RefuseTogether(mpc::Context& party, const DataError& cause);

/// A seed that no party chose alone, known to all: the exclusive or of one random seed from each.
/// Semi-honest: a party that waits for the others' seeds could choose the result.
/// Cost:   1 round, 64 bytes from each party.
[[nodiscard]] SecretKey JointSeed(mpc::Context& party);
[[nodiscard]] mpc::Cost JointSeedCost();

/// Of mpc::AgreeOnKeys (mpc/prss.h), which comes before there is a context: 1 round, 64 bytes from each
/// party.
[[nodiscard]] mpc::Cost AgreeOnKeysCost();

}  // namespace trefoil::protocols
