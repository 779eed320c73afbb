#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "mesh_testing.h"
#include "net/mesh/mesh.h"
#include "raw_party.h"

namespace trefoil::net {
namespace {

using std::chrono::milliseconds;
using namespace testing_support;  // NOLINT: the vocabulary of these tests

class MeshOrder : public testing::TestWithParam<std::array<int, kParties>> {};

TEST_P(MeshOrder, DoesNotMatter) {
  TestMesh mesh;
  std::array<Outcome, kParties> outcomes;
  std::vector<std::thread> threads;
  for (const int party : GetParam()) {
    threads.emplace_back([&, party] {
      outcomes[static_cast<std::size_t>(party)] = RunParty(mesh.config(party), [&](MeshTransport& transport) {
        transport.Send((party + 1) % kParties, Bytes(3));
        (void)transport.Receive((party + 2) % kParties, 3);
      });
    });
    std::this_thread::sleep_for(milliseconds(120));
  }
  for (auto& thread : threads) thread.join();

  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.kind, Outcome::Kind::kDone) << outcome.text;
}

INSTANTIATE_TEST_SUITE_P(Orders, MeshOrder,
                         testing::Values(std::array{0, 1, 2}, std::array{0, 2, 1}, std::array{1, 0, 2},
                                         std::array{1, 2, 0}, std::array{2, 0, 1}, std::array{2, 1, 0}),
                         [](const auto& test) {
                           return "Order" + std::to_string(test.param[0]) + std::to_string(test.param[1]) +
                                  std::to_string(test.param[2]);
                         });

TEST(MeshStart, NamesThePeerThatCannotBeReached) {
  TestMesh mesh;
  mesh.config(1).start_timeout = milliseconds(400);

  const Outcome outcome = RunParty(mesh.config(1), [](MeshTransport&) {});

  EXPECT_EQ(outcome.kind, Outcome::Kind::kNetwork);
  EXPECT_EQ(outcome.peer, 0);
  EXPECT_EQ(outcome.text, "party 0: not reached at 127.0.0.1:" + std::to_string(mesh.config(0).listen_port) +
                              " within 400 ms (timeouts.start): connection refused");
  EXPECT_LT(outcome.seconds_since_start, milliseconds(2500));
}

TEST(MeshStart, NamesThePeerThatDoesNotConnect) {
  TestMesh mesh;
  mesh.config(0).start_timeout = milliseconds(400);
  mesh.config(1).start_timeout = milliseconds(3000);

  const auto outcomes = RunParties(mesh, {0, 1}, [](int, MeshTransport&) {});

  EXPECT_EQ(outcomes[0].peer, 2);
  EXPECT_NE(outcomes[0].text.find("not connected to this party within 400 ms (timeouts.start)"),
            std::string::npos)
      << outcomes[0].text;
  EXPECT_EQ(outcomes[1].kind, Outcome::Kind::kNetwork);
  EXPECT_EQ(outcomes[1].peer, 2);  // party 0 is missing by then, too, but it was there
}

// Whoever waits longer sees the other give up; the one to look for is still the one that never came.
TEST(MeshStart, NamesThePeerThatNeverCameNotTheOneThatGaveUp) {
  for (const int first : {0, 2}) {
    TestMesh mesh;
    mesh.config(first).start_timeout = milliseconds(400);
    mesh.config(2 - first).start_timeout = milliseconds(1500);

    const auto outcomes = RunParties(mesh, {0, 2}, [](int, MeshTransport&) {});

    EXPECT_TRUE(
        mesh.Logged("party " + std::to_string(first) + ": closed the connection; waiting for it again"));
    for (const int party : {0, 2}) {
      const Outcome& outcome = outcomes[static_cast<std::size_t>(party)];
      EXPECT_EQ(outcome.kind, Outcome::Kind::kNetwork) << outcome.text;
      EXPECT_EQ(outcome.peer, 1) << outcome.text;
      EXPECT_NE(outcome.text.find(" (timeouts.start)"), std::string::npos) << outcome.text;
    }
  }
}

TEST(MeshStart, NamesTheFirstKeyInWhichJobsDifferAtBothSides) {
  TestMesh mesh;
  mesh.config(1).job_json = R"({"name":"test","privacy":{"epsilon":1.0}})";

  const auto outcomes = RunParties(mesh, {0, 1}, [](int, MeshTransport&) {});

  EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kConfig);
  EXPECT_EQ(outcomes[0].text, "privacy.epsilon: 3.0 here, 1.0 at party 1");
  EXPECT_EQ(outcomes[1].kind, Outcome::Kind::kConfig);
  EXPECT_EQ(outcomes[1].text, "privacy.epsilon: 1.0 here, 3.0 at party 0");
}

