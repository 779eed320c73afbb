#pragma once
#include <cstdint>

namespace trefoil {

/// How many files, sockets and pipes this process may have open at once (RLIMIT_NOFILE, as ulimit -n says).
[[nodiscard]] std::uint64_t OpenFileLimit();

/// What a party needs, as its inbox does: places for connections whose handshake is not over (192), the pages
/// of its metrics or an inbox's uploads (16), and its links, logs, ledger, data files and threads' own.
inline constexpr std::uint64_t kOpenFilesOfParty = 256;

/// Makes sure that `needed` may be open at once, raising the limit as far as the system lets it. Throws
/// std::runtime_error naming the limit that was found and `needed`, where that does not suffice.
void RequireOpenFiles(std::uint64_t needed);

}  // namespace trefoil
