#pragma once
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trefoil::apps {

/// How a process ended.
struct ProcessEnd {
  int code = 0;    ///< exit code, where it was not killed
  int signal = 0;  ///< the signal that killed it, else 0
};

/// A direct child that runs this program again, or a launcher that does. It is killed when this object, or
/// the thread that made it, ends; a launcher gets SIGTERM where it is the thread.
class ChildProcess {
 public:
  /// Starts "LAUNCHER trefoil ARGUMENTS" with both outputs appended to `log`; the launcher's first word is a
  /// program that $PATH leads to. Throws std::runtime_error where there is no new process or no log,
  /// ConfigError where there is no such launcher; a child that cannot become this program (its file is gone)
  /// ends with code 127.
  ChildProcess(const std::vector<std::string>& arguments, const std::filesystem::path& log,
               const std::vector<std::string>& launcher = {});
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  [[nodiscard]] pid_t id() const { return id_; }
  /// How it ended, or nothing while it runs. Does not wait.
  [[nodiscard]] const std::optional<ProcessEnd>& Poll();
  /// Sends a signal, if it still runs.
  void Signal(int signal);

 private:
  pid_t id_ = -1;
  std::optional<ProcessEnd> end_;
};

/// Starts "PROGRAM ARGUMENT", a program that $PATH leads to, apart from this process: nothing waits for it,
/// nothing that it prints is seen, and it may outlive this process. That there is none, or no process, is no
/// error.
void StartApart(const std::string& program, const std::string& argument) noexcept;

}  // namespace trefoil::apps
