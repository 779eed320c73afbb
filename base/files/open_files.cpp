#include "base/files/open_files.h"

#include <sys/resource.h>

#include <stdexcept>
#include <string>

namespace trefoil {

std::uint64_t OpenFileLimit() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

void RequireOpenFiles(std::uint64_t needed) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  const auto found = limit.rlim_cur;
  limit.rlim_cur = needed;
  if (limit.rlim_max >= needed && setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  const auto text = std::to_string(needed);
  throw std::runtime_error("open files: found a limit of " + std::to_string(found) + ", expected at least " +
                           text + ": raise it (ulimit -n " + text + "; in units LimitNOFILE=" + text + ")");
}

}  // namespace trefoil
