#pragma once
#include <initializer_list>
#include <string>

#include "mpc/context.h"
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// What shares that came from outside, such as from files, are compared for, and how an error speaks of them.
struct ComparedShares {
  std::string common;  ///< known to all three, and compared, too: of what run and session the shares are
  std::string what;    ///< as in "party 1 holds another WHAT": "share of the model"
  std::string remedy;  ///< what the operators do about it
};

/// Makes sure that three parties' shares belong together: that both holders of each component, P_j and
/// P_(j-1), have the same words of it. Each party sends both others a hash of each of its two components,
/// keyed with words of the component's own stream (Purpose::kCheck), which the third party cannot compute:
/// what it sees of a component is whether two hashes are equal, and it can test no guess of the words.
///
/// Pre:    as many shares at all three; other shapes are a difference.
/// Cost:   1 round, 128 bytes from each party.
/// Throws: ConfigError at all three, naming who holds what the others do not, if a component or `common`
///         differs (but for an accident of one in 2^128); NetworkError, ProtocolError.
void RequireSharesOfOne(mpc::Context& party, std::initializer_list<const mpc::ArithShare*> shares,
                        const ComparedShares& compared);
[[nodiscard]] mpc::Cost RequireSharesOfOneCost();

}  // namespace trefoil::protocols
