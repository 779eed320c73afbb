#include "net/frame_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"

namespace trefoil::net {
namespace {

constexpr std::size_t kFirstChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kGrowth = 32;  // peers are authenticated, and few steps mean few copies

}  // namespace

std::span<std::byte> FrameReader::Space() {
  if (!in_payload_) return std::span(head_).subspan(have_);
  if (have_ == payload_.size()) {
    const std::size_t wanted = std::max(kFirstChunkBytes, kGrowth * have_);
    payload_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, header_.length)));
  }
  return std::span(payload_).subspan(have_);
}

std::optional<Frame> FrameReader::Filled(std::size_t count) {
  have_ += count;
  if (!in_payload_) {
    if (have_ < kFrameHeaderBytes) return std::nullopt;
    CheckHeader();
    have_ = 0;
    in_payload_ = true;
  }
  if (have_ < header_.length) return std::nullopt;
  return Finish();
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
  have_ = 0;
  return {.header = header_, .payload = std::exchange(payload_, {})};
}

}  // namespace trefoil::net
