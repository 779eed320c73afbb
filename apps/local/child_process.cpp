#include "apps/local/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "base/error.h"

namespace trefoil::apps {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";

/// Runs in the child between fork and exec: async-signal-safe calls only. `on_end`: the signal that it gets
/// when its parent ends.
[[noreturn]] void BecomeProgram(const char* program, char* const* arguments, int log, pid_t parent,
                                int on_end) {
  // The parent may be gone already, and then nothing would end this process with it.
  if (prctl(PR_SET_PDEATHSIG, on_end) != 0 || getppid() != parent) _exit(127);
  if (dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) _exit(127);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  execv(program, arguments);
  _exit(127);
}

/// Likewise; the child ends at once, so that its own child is nobody's.
[[noreturn]] void BecomeApart(const char* program, char* const* arguments) {
  const int nothing = open("/dev/null", O_RDWR);
  if (nothing < 0 || setsid() < 0 || fork() != 0) _exit(0);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (dup2(nothing, descriptor) < 0) _exit(0);
  }
  execv(program, arguments);
  _exit(0);
}

/// The file that a shell would run for `program`; empty where there is none.
std::string InPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    auto file = folder + "/" + program;
    if (folder.starts_with('/') && access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const std::filesystem::path& log,
                           const std::vector<std::string>& launcher) {
  // Read before the fork, since the child may not allocate.
  std::vector<std::string> words = launcher;
  words.push_back(std::filesystem::read_symlink(kThisProgram).string());
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto program = launcher.empty() ? words.front() : InPath(launcher.front());
  if (program.empty())
    throw ConfigError(fmt::format("{}: found none in $PATH, expected that of Open MPI", launcher.front()));
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int descriptor = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (descriptor < 0) throw std::runtime_error(log.string() + ": cannot be written: " + std::strerror(errno));
  const auto parent = getpid();
  id_ = fork();
  // A launcher has something to tidy up, and processes to end.
  if (id_ == 0)
    BecomeProgram(program.c_str(), pointers.data(), descriptor, parent, launcher.empty() ? SIGKILL : SIGTERM);
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

void StartApart(const std::string& program, const std::string& argument) noexcept try {
  auto file = InPath(program);
  auto word = argument;
  if (file.empty()) return;
  std::array<char*, 3> words{file.data(), word.data(), nullptr};
  const auto child = fork();
  if (child == 0) BecomeApart(file.c_str(), words.data());
  if (child > 0) waitpid(child, nullptr, 0);
} catch (const std::exception&) {  // for lack of memory
}

}  // namespace trefoil::apps
