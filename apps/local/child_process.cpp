#include "apps/local/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace trefoil::apps {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";

/// Runs in the child between fork and exec: async-signal-safe calls only.
[[noreturn]] void BecomeProgram(const char* program, char* const* arguments, int log, pid_t parent) {
  // The parent may be gone already, and then nothing would end this process with it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(127);
  if (dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) _exit(127);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  execv(program, arguments);
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  // Read before the fork, since the child may not allocate.
  const auto program = std::filesystem::read_symlink(kThisProgram).string();
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int descriptor = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (descriptor < 0) throw std::runtime_error(log.string() + ": cannot be written: " + std::strerror(errno));
  const auto parent = getpid();
  id_ = fork();
  if (id_ == 0) BecomeProgram(program.c_str(), pointers.data(), descriptor, parent);
  const int error = errno;
  close(descriptor);
  if (id_ < 0) throw std::runtime_error(std::string("cannot start a party: ") + std::strerror(error));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : id_(std::exchange(other.id_, -1)), end_(other.end_) {}

ChildProcess::~ChildProcess() {
  if (id_ < 0 || Poll()) return;
  kill(id_, SIGKILL);
  waitpid(id_, nullptr, 0);
}

const std::optional<ProcessEnd>& ChildProcess::Poll() {
  int status = 0;
  if (!end_ && waitpid(id_, &status, WNOHANG) == id_) {
    end_ = WIFSIGNALED(status) ? ProcessEnd{.code = 0, .signal = WTERMSIG(status)}
                               : ProcessEnd{.code = WEXITSTATUS(status), .signal = 0};
  }
  return end_;
}

void ChildProcess::Signal(int signal) {
  if (id_ >= 0 && !Poll()) kill(id_, signal);
}

}  // namespace trefoil::apps
