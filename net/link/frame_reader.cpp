#include "net/link/frame_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"

namespace trefoil::net {
namespace {

constexpr std::size_t kFirstChunkBytes = std::size_t{1} << 20;
// Few copies. Peers are authenticated, so a large reservation is no attack.
constexpr std::size_t kGrowth = 32;

}  // namespace

std::span<std::byte> FrameReader::Space() {
  if (!in_payload_) return std::span(head_).subspan(have_);
  const std::uint64_t rest = header_.length - payload_.size();
  return std::span(record_).first(static_cast<std::size_t>(std::min<std::uint64_t>(rest, record_.size())));
}

std::optional<Frame> FrameReader::Filled(std::size_t count) {
  if (in_payload_) {
    Append(count);
  } else {
    have_ += count;
    if (have_ < kFrameHeaderBytes) return std::nullopt;
    CheckHeader();
    have_ = 0;
    in_payload_ = true;
  }
  if (payload_.size() < header_.length) return std::nullopt;
  return Finish();
}

// Bytes are read into a small record and copied, since std::vector would zero the payload first.
void FrameReader::Append(std::size_t count) {
  if (payload_.size() + count > payload_.capacity()) {
    const std::size_t wanted = std::max(kFirstChunkBytes, kGrowth * payload_.size());
    payload_.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, header_.length)));
  }
  payload_.insert(payload_.end(), record_.begin(), record_.begin() + static_cast<std::ptrdiff_t>(count));
}

void FrameReader::CheckHeader() {
  header_ = DecodeHeader(head_);
  if (header_.length > limit_) {
    throw ProtocolError("frame of " + std::to_string(header_.length) + " bytes, at most " +
                        std::to_string(limit_) + " expected");
  }
  if (header_.type == FrameType::kReady) session_ = header_.session;
  CheckInSequence(header_, session_, next_sequence_++);
}

Frame FrameReader::Finish() {
  in_payload_ = false;
  return {.header = header_, .payload = std::exchange(payload_, {})};
}

}  // namespace trefoil::net
