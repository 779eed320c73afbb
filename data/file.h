#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace trefoil::data {

/// Throws DataError "FILE: WHERE: found FOUND, expected EXPECTED" (without "WHERE: " where that is empty), on
/// one line.
[[noreturn]] void ThrowDataError(const std::filesystem::path& file, std::string_view where,
                                 std::string_view found, std::string_view expected);

/// `text` in double quotes for an error line: control bytes become '.', and what is beyond 40 bytes "...".
[[nodiscard]] std::string Quote(std::string_view text);

/// `value` for an error line, in at most six digits.
[[nodiscard]] std::string NumberText(double value);

/// The whole content of a regular file, unpacked if it begins with gzip's magic bytes, whatever its name.
/// Memory: the content once; a packed file can unpack to at most 1,032 times its size (deflate's limit).
/// Throws DataError if the file is missing, unreadable, or broken gzip.
[[nodiscard]] std::string ReadFile(const std::filesystem::path& path);

/// SHA-256 of a file's bytes as they are on disk, in lower-case hexadecimal; a piece at a time. Throws
/// DataError if it cannot be read.
[[nodiscard]] std::string FileSha256(const std::filesystem::path& path);

/// Replaces the file's content; packed as gzip if the name ends in ".gz". The same content gives the same
/// bytes: no time and no name is stored. Throws std::runtime_error if it cannot be written.
void WriteFile(const std::filesystem::path& path, std::string_view content);

}  // namespace trefoil::data
