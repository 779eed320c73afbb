#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/secrets/secure_memory.h"

namespace trefoil {

/// The largest file that people write or send: a job, a party file, a certificate. A larger one is none.
inline constexpr std::uint64_t kLargestText = std::uint64_t{1} << 24;
/// The largest file that this program has written: a ledger, a record, a share.
inline constexpr std::uint64_t kLargestOwnFile = std::uint64_t{1} << 33;

/// The whole of a regular file of at most `most` bytes. Throws ConfigError "FILE: CAUSE, expected WHAT".
[[nodiscard]] std::string ReadTextFile(const std::filesystem::path& file, const std::string& what,
                                       std::uint64_t most = kLargestText);

/// The same of a secret, which is nowhere else in memory. Of at most 64 KiB.
[[nodiscard]] SecretText ReadSecretFile(const std::filesystem::path& file, const std::string& what);

/// Replaces `file` by `text` in one step, so that no reader sees half of it, nor finds another than the old
/// or the new one after a crash of the machine. Throws std::runtime_error.
void WriteTextFile(const std::filesystem::path& file, const std::string& text);

/// Makes a file that must not be there yet, readable by its owner only (mode 0600). On disk when it returns.
/// Throws ConfigError if it is there, std::runtime_error if it cannot be written.
void WriteSecretFile(const std::filesystem::path& file, std::string_view text);

/// The same for a secret that may be replaced: readable by its owner only (mode 0600) at all times.
void ReplaceSecretFile(const std::filesystem::path& file, const std::string& text);

}  // namespace trefoil
