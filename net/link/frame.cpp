#include "net/link/frame.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace trefoil::net {
namespace {

template <typename T>
std::size_t Put(std::span<std::byte> out, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out[at + i] = static_cast<std::byte>(value >> (8 * i));
  return at + sizeof(T);
}

template <typename T>
T Get(std::span<const std::byte> in, std::size_t& at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= std::to_integer<std::uint64_t>(in[at + i]) << (8 * i);
  at += sizeof(T);
  return static_cast<T>(value);
}

}  // namespace

std::array<std::byte, kFrameHeaderBytes> EncodeHeader(const FrameHeader& header) {
  std::array<std::byte, kFrameHeaderBytes> out{};
  std::size_t at = Put(out, 0, static_cast<std::uint8_t>(header.type));
  at = Put(out, at, header.lane);
  at = Put(out, at, header.depth);
  at = Put(out, at, header.sequence);
  at = Put(out, at, header.length);
  std::transform(header.session.begin(), header.session.end(), out.begin() + static_cast<std::ptrdiff_t>(at),
                 [](std::uint8_t byte) { return static_cast<std::byte>(byte); });
  return out;
}

FrameHeader DecodeHeader(std::span<const std::byte, kFrameHeaderBytes> bytes) {
  std::size_t at = 0;
  FrameHeader header;
  const auto type = Get<std::uint8_t>(bytes, at);
  if (type < static_cast<std::uint8_t>(FrameType::kData) ||
      type > static_cast<std::uint8_t>(FrameType::kJob)) {
    throw ProtocolError("frame of unknown type " + std::to_string(type));
  }
  header.type = static_cast<FrameType>(type);
  header.lane = Get<Lane>(bytes, at);
  if (header.lane >= kAllLanes) throw ProtocolError("frame of unknown lane " + std::to_string(header.lane));
  header.depth = Get<std::uint32_t>(bytes, at);
  header.sequence = Get<std::uint64_t>(bytes, at);
  header.length = Get<std::uint64_t>(bytes, at);
  if (header.length > kMaxPayloadBytes) {
    throw ProtocolError("frame of " + std::to_string(header.length) + " bytes, at most " +
                        std::to_string(kMaxPayloadBytes) + " expected");
  }
  for (auto& byte : header.session) byte = Get<std::uint8_t>(bytes, at);
  return header;
}

void CheckInSequence(const FrameHeader& header, const SessionId& session, std::uint64_t expected_sequence) {
  if (header.session != session) throw ProtocolError("frame of another session");
  if (header.sequence != expected_sequence) {
    throw ProtocolError("frame number " + std::to_string(header.sequence) + ", expected " +
                        std::to_string(expected_sequence));
  }
}

}  // namespace trefoil::net
