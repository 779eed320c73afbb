#pragma once
#include <exception>
#include <string>

namespace trefoil {

enum ExitCode : int {
  kDone = 0,
  kOther = 1,
  kConfiguration = 2,
  kNetwork = 3,
  kData = 4,
  kBudget = 5,
  kPassing = 6,
  kStopped = 128,  ///< plus the number of the signal that told the process to stop
};

/// The exit code for an error: kStopped + the signal for StoppedError, kOther for what has none of its own.
[[nodiscard]] ExitCode ExitCodeOf(const std::exception& error);

/// Whether the machine had no memory left for something: also for another thread.
[[nodiscard]] bool IsLackOfMemory(const std::exception& error);

/// Whether a file could not be written for lack of room, or because its disk fails.
[[nodiscard]] bool IsLackOfStorage(const std::exception& error);

/// The error as the operator reads it: its own text, but for what the library throws without one.
[[nodiscard]] std::string CauseOf(const std::exception& error);

/// The text as a terminal may show it in one line: spaces in place of ASCII's control characters, and \u{9b}
/// or \x9b in place of those of C1, of what turns the direction of writing or is not seen, and of bytes that
/// are not UTF-8.
[[nodiscard]] std::string OneLine(std::string text);

/// Prints "trefoil: CAUSE" as exactly one line on stderr, as Console does.
void ReportError(const std::string& cause);

/// The same for a process that ends at once, whatever happens: returns after two seconds where standard error
/// is a file on storage that hangs. The thread that writes is left behind.
void ReportLastError(const std::string& cause);

}  // namespace trefoil
