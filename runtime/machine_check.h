#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trefoil::runtime {

/// What this process may still take: of the machine, of its control group, of its own limit (ulimit -v).
[[nodiscard]] double AvailableMemory();

/// The most bytes that this program has held so far; 0 where the kernel does not say. Not what getrusage(2)
/// says, which counts for a program what the process that started it held as well.
[[nodiscard]] std::uint64_t PeakMemoryBytes();

/// Free on the file system of a folder. Throws ConfigError if it is not there.
[[nodiscard]] double AvailableDisk(const std::filesystem::path& folder);

/// Throws std::system_error (no space left) unless the file system of a run directory has room for what a run
/// comes to, `least` bytes, less what earlier sessions' checkpoints take there already. `before`: what
/// would be for nothing. Throws ConfigError as AvailableDisk.
void RequireDisk(const std::filesystem::path& run_folder, double least, const std::string& before);

/// Swap space that is on and may keep what is written to it in the clear: neither a dm-crypt device nor a
/// compressed one in memory. A file counts, also one on an encrypted file system. `root`: where proc/swaps
/// and sys/block are.
[[nodiscard]] std::vector<std::string> PlainSwap(const std::filesystem::path& root = "/");

/// What an operator is to do where this process's memory may be written to PlainSwap(). Empty where nothing
/// is to be done: the memory is locked (LockAllMemory), or there is no such space.
[[nodiscard]] std::string SwapWarning(bool memory_locked, const std::filesystem::path& root = "/");

}  // namespace trefoil::runtime
