#pragma once
#include <filesystem>
#include <system_error>

namespace trefoil {

/// The error of the call before, by errno: "FILE: WHAT", and the system's words for it.
[[nodiscard]] std::system_error FileError(const std::filesystem::path& file, const char* what);
/// The same where `file` could not be written.
[[nodiscard]] std::system_error CannotWrite(const std::filesystem::path& file);

/// So that a crash of the machine takes nothing from a file that was written to before, or, of a folder, no
/// name that was put into it or taken out. Throws std::system_error.
void SyncToDisk(const std::filesystem::path& path);

/// So that a file that was just made or renamed is found after a crash of the machine. Throws
/// std::system_error.
void SyncFolderOf(const std::filesystem::path& file);

/// Makes a folder of mode 0700, which is found after a crash of the machine. False, with errno, where it was
/// not made: EEXIST where its name is taken. Throws std::system_error where it cannot be synced.
[[nodiscard]] bool MakePrivateFolder(const std::filesystem::path& folder);

/// Puts a finished draft of the same folder in the place of `file`, in one step: after a crash of the machine
/// there is the old file or the whole new one, and once this has returned the new one. Throws
/// std::system_error.
void PutInPlace(const std::filesystem::path& draft, const std::filesystem::path& file);

}  // namespace trefoil
