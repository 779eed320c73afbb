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

/// A reader that is fuzzed. Each file of tests/fuzz/targets/ defines one, in a namespace of its own:
/// libFuzzer's programs have one each, the program that replays inputs has all of them.
struct Target {
  /// Does with one input what a user of the reader would. It ends by itself, or with the typed error that the
  /// reader's contract names; any other exception, and what a sanitizer or the limit on memory finds, is a
  /// finding.
  using Reader = void (*)(std::span<const std::uint8_t> input);

  Target(std::string_view name_, Reader read_) noexcept : name(name_), read(read_), next(first) {
    first = this;
  }

  std::string_view name;
  Reader read;
  const Target* next;  ///< Null at the last one.

  static inline const Target* first = nullptr;  ///< Of all targets of the program.
};

}  // namespace trefoil::fuzz
