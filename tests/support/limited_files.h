#pragma once
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <system_error>

namespace trefoil {

/// What a process does whose files may not grow beyond so many bytes, as on a full disk: 0 where `body`
/// throws that it cannot write.
inline int WithLimitedFiles(std::size_t bytes, const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    (void)signal(SIGXFSZ, SIG_IGN);
    const struct rlimit full {
      bytes, bytes
    };
    if (setrlimit(RLIMIT_FSIZE, &full) != 0) _exit(2);
    try {
      body();
    } catch (const std::system_error&) {
      _exit(0);
    } catch (...) {
    }
    _exit(1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace trefoil