TEST(MeshStart, AJobMismatchEndsTheThirdPartyToo) {
  TestMesh mesh;
  mesh.config(2).job_json = "{}";

  std::array<Outcome, kParties> outcomes;
  std::thread early([&] { outcomes = RunParties(mesh, {0, 1}, [](int, MeshTransport&) {}); });
  EXPECT_TRUE(mesh.WaitForLog("0: party 1: connected"));
  EXPECT_TRUE(mesh.WaitForLog("1: party 0: connected"));
  const Outcome late = RunParty(mesh.config(2), [](MeshTransport&) {});
  early.join();
  outcomes[2] = late;

  for (const auto& outcome : outcomes) {
    EXPECT_NE(outcome.kind, Outcome::Kind::kDone);
    EXPECT_LT(outcome.seconds_since_start, milliseconds(5000));
  }
  EXPECT_EQ(outcomes[2].kind, Outcome::Kind::kConfig) << outcomes[2].text;
}

// Whoever sits between parties 0 and 1 has given its own certificate to each as the other's, and says to each
// what it takes to be right. Party 2 has the true ones.
TEST(MeshStart, FindsACertificateThatWasPutBetweenTwoParties) {
  TestMesh mesh;
  mesh.config(0).peers[0].certificate_pem = TestMesh::Stranger().certificate_pem;
  std::array<Outcome, kParties> outcomes;
  std::vector<std::thread> threads;
  for (const std::size_t party : {0U, 2U}) {
    threads.emplace_back([&, party] {
      outcomes[party] = RunParty(mesh.config(static_cast<int>(party)), [](MeshTransport&) {});
    });
  }
  try {
    RawLink between(mesh.config(0).listen_port, TestMesh::Stranger());
    Hello hello{
        .sender = 1, .receiver = 0, .job = HashJob(mesh.config(0).job_json), .pins = TestMesh::Pins()};
    hello.pins[1] = HashCertificate(TestMesh::Stranger().certificate_pem);
    between.SendNext(FrameType::kHello, EncodeHello(hello));
  } catch (const std::runtime_error&) {  // NOLINT(bugprone-empty-catch): party 0 has ended, warned by party 2
  }
  for (auto& thread : threads) thread.join();

  const std::string truth = Fingerprint(TestMesh::IdentityOf(1).certificate_pem);
  const std::string false_one = Fingerprint(TestMesh::Stranger().certificate_pem);
  for (const std::size_t party : {0U, 2U}) EXPECT_EQ(outcomes[party].kind, Outcome::Kind::kConfig);
  EXPECT_EQ(outcomes[0].text.find("party 2: knows party 1 by the certificate " + truth + ", here it is " +
                                  false_one),
            0U)
      << outcomes[0].text;
  EXPECT_EQ(outcomes[2].text.find("party 0: knows party 1 by the certificate " + false_one + ", here it is " +
                                  truth),
            0U)
      << outcomes[2].text;
}

struct WrongHello {
  std::string name;
  Hello hello;
  std::string text;
};

class MeshWrongHello : public testing::TestWithParam<WrongHello> {};

TEST_P(MeshWrongHello, IsAConfigurationErrorThatSaysWhatIsWrong) {
  TestMesh mesh;
  Outcome outcome;
  std::thread party([&] { outcome = RunParty(mesh.config(0), [](MeshTransport&) {}); });

  RawLink link(mesh.config(0).listen_port, TestMesh::IdentityOf(1));
  link.SendNext(FrameType::kHello, EncodeHello(GetParam().hello));
  party.join();

  EXPECT_EQ(outcome.kind, Outcome::Kind::kConfig);
  EXPECT_NE(outcome.text.find(GetParam().text), std::string::npos) << outcome.text;
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, MeshWrongHello,
    testing::Values(WrongHello{"Version", {.version = 8, .sender = 1, .receiver = 0}, "version 8"},
                    WrongHello{"Sender", {.sender = 2, .receiver = 0}, "says that it is party 2"},
                    WrongHello{"Receiver", {.sender = 1, .receiver = 2}, "takes this party for"}),
    [](const auto& test) { return test.param.name; });

