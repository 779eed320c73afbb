#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "net/mesh/mesh.h"
#include "tests/net/mesh_testing.h"

namespace trefoil::net {
namespace {

using std::chrono::milliseconds;
using namespace testing_support;  // NOLINT: the vocabulary of these tests

constexpr milliseconds kLong{5000};

TEST(CheckPeers, FindsTwoOthersThatCheck) {
  TestMesh mesh;
  std::array<std::array<PeerCheck, kParties - 1>, kParties> results;
  std::vector<std::thread> threads;
  for (int party = 0; party < kParties; ++party) {
    threads.emplace_back(
        [&, party] { results[static_cast<std::size_t>(party)] = CheckPeers(mesh.config(party), kLong); });
  }
  for (auto& thread : threads) thread.join();

  for (const auto& checks : results) {
    for (const auto& check : checks) {
      EXPECT_TRUE(check.ok()) << check.cause;
      EXPECT_EQ(check.cause, "");
      EXPECT_LT(std::abs(check.clock_difference.count()), 2000);
    }
  }
}

TEST(CheckPeers, ReportsPeersThatAreNotUp) {
  TestMesh mesh;
  mesh.config(0).peers[1].host = "no-such-host.invalid";

  const auto results = CheckPeers(mesh.config(0), milliseconds(500));

  EXPECT_EQ(results[0].peer, 1);
  EXPECT_TRUE(results[0].resolved);
  EXPECT_FALSE(results[0].connected);
  EXPECT_EQ(results[0].cause, "connection refused");
  EXPECT_EQ(results[1].peer, 2);
  EXPECT_FALSE(results[1].resolved);
  EXPECT_FALSE(results[1].cause.empty());
}

TEST(CheckPeers, NamesTheKeyInWhichTheJobsDiffer) {
  TestMesh mesh;
  mesh.config(1).job_json = R"({"name":"test","privacy":{"epsilon":1.0}})";
  std::array<PeerCheck, kParties - 1> other;
  std::thread one([&] { other = CheckPeers(mesh.config(1), milliseconds(1500)); });
  const auto results = CheckPeers(mesh.config(0), milliseconds(1500));
  one.join();

  EXPECT_TRUE(results[0].same_version);
  EXPECT_FALSE(results[0].ok());
  EXPECT_EQ(results[0].cause, "privacy.epsilon: 3.0 here, 1.0 at party 1");
  EXPECT_EQ(other[0].cause, "privacy.epsilon: 1.0 here, 3.0 at party 0");
}

TEST(CheckPeers, WorksWithoutAJob) {
  TestMesh mesh;
  mesh.config(0).job_json.clear();
  std::thread one([&] { (void)CheckPeers(mesh.config(1), milliseconds(1500)); });
  const auto results = CheckPeers(mesh.config(0), milliseconds(1500));
  one.join();

  EXPECT_TRUE(results[0].ok()) << results[0].cause;
}

TEST(CheckPeers, SaysThatACertificateIsNotTheRightOne) {
  TestMesh mesh;
  mesh.config(0).peers[0].certificate_pem = TestMesh::Stranger().certificate_pem;
  std::array<PeerCheck, kParties - 1> other;
  std::thread one([&] { other = CheckPeers(mesh.config(1), milliseconds(1200)); });
  const auto results = CheckPeers(mesh.config(0), milliseconds(1200));
  one.join();

  EXPECT_TRUE(results[0].connected);
  EXPECT_FALSE(results[0].secured);
  EXPECT_EQ(results[0].cause, "its certificate is not a pinned one");
  EXPECT_EQ(other[0].cause, "it refused this party's certificate");
}

// Parties 0 and 1 wait in a run; party 2 checks (both answer), another check as party 0 would be refused the
// port only; then party 2 runs and all three work.
TEST(CheckPeers, DoesNotDisturbPartiesThatWait) {
  TestMesh mesh;
  std::array<Outcome, kParties> outcomes;
  const auto run = [&](int party) {
    outcomes[static_cast<std::size_t>(party)] = RunParty(mesh.config(party), [&](MeshTransport& transport) {
      transport.Send((party + 1) % kParties, Bytes(3));
      (void)transport.Receive((party + 2) % kParties, 3);
    });
  };
  std::thread zero(run, 0);
  std::thread one(run, 1);
  EXPECT_TRUE(mesh.WaitForLog("0: party 1: connected"));

  const auto results = CheckPeers(mesh.config(2), kLong);
  for (const auto& check : results) EXPECT_TRUE(check.ok()) << check.cause;

  run(2);
  zero.join();
  one.join();
  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.kind, Outcome::Kind::kDone) << outcome.text;
}

// Party 2 of a run has no open port: party 0's check hears of it because party 2 dials.
TEST(CheckPeers, AnswersAPartyThatDialsFromARun) {
  TestMesh mesh;
  mesh.config(2).start_timeout = milliseconds(2500);
  std::thread two([&] { (void)RunParty(mesh.config(2), [](MeshTransport&) {}); });

  const auto results = CheckPeers(mesh.config(0), milliseconds(2000));
  two.join();

  EXPECT_FALSE(results[0].connected);
  EXPECT_TRUE(results[1].ok()) << results[1].cause;
}

TEST(CheckPeers, RefusesAConfigurationThatCannotWork) {
  TestMesh mesh;
  mesh.config(0).identity.certificate_pem = "garbage";

  EXPECT_THROW((void)CheckPeers(mesh.config(0), milliseconds(100)), ConfigError);
}

}  // namespace
}  // namespace trefoil::net
