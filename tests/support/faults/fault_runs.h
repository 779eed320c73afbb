#pragma once
#include <functional>
#include <string>

#include "mpc/context.h"

namespace trefoil::testing_support {

/// What each party of a test runs.
using Program = std::function<void(mpc::Context& party)>;

/// What a party that gets a wrong bit may do.
enum class Flipped {
  kAnyValue,  ///< go on with a wrong value, or end in a typed error
  kAnyEnd,    ///< also refuse what it computed from it
};

/// Runs `program` again and again, each time with one fault in one message of one party: the first, a middle
/// and the last message of each, dropped, cut with all that follow, late, short by a byte, long by a byte, or
/// with a wrong bit. Expects that it completes where a message is late, and ends in a NetworkError or a
/// ProtocolError at every party, in time, wherever one is lost or has a wrong length.
void ExpectTypedEndsUnderFaults(const Program& program, Flipped flipped = Flipped::kAnyValue);

}  // namespace trefoil::testing_support
