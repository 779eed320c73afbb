#include "net/start/half_open.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace trefoil::net {
namespace {

using Source = HalfOpenConnections::Source;

/// Connections that live until the test ends, and a table of them.
class HalfOpen : public ::testing::Test {
 protected:
  /// Opens one more; whether it has a place. What had to go for it is noted in `gone`.
  bool Open(const Source& source, std::uint64_t draw = 0) {
    const auto out = table.MakeRoom(source, draw);
    if (out) gone = out->lock();
    if (out && !gone) return false;
    alive.push_back(std::make_shared<int>(0));
    table.Add(source, alive.back());
    return true;
  }
  /// A stranger's address, another one for each number.
  static Source Stranger(std::size_t number) {
    return {.address = "10.0." + std::to_string(number / 250) + "." + std::to_string(number % 250)};
  }
  /// Opens as many as there are places for, of the same address.
  void Fill(const Source& source, std::size_t places) {
    for (std::size_t i = 0; i < places; ++i) ASSERT_TRUE(Open(source)) << i;
    ASSERT_EQ(gone, nullptr);
  }

  HalfOpenConnections table;
  std::vector<std::shared_ptr<void>> alive;
  std::shared_ptr<void> gone;
};

constexpr std::uint64_t kNoDraw = 0;

TEST_F(HalfOpen, AnAddressTakesItsOwnPlacesOnly) {
  Fill(Stranger(1), HalfOpenConnections::kPerStranger);
  EXPECT_FALSE(table.MakeRoom(Stranger(2), 3).has_value());
  EXPECT_TRUE(Open(Stranger(1), 3));
  EXPECT_EQ(gone, alive[3]);
  EXPECT_FALSE(Open(Stranger(1), HalfOpenConnections::kPerStranger));  // the new one is drawn
}

TEST_F(HalfOpen, StrangersNeverTakeAPeersPlace) {
  const Source peer{.address = "192.168.0.1", .of_peer = true};
  Fill(peer, HalfOpenConnections::kPerPeer);
  for (std::size_t i = 0; i < 1000; ++i) {
    gone = nullptr;
    (void)Open(Stranger(i), i * 7919);
    for (std::size_t k = 0; k < HalfOpenConnections::kPerPeer; ++k) ASSERT_NE(gone, alive[k]) << i;
  }
  const Source other{.address = "192.168.0.2", .of_peer = true};
  EXPECT_FALSE(table.MakeRoom(other, kNoDraw).has_value());
}

TEST_F(HalfOpen, WhoHoldsTheMostGivesWay) {
  for (std::size_t i = 0; i < 4; ++i) Fill(Stranger(i), HalfOpenConnections::kPerStranger);
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    const auto out = table.MakeRoom(Stranger(9), draw * 31);
    ASSERT_TRUE(out && out->lock()) << "the only one of its address stays";
    alive.push_back(std::make_shared<int>(0));
    table.Add(Stranger(draw % 4), alive.back());
  }
}

TEST_F(HalfOpen, OfManyWithOneEachAnyMayGo) {
  for (std::size_t i = 0; i < HalfOpenConnections::kStrangers; ++i) Fill(Stranger(i), 1);
  EXPECT_TRUE(Open(Stranger(999), 17));
  EXPECT_EQ(gone, alive[17]);
  EXPECT_FALSE(Open(Stranger(998), HalfOpenConnections::kStrangers));
}

TEST_F(HalfOpen, AStrangersNetworkOfIpv6IsOneSource) {
  for (std::size_t i = 0; i < HalfOpenConnections::kPerStranger; ++i)
    ASSERT_TRUE(Open({.address = "2001:db8:1:2::" + std::to_string(i)}));
  EXPECT_TRUE(table.MakeRoom({.address = "2001:db8:1:2:ffff::1"}, kNoDraw).has_value());
  EXPECT_FALSE(table.MakeRoom({.address = "2001:db8:1:3::1"}, kNoDraw).has_value());
  EXPECT_FALSE(table.MakeRoom({.address = "2001:db8:1:2::5", .of_peer = true}, kNoDraw).has_value());
}

TEST_F(HalfOpen, WhatEndedFreesItsPlace) {
  Fill(Stranger(1), HalfOpenConnections::kPerStranger);
  table.Remove(alive[0].get());
  EXPECT_FALSE(table.MakeRoom(Stranger(1), kNoDraw).has_value());
  ASSERT_TRUE(Open(Stranger(1)));
  alive[5].reset();
  EXPECT_FALSE(table.MakeRoom(Stranger(1), kNoDraw).has_value());
  EXPECT_EQ(table.TakeAll().size(), HalfOpenConnections::kPerStranger - 1);
  EXPECT_TRUE(table.TakeAll().empty());
}

// A peer behind an address that floods: it stays while 120 others arrive (80 ms at 1,500 a second) with
// probability (64/65)^120 = 0.1557. 4,000 trials: standard deviation 0.0057, five of them are allowed, so a
// false alarm has probability 6e-7 over the seeds.
TEST_F(HalfOpen, OneAmongAFloodFromItsOwnAddressStaysWithTheProbabilityOfTheContract) {
  const Source peer{.address = "192.168.0.1", .of_peer = true};
  std::uint64_t state = 20261122;
  const auto draw = [&state] {  // splitmix64
    std::uint64_t z = state += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  };
  constexpr int kTrials = 4000;
  constexpr int kOthers = 120;
  int stayed = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    (void)table.TakeAll();
    alive.clear();
    Fill(peer, HalfOpenConnections::kPerPeer);
    const std::weak_ptr<void> mine = alive.front();
    bool here = true;
    for (int i = 0; i < kOthers; ++i) {
      gone = nullptr;
      if (Open(peer, draw())) here = here && gone != mine.lock();
    }
    gone = nullptr;
    stayed += here ? 1 : 0;
  }
  const double expected = std::pow(64.0 / 65.0, kOthers);
  const double deviation = std::sqrt(expected * (1 - expected) / kTrials);
  EXPECT_NEAR(static_cast<double>(stayed) / kTrials, expected, 5 * deviation);
}

}  // namespace
}  // namespace trefoil::net
