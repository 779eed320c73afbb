#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace trefoil::fuzz {

/// A file in memory, readable by its owner only, that readers open by its path. Gone with the object.
class InputFile {
 public:
  /// Throws std::system_error if the system has no room for it.
  explicit InputFile(std::string_view content);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  int descriptor_;
  std::filesystem::path path_;
};

/// The same bytes as text.
[[nodiscard]] inline std::string_view Text(std::span<const std::uint8_t> input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

/// Ends the process, as a finding, unless `condition` holds.
void Check(bool condition, const char* what);

/// Calls a reader, which may throw that error.
template <typename Error, typename Reader>
void ReadAs(const Reader& reader) {
  try {
    (void)reader();
  } catch (const Error&) {
  }
}

/// What a target does with one input, defined once in each program. It ends by itself, or with the typed
/// error that the reader's contract names; any other exception, and what a sanitizer or the limit on memory
/// finds, is a finding.
void Read(std::span<const std::uint8_t> input);

}  // namespace trefoil::fuzz
