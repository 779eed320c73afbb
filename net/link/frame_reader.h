#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/link/frame.h"

namespace trefoil::net {

struct Frame {
  FrameHeader header;
  Bytes payload;
};

/// Cuts one direction of a link into frames and checks each header before any of its payload is read: type,
/// length, sequence number and session. The session is all zeros until a kReady frame brings one, which then
/// holds for that frame and all that follow. Memory for a payload grows with the bytes that have arrived, not
/// with the length announced.
class FrameReader {
 public:
  /// Where the next bytes of the stream go; never empty.
  [[nodiscard]] std::span<std::byte> Space();

  /// `count` bytes were put at the beginning of Space(). Returns the frame if they complete one.
  /// Throws ProtocolError on a header that is not the expected one.
  [[nodiscard]] std::optional<Frame> Filled(std::size_t count);

  /// Longer payloads are refused from the next header on (at first kGreetingPayloadBytes).
  void LimitPayload(std::uint64_t bytes) { limit_ = bytes; }

  /// Whether the stream stands between two frames.
  [[nodiscard]] bool between_frames() const { return have_ == 0 && !in_payload_; }

  static constexpr std::uint64_t kGreetingPayloadBytes = std::uint64_t{1} << 20;

 private:
  /// What TLS brings at a time.
  static constexpr std::size_t kRecordBytes = std::size_t{1} << 14;

  void CheckHeader();
  void Append(std::size_t count);
  Frame Finish();

  std::array<std::byte, kFrameHeaderBytes> head_{};
  FrameHeader header_;
  std::vector<std::byte> record_ = std::vector<std::byte>(kRecordBytes);
  Bytes payload_;
  std::size_t have_ = 0;  // bytes of the header
  bool in_payload_ = false;
  std::uint64_t limit_ = kGreetingPayloadBytes;
  std::uint64_t next_sequence_ = 0;
  SessionId session_{};
};

}  // namespace trefoil::net
