#include "tests/goldens/wire_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "net/link/frame.h"

namespace trefoil::goldens {
namespace {

// What protocols::MeasureLink sends to see how fast a link is, zeros, and the three figures behind them, of
// what it has measured. These are of the machine, and count as zeros here.
constexpr std::size_t kProbeBytes = std::size_t{1} << 20;
constexpr std::size_t kMeasuredBytes = 3 * sizeof(double);

std::string_view TextOf(const std::byte* bytes, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes), count};
}

bool IsProbe(const net::Bytes& payload) {
  return payload.size() == kProbeBytes &&
         std::all_of(payload.begin(), payload.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

void LinkTrace::Add(net::Lane lane, std::uint32_t depth, net::Bytes payload) {
  OfLane& of_lane = lanes_[lane];
  if (IsProbe(payload)) {
    of_lane.measured = true;
  } else if (of_lane.measured && payload.size() == kMeasuredBytes) {
    of_lane.measured = false;
    std::fill(payload.begin(), payload.end(), std::byte{0});
  }
  const auto head =
      net::EncodeHeader({.lane = lane, .depth = depth, .sequence = of_lane.frames, .length = payload.size()});
  of_lane.hash.Update(TextOf(head.data(), head.size()));
  of_lane.hash.Update(TextOf(payload.data(), payload.size()));
  ++of_lane.frames;
  ++frames_;
  bytes_ += head.size() + payload.size();
}

nlohmann::ordered_json LinkTrace::Take() {
  std::string lanes;
  for (auto& [lane, of_lane] : lanes_) lanes += std::to_string(lane) + " " + of_lane.hash.Hex() + "\n";
  return {{"frames", frames_}, {"bytes", bytes_}, {"sha256", Sha256Hex(lanes)}};
}

void TracedTransport::Write(int peer, net::Message message) {
  {
    const std::lock_guard lock(mutex_);
    traces_.at(static_cast<std::size_t>(peer)).Add(message.lane, message.depth, message.payload);
  }
  WriteThrough(*inner_, peer, std::move(message));
}

}  // namespace trefoil::goldens
