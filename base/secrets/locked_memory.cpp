#include "base/secrets/locked_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

namespace trefoil {

bool LockAllMemory() noexcept {
  rlimit before{};
  if (getrlimit(RLIMIT_MEMLOCK, &before) != 0) return false;
  const bool unlimited = before.rlim_max == RLIM_INFINITY;
  // Under a limit of zero the kernel refuses all but those whom limits do not bind.
  const rlimit during{.rlim_cur = unlimited ? RLIM_INFINITY : 0, .rlim_max = before.rlim_max};
  if (setrlimit(RLIMIT_MEMLOCK, &during) != 0) return false;
  const bool locked = mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0;
  if (!unlimited) setrlimit(RLIMIT_MEMLOCK, &before);
  return locked;
}

}  // namespace trefoil
