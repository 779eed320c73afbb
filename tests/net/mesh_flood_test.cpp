#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "flood.h"
#include "mesh_testing.h"
#include "net/mesh/mesh.h"

namespace trefoil::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using namespace testing_support;  // NOLINT: the vocabulary of these tests

constexpr const char* kPeers = "127.0.0.3";  // where the relay's connections come from
constexpr seconds kPatience{24};
/// What a flood is divided by under a sanitizer: connections that are replaced before they are accepted take
/// no places.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSlower = 10;
#else
constexpr int kSlower = 1;
#endif

struct FloodedStart {
  std::array<Outcome, kParties> outcomes;
  std::uint64_t dropped = 0;  ///< by party 0's count
  bool logged = false;        ///< that they were dropped
  int opened = 0;             ///< by the flood
};

/// Parties 1 and 2 are as far from party 0 as `round_trip` says, and a flood of connections reaches its port.
/// `known`: the host that party 0's configuration names for them.
FloodedStart Start(const std::string& known, milliseconds round_trip, std::vector<std::string> sources,
                   int per_second) {
  TestMesh mesh;
  std::atomic<std::uint64_t> dropped{0};
  mesh.config(0).on_dropped = [&](std::uint64_t total) { dropped = total; };
  const DelayRelay relay(mesh.config(0).listen_port, kPeers, round_trip / 2);
  for (auto& peer : mesh.config(0).peers) peer.host = known;
  for (const int party : {1, 2}) mesh.config(party).peers[0].port = relay.port();
  for (int party = 0; party < kParties; ++party) mesh.config(party).start_timeout = kPatience;
  const Flood flood(mesh.config(0).listen_port, std::move(sources), per_second / kSlower, kPatience);
  FloodedStart start;
  const auto work = [&](int party) {
    start.outcomes.at(static_cast<std::size_t>(party)) =
        RunParty(mesh.config(party), [party](MeshTransport& transport) {
          transport.Send((party + 1) % kParties, Bytes(3));
          (void)transport.Receive((party + 2) % kParties, 3);
        });
  };
  std::thread zero(work, 0);
  // The peers come when the flood has filled the places that party 0 has.
  const auto end = std::chrono::steady_clock::now() + kPatience / 2;
  while (dropped == 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
  std::thread one(work, 1);
  work(2);
  one.join();
  zero.join();
  start.dropped = dropped;
  start.logged = mesh.Logged("0: dropped connections that were not through with their handshake: ");
  start.opened = flood.opened();
  return start;
}

void ExpectStarted(const FloodedStart& start) {
  for (const auto& outcome : start.outcomes) EXPECT_EQ(outcome.kind, Outcome::Kind::kDone) << outcome.text;
  EXPECT_GT(start.opened, 100 / kSlower);
  EXPECT_GT(start.dropped, 0U);
  EXPECT_TRUE(start.logged);
}

std::vector<std::string> Addresses(int count) {
  std::vector<std::string> addresses;
  for (int i = 1; i <= count; ++i) addresses.push_back("127.0.2." + std::to_string(i));
  return addresses;
}

TEST(MeshFlood, OneAddressDoesNotKeepPeersOutAt80Milliseconds) {
  ExpectStarted(Start(kPeers, milliseconds(80), Addresses(1), 1500));
}

TEST(MeshFlood, OneAddressDoesNotKeepPeersOutAt200Milliseconds) {
  ExpectStarted(Start(kPeers, milliseconds(200), Addresses(1), 600));
}

// As behind a translation of addresses, which the party file does not name.
TEST(MeshFlood, OneAddressDoesNotKeepPeersOutWhoseAddressIsNotKnown) {
  ExpectStarted(Start("127.0.0.9", milliseconds(80), Addresses(1), 1500));
}

TEST(MeshFlood, FortyAddressesDoNotKeepPeersOutWhoseAddressIsNotKnown) {
  ExpectStarted(Start("127.0.0.9", milliseconds(80), Addresses(40), 1500));
}

TEST(MeshFlood, TwoHundredAddressesDoNotKeepKnownPeersOut) {
  ExpectStarted(Start(kPeers, milliseconds(80), Addresses(200), 1500));
}

}  // namespace
}  // namespace trefoil::net
