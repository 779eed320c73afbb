#pragma once
#include <array>

#include "all_protocols.h"
#include "tests/support/run_parties.h"
#include "tests/support/secrecy/view.h"

namespace trefoil::protocols {

/// What each party saw in one call on `lanes` elements, all of them `secret`. Each message and each draw from
/// a PRG stream is one sight: a column a place (`lanes` words), or of bits a column a plane. Pre: `lanes` is
/// a multiple of 192.
[[nodiscard]] std::array<testing_support::View, 3> ViewsOfLanes(const ProtocolCase& protocol,
                                                                testing_support::Seed seed, mpc::Index lanes,
                                                                mpc::Word secret);

/// What each party saw and drew in `sessions` calls, each with fresh keys, on 64 elements: a column a word of
/// a message (of messages above 128 words, two of every 64: of each place those of two lanes), a sample a
/// session.
[[nodiscard]] std::array<testing_support::View, 3> ViewsOfSessions(const ProtocolCase& protocol,
                                                                   testing_support::Seed seed, int sessions,
                                                                   mpc::Word secret);

}  // namespace trefoil::protocols
