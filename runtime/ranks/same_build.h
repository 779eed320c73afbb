#pragma once
#include <string>

#include "mpc/ranks.h"

namespace trefoil::runtime {

/// This program's version, and the id that its linker gave it, a hash of what is in it, where it has one.
[[nodiscard]] std::string BuildOfProgram();

/// Every rank's first call: ranks send each other structures as they lie in memory. Rank 0 sends the first
/// 127 bytes of `build` and zeros up to 128, in one message, which is so in all versions: it is for other
/// builds to read. Throws ConfigError at a rank where those of its `build` are others.
void RequireSameBuild(mpc::Ranks& ranks, const std::string& build);

/// Every rank calls it before it reads any data: noise, samples and parts are those of the job that a rank
/// has read, while record and ledger state rank 0's. `hash`: HashOf it. None returns before all have the
/// same. Throws ConfigError at a rank with another job than rank 0, or of another party; NetworkError.
void RequireSameJob(mpc::Ranks& ranks, const std::string& hash, int party);

}  // namespace trefoil::runtime
