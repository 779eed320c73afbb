#include "net/transport.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"

namespace trefoil::net {

Lane LaneOfBranch(Lane lane, int branch) {
  Require(branch == 0 || branch == 1, "LaneOfBranch: branch 0 or 1");
  const int number = 2 * lane + 1 + branch;
  Require(number < kLanes, "LaneOfBranch: branches within branches at most three deep");
  return static_cast<Lane>(number);
}

Transport::Transport(int self, Lane lane) : self_(self), lane_(lane) {
  Require(self >= 0 && self < kParties, "Transport: party 0, 1 or 2");
}

void Transport::Absorb(const Counters& branch) {
  counters_.rounds = std::max(counters_.rounds, branch.rounds);
  counters_.bytes_sent += branch.bytes_sent;
  counters_.bytes_offline += branch.bytes_offline;
  for (std::size_t peer = 0; peer < counters_.bytes_sent_to.size(); ++peer) {
    counters_.bytes_sent_to[peer] += branch.bytes_sent_to[peer];
  }
  counters_.messages += branch.messages;
}

void Transport::Send(int peer, Bytes payload, Phase phase) {
  if (phase == Phase::kOffline) {
    CountOffline(peer, payload.size());
    return PostOffline(lane_, peer, std::move(payload));
  }
  RequirePeer(peer);
  const std::uint64_t size = payload.size();
  counters_.bytes_sent += size;
  counters_.bytes_sent_to[static_cast<std::size_t>(peer)] += size;
  ++counters_.messages;
  Write(peer, {.lane = lane_, .depth = counters_.rounds + 1, .payload = std::move(payload)});
}

void Transport::PostOffline(Lane lane, int peer, Bytes payload) {
  RequirePeer(peer);
  Write(peer, {.lane = OfflineLane(lane), .payload = std::move(payload)});
}

void Transport::CountOffline(int peer, std::uint64_t bytes) {
  RequirePeer(peer);
  counters_.bytes_offline += bytes;
  counters_.bytes_sent_to[static_cast<std::size_t>(peer)] += bytes;
  ++counters_.messages;
}

Bytes Transport::Receive(int peer, std::size_t expected_bytes, Phase phase) {
  return Take(peer, expected_bytes, expected_bytes, phase);
}

Bytes Transport::ReceiveUpTo(int peer, std::size_t limit) { return Take(peer, 0, limit, Phase::kOnline); }

void Transport::RequirePeer(int peer) const {
  Require(peer >= 0 && peer < kParties && peer != self_, "Transport: peer out of range");
}

Bytes Transport::Take(int peer, std::size_t least, std::size_t most, Phase phase) {
  RequirePeer(peer);
  Message message = Read(peer, phase == Phase::kOffline ? OfflineLane(lane_) : lane_);
  if (message.payload.size() < least || message.payload.size() > most) {
    // An empty message is a barrier's.
    const char* waits = message.payload.empty() ? ", as who ends its part before this party" : "";
    throw ProtocolError("party " + std::to_string(peer) + " sent a message of " +
                            std::to_string(message.payload.size()) + " bytes, expected " +
                            std::to_string(most) + waits,
                        peer);
  }
  counters_.rounds = std::max(counters_.rounds, message.depth);
  return std::move(message.payload);
}

const char* Describe(AbortCode code) {
  switch (code) {
    case AbortCode::kInternal:
      return "aborted: internal error";
    case AbortCode::kConfiguration:
      return "aborted: configuration error";
    case AbortCode::kPeerLost:
      return "aborted: it lost a peer";
    case AbortCode::kData:
      return "aborted: its data is not what the job declares";
    case AbortCode::kBudget:
      return "aborted: its privacy budget does not allow the job";
    case AbortCode::kStopped:
      return "aborted: it was told to stop";
    case AbortCode::kStorage:
      return "aborted: it cannot write its files";
    case AbortCode::kMemory:
      return "aborted: it is out of memory";
    case AbortCode::kProtocol:
      return "aborted: it received what the protocol does not allow";
    case AbortCode::kRankLost:
      return "aborted: it lost one of its own machines";
  }
  return "aborted: unknown reason";
}

}  // namespace trefoil::net
