#include "data/formats/bounded_content.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/formats/file.h"

namespace trefoil::data {

BoundedContent::BoundedContent(std::filesystem::path place, AnnouncedSize announced)
    : place_(std::move(place)), announced_(std::move(announced)), max_(kMaxHead) {
  Require(static_cast<bool>(announced_), "BoundedContent: a way to read the size from the head");
}

BoundedContent::BoundedContent(std::filesystem::path place, MaxBytes most)
    : place_(std::move(place)), without_head_(most), max_(most.count) {}

void BoundedContent::ReserveAtMost(std::uint64_t bytes) {
  expected_ = bytes;
  if (!announced_) Reserve();
}

void BoundedContent::Append(std::string_view bytes) {
  if (announced_) {  // the head alone, then what it allows
    const auto head = bytes.substr(0, kMaxHead - std::min(kMaxHead, content_.size()));
    content_.append(head);
    bytes.remove_prefix(head.size());
    AskHead();
  }
  if (content_.size() + bytes.size() > max_) {
    ThrowDataError(place_, "values", "more than " + std::to_string(max_) + " bytes",
                   without_head_ ? "at most as many where text is packed: unpack the file"
                                 : "no more than its header allows");
  }
  content_.append(bytes);
}

void BoundedContent::AskHead() {
  const auto size = announced_(std::string_view(content_).substr(0, kMaxHead));
  if (!size && content_.size() < kMaxHead) return;
  if (!size) ThrowDataError(place_, "header", "no end in a mebibyte", "a header");
  max_ = *size;
  announced_ = nullptr;
  Reserve();
}

void BoundedContent::Reserve() {
  const auto most = std::min(expected_, max_);
  if (most > content_.capacity()) content_.reserve(static_cast<std::size_t>(most));
}

}  // namespace trefoil::data
