#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "base/secrets/sha256.h"
#include "data/formats/bounded_content.h"

namespace trefoil::data {

/// Throws DataError "FILE: WHERE: found FOUND, expected EXPECTED" (without "WHERE: " where that is empty), on
/// one line: control characters, as names of files may have them, are dots.
[[noreturn]] void ThrowDataError(const std::filesystem::path& file, std::string_view where,
                                 std::string_view found, std::string_view expected);

/// `text` in double quotes for error lines: tab as \t, CR as \r, other control bytes as '.', cut at 40 bytes.
[[nodiscard]] std::string Quote(std::string_view text);

/// `value` for an error line, in at most six digits.
[[nodiscard]] std::string NumberText(double value);

/// Whether a file that begins so is packed by gzip, of which no part can be read alone.
[[nodiscard]] bool IsGzip(std::string_view head);

/// The whole content of a regular file, unpacked if it begins with gzip's magic bytes, whatever its name.
/// Memory: the content once, and no more than `announced` says; without it a packed file may unpack to
/// BoundedContent::kMaxUnannounced bytes. `on_disk`, if there is one, takes the bytes that were read, as they
/// are on disk: its hash is FileSha256 of what is returned. Throws DataError if the file is missing,
/// unreadable, no regular file, broken gzip or longer than that; and what `announced` throws.
[[nodiscard]] std::string ReadFile(const std::filesystem::path& path, const AnnouncedSize& announced = {},
                                   Sha256* on_disk = nullptr);

/// The first `count` bytes of the same content, or as many as there are. Throws DataError as ReadFile.
[[nodiscard]] std::string ReadHead(const std::filesystem::path& path, std::size_t count);

/// SHA-256 of a file's bytes as they are on disk, in lower-case hexadecimal; a piece at a time. Throws
/// DataError if it cannot be read.
[[nodiscard]] std::string FileSha256(const std::filesystem::path& path);

/// Replaces the file's content; packed as gzip if the name ends in ".gz". The same content gives the same
/// bytes: no time and no name is stored. Throws std::runtime_error if it cannot be written.
void WriteFile(const std::filesystem::path& path, std::string_view content);

}  // namespace trefoil::data
