#pragma once

namespace trefoil {

/// Keeps all memory of this process, what it has and what it will get, out of swap space: each page is locked
/// when it is first used. Done only where it cannot make an allocation fail: with CAP_IPC_LOCK, or where no
/// hard limit on locked memory is set (RLIMIT_MEMLOCK; a lower soft limit is raised). Elsewhere nothing is
/// changed. Returns whether it is done. Child processes begin without it. Call before there are threads:
/// for a moment the limit is another.
/// Source: mlockall(2), MCL_ONFAULT.
[[nodiscard]] bool LockAllMemory() noexcept;

}  // namespace trefoil
