#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trefoil::data {

/// What the first bytes of a file, unpacked, say of the whole: its size in bytes; nothing while more of them
/// are needed, of which at most kMaxHead are given. Throws DataError where they are no such head, or announce
/// more than there may be.
using AnnouncedSize = std::function<std::optional<std::uint64_t>(std::string_view head)>;

/// Refuses, by a DataError, an array whose head says something else than what is expected. `item`: bytes of
/// an element.
using ShapeCheck = std::function<void(const std::vector<std::size_t>& shape, std::size_t item)>;

/// The limit of content whose format announces no size.
struct MaxBytes {
  std::uint64_t count = 0;
};

/// The content of a file as it is unpacked: no more than its head announces, so that a small packed file
/// cannot fill the memory.
class BoundedContent {
 public:
  static constexpr std::size_t kMaxHead = std::size_t{1} << 20;
  /// Of packed content whose format announces no size (text).
  static constexpr std::uint64_t kMaxUnannounced = std::uint64_t{1} << 30;

  /// Of content whose head announces its size. `place` names the file in errors. Pre: `announced` is not
  /// empty.
  BoundedContent(std::filesystem::path place, AnnouncedSize announced);
  /// Of content without such a head.
  BoundedContent(std::filesystem::path place, MaxBytes most);

  /// For content of at most so many bytes: their memory is taken once, as soon as the head has said its size,
  /// and no more than that. Pre: no bytes are here yet.
  void ReserveAtMost(std::uint64_t bytes);

  /// The next bytes. Throws DataError where there are more than there may be, and as `announced`.
  void Append(std::string_view bytes);

  /// All of it. A content that ended early is its parser's to find.
  [[nodiscard]] std::string Take() { return std::move(content_); }

 private:
  void AskHead();
  void Reserve();

  std::filesystem::path place_;
  AnnouncedSize announced_;  // until it has said a size; never, of content without a head
  std::optional<MaxBytes> without_head_;
  std::uint64_t max_;
  std::uint64_t expected_ = 0;  // at most, by ReserveAtMost
  std::string content_;
};

}  // namespace trefoil::data
