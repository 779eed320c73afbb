#pragma once
#include <string>

#include "mpc/ranks.h"

namespace trefoil::runtime {

/// This program's version, and the id that its linker gave it, a hash of what is in it, where it has one.
[[nodiscard]] std::string BuildOfProgram();

/// Every rank's first call: ranks send each other structures as they lie in memory. Throws ConfigError at a rank whose
/// `build` is not rank 0's, as far as its first 127 bytes tell.
void RequireSameBuild(mpc::Ranks& ranks, const std::string& build);

}  // namespace trefoil::runtime
