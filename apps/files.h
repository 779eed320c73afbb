#pragma once
#include <filesystem>
#include <string>

namespace trefoil::apps {

/// The whole file. Throws ConfigError "FILE: CAUSE, expected WHAT".
[[nodiscard]] std::string ReadTextFile(const std::filesystem::path& file, const std::string& what);

/// Replaces `file` by `text` in one step, so that no reader sees half of it. Throws std::runtime_error.
void WriteTextFile(const std::filesystem::path& file, const std::string& text);

/// Makes a file that must not be there yet, readable by its owner only (mode 0600).
/// Throws ConfigError if it is there, std::runtime_error if it cannot be written.
void WriteSecretFile(const std::filesystem::path& file, const std::string& text);

}  // namespace trefoil::apps
