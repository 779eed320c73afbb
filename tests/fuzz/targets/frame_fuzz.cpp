// A stream of bytes from a peer, cut into frames.
// The first byte says how many bytes arrive at a time, and whether long payloads are allowed.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "net/link/frame_reader.h"
#include "net/start/starter.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::frame_target {
namespace {

void Look(const net::Frame& frame, std::uint64_t expected_sequence) {
  Check(frame.payload.size() == frame.header.length, "a frame with another length than its header's");
  Check(frame.header.sequence == expected_sequence, "a frame out of sequence");
  if (frame.header.type == net::FrameType::kAbort) {
    const auto reason = net::DecodeAbort(frame);
    Check(net::EncodeAbort(reason) == frame.payload, "an abort that is not what it was");
    (void)net::Describe(reason.code);
  }
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const std::size_t step = 1 + (input[0] & 0x7F);
  net::FrameReader reader;
  if ((input[0] & 0x80) != 0) reader.LimitPayload(net::kMaxPayloadBytes);
  std::uint64_t frames = 0;
  try {
    for (auto rest = input.subspan(1); !rest.empty();) {
      const auto space = reader.Space();
      Check(!space.empty(), "no space for the next bytes");
      const std::size_t count = std::min({space.size(), rest.size(), step});
      std::memcpy(space.data(), rest.data(), count);
      rest = rest.subspan(count);
      if (const auto frame = reader.Filled(count)) Look(*frame, frames++);
    }
  } catch (const ProtocolError&) {
  }
}

const Target kTarget("frame", Read);

}  // namespace trefoil::fuzz::frame_target