// A first party 2 greets party 0 and is gone when party 0 has told party 1 of a session with it; the second
// one gets in.
TEST(MeshStart, WaitsAgainForAPeerThatIsRestarted) {
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
  {
    RawLink link(mesh.config(0).listen_port, TestMesh::IdentityOf(2));
    const Hello hello{
        .sender = 2, .receiver = 0, .job = HashJob(mesh.config(0).job_json), .pins = TestMesh::Pins()};
    link.SendNext(FrameType::kHello, EncodeHello(hello));
    EXPECT_EQ(link.ReceiveFrame().header.type, FrameType::kHello);
    EXPECT_EQ(link.ReceiveFrame().header.type, FrameType::kReady);
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_TRUE(mesh.WaitForLog("waiting for it again"));
  run(2);
  zero.join();
  one.join();

  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.kind, Outcome::Kind::kDone) << outcome.text;
}

TEST(MeshStart, RefusesAConfigurationThatCannotWork) {
  const auto expect_refused = [](const std::function<void(MeshConfig&)>& spoil) {
    TestMesh mesh;
    spoil(mesh.config(1));
    EXPECT_THROW((void)ConnectMesh(mesh.config(1)), ConfigError);
  };
  expect_refused([](MeshConfig& config) { config.self = 3; });
  expect_refused([](MeshConfig& config) { config.self = 0; });
  expect_refused([](MeshConfig& config) { config.peer_timeout = milliseconds(0); });
  expect_refused([](MeshConfig& config) { config.job_json.assign((1U << 20) + 1, ' '); });
  expect_refused([](MeshConfig& config) { config.peers[0].certificate_pem = "garbage"; });
  expect_refused(
      [](MeshConfig& config) { config.peers[0].certificate_pem = config.peers[1].certificate_pem; });
  expect_refused(
      [](MeshConfig& config) { config.peers[0].certificate_pem = config.identity.certificate_pem; });
  expect_refused(
      [](MeshConfig& config) { config.identity.private_key_pem = TestMesh::Stranger().private_key_pem; });
  expect_refused([](MeshConfig& config) { config.listen_host = "192.0.2.1"; });  // an address of nobody's
}

// A party that cannot begin says why to those who wait for it, whichever of the three it is.
class RefuseMeshTest : public testing::TestWithParam<int> {};

TEST_P(RefuseMeshTest, TellsBothPeersWhy) {
  const int refuser = GetParam();
  TestMesh mesh;
  std::array<bool, kParties> told{};
  const std::jthread thread(
      [&] { told = RefuseMesh(mesh.config(refuser), {.code = AbortCode::kData}, milliseconds(4000)); });
  std::vector<int> others;
  for (int party = 0; party < kParties; ++party) {
    if (party != refuser) others.push_back(party);
  }
  const auto outcomes = RunParties(mesh, others, [](int, MeshTransport&) {});

  for (const int party : others) {
    const auto& outcome = outcomes[static_cast<std::size_t>(party)];
    EXPECT_EQ(outcome.kind, Outcome::Kind::kNetwork);
    EXPECT_EQ(outcome.peer, refuser);
    EXPECT_EQ(outcome.text, "party " + std::to_string(refuser) + ": " + Describe(AbortCode::kData));
    EXPECT_LT(outcome.seconds_since_start, milliseconds(3000));
  }
}

INSTANTIATE_TEST_SUITE_P(Parties, RefuseMeshTest, testing::Values(0, 1, 2));

TEST(RefuseMesh, WaitsNoLongerThanItsLimitForAPeerThatDoesNotCome) {
  TestMesh mesh;
  std::array<bool, kParties> told{};
  const auto begin = std::chrono::steady_clock::now();
  {
    const std::jthread thread(
        [&] { told = RefuseMesh(mesh.config(1), {.code = AbortCode::kMemory}, milliseconds(1000)); });
    const auto outcome = RunParties(mesh, {0}, [](int, MeshTransport&) {})[0];
    EXPECT_EQ(outcome.text, std::string("party 1: ") + Describe(AbortCode::kMemory));
  }
  EXPECT_EQ(told, (std::array{true, false, false}));
  const auto seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(seconds, milliseconds(1000));
  EXPECT_LT(seconds, milliseconds(3500));
}

}  // namespace
}  // namespace trefoil::net
