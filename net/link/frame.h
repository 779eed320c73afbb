#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/transport.h"

namespace trefoil::net {

using SessionId = std::array<std::uint8_t, 16>;

/// kHello opens a link, kJob follows where the jobs differ, kReady carries the session in its header and
/// begins it.
enum class FrameType : std::uint8_t {
  kData = 1,
  kHeartbeat = 2,
  kAbort = 3,
  kHello = 4,
  kReady = 5,
  kJob = 6
};

/// The header in front of every message on a link: type (1 byte), lane (2), depth (4), sequence number (8),
/// payload length (8), session (16), little-endian. Sequence numbers count the frames of one direction of one
/// link from 0.
struct FrameHeader {
  FrameType type = FrameType::kData;
  Lane lane = 0;
  std::uint32_t depth = 0;
  std::uint64_t sequence = 0;
  std::uint64_t length = 0;
  SessionId session{};
};

inline constexpr std::size_t kFrameHeaderBytes = 39;
/// No payload of the protocols is longer; a header that says otherwise is garbage.
inline constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{1} << 32;

[[nodiscard]] std::array<std::byte, kFrameHeaderBytes> EncodeHeader(const FrameHeader& header);

/// Throws ProtocolError on an unknown type or lane, or a length above kMaxPayloadBytes.
[[nodiscard]] FrameHeader DecodeHeader(std::span<const std::byte, kFrameHeaderBytes> bytes);

/// Checks a frame that arrived after the handshake.
/// Throws ProtocolError unless it is of this session and the next in sequence.
void CheckInSequence(const FrameHeader& header, const SessionId& session, std::uint64_t expected_sequence);

}  // namespace trefoil::net
