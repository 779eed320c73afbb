#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "mesh_testing.h"
#include "net/mesh/mesh.h"
#include "net/start/listener.h"
#include "raw_party.h"

namespace trefoil::net {
namespace {

using std::chrono::milliseconds;
using namespace testing_support;  // NOLINT: the vocabulary of these tests

// Party 0 waits; a stranger does its worst; then the real peers come and all three must be able to work.
void ExpectRefusedAndThenConnected(const std::function<void(TestMesh&, std::uint16_t)>& stranger,
                                   const std::string& logged) {
  TestMesh mesh;
  std::array<Outcome, kParties> outcomes;
  const auto run = [&](int party) {
    outcomes[static_cast<std::size_t>(party)] = RunParty(mesh.config(party), [&](MeshTransport& transport) {
      transport.Send((party + 1) % kParties, Bytes(3));
      (void)transport.Receive((party + 2) % kParties, 3);
    });
  };
  std::thread zero(run, 0);
  stranger(mesh, mesh.config(0).listen_port);
  EXPECT_TRUE(mesh.WaitForLog(logged)) << logged;
  std::thread one(run, 1);
  run(2);
  one.join();
  zero.join();

  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.kind, Outcome::Kind::kDone) << outcome.text;
}

TEST(MeshStrangers, PlainTextIsRefused) {
  ExpectRefusedAndThenConnected(
      [](TestMesh&, std::uint16_t port) {
        RawConnection connection(port);
        connection.Write("GET / HTTP/1.0\r\n\r\n");
        EXPECT_TRUE(connection.IsClosedByPeer());
      },
      "refused a connection from 127.0.0.1: TLS: ");
}

TEST(MeshStrangers, APortScanIsRefused) {
  ExpectRefusedAndThenConnected([](TestMesh&, std::uint16_t port) { const RawConnection connection(port); },
                                "refused a connection from 127.0.0.1: closed the connection");
}

TEST(MeshStrangers, AWrongCertificateIsRefused) {
  ExpectRefusedAndThenConnected(
      [](TestMesh&, std::uint16_t port) {
        RawLink link(port, TestMesh::Stranger());
        EXPECT_THROW((void)link.ReceiveFrame(), std::runtime_error);
      },
      "refused a connection from 127.0.0.1: its certificate is not a pinned one");
}

TEST(MeshStrangers, NoCertificateIsRefused) {
  ExpectRefusedAndThenConnected(
      [](TestMesh&, std::uint16_t port) {
        RawLink link(port, {});
        EXPECT_THROW((void)link.ReceiveFrame(), std::runtime_error);
      },
      "refused a connection from 127.0.0.1: it showed no certificate");
}

TEST(MeshStrangers, Tls12IsRefusedEvenWithTheRightCertificate) {
  ExpectRefusedAndThenConnected(
      [](TestMesh&, std::uint16_t port) {
        EXPECT_THROW(RawLink(port, TestMesh::IdentityOf(1), TLS1_2_VERSION), std::runtime_error);
      },
      "refused a connection from 127.0.0.1: it does not speak TLS 1.3");
}

TEST(MeshStrangers, AreLoggedOncePerMinute) {
  TestMesh mesh;
  mesh.config(0).start_timeout = milliseconds(700);
  std::thread zero([&] { (void)RunParty(mesh.config(0), [](MeshTransport&) {}); });
  for (int i = 0; i < 20; ++i) {
    RawConnection connection(mesh.config(0).listen_port);
    connection.Write("garbage garbage garbage");
    EXPECT_TRUE(connection.IsClosedByPeer());
  }
  zero.join();

  int lines = 0;
  for (const auto& line : mesh.Lines()) lines += line.find("refused") != std::string::npos ? 1 : 0;
  EXPECT_EQ(lines, 1);
}

TEST(MeshStrangers, SlowHandshakesAndGreetingsAreGivenUpInTheTimeOfThePartyFile) {
  TestMesh mesh;
  mesh.config(0).start_timeout = milliseconds(1500);
  mesh.config(0).handshake_timeout = milliseconds(200);
  const std::jthread zero([&] { (void)RunParty(mesh.config(0), [](MeshTransport&) {}); });
  RawConnection silent(mesh.config(0).listen_port);
  EXPECT_TRUE(silent.IsClosedByPeer());
  RawLink dumb(mesh.config(0).listen_port, TestMesh::IdentityOf(1));
  EXPECT_TRUE(mesh.WaitForLog(
      "refused a connection from 127.0.0.1: no TLS handshake within 200 ms (timeouts.handshake)"));
  EXPECT_TRUE(mesh.WaitForLog("party 1: no greeting within 200 ms (timeouts.handshake)"));
}

// More idle connections than are allowed to be half open: some are dropped, and the real peers, who come from
// the same address, get in all the same.
TEST(MeshStrangers, ManyIdleConnectionsDoNotKeepPeersOut) {
  std::vector<std::unique_ptr<RawConnection>> idle;
  ExpectRefusedAndThenConnected(
      [&](TestMesh&, std::uint16_t port) {
        for (std::size_t i = 0; i < HalfOpenConnections::kPerPeer + 6; ++i)
          idle.push_back(std::make_unique<RawConnection>(port));
      },
      "dropped connections that were not through with their handshake: ");
}

TEST(MeshStrangers, AServerWithAnotherCertificateIsNotTrusted) {
  TestMesh mesh;
  mesh.config(1).start_timeout = milliseconds(600);
  mesh.config(1).peers[0].certificate_pem = TestMesh::Stranger().certificate_pem;
  mesh.config(0).start_timeout = milliseconds(800);

  const auto outcomes = RunParties(mesh, {0, 1}, [](int, MeshTransport&) {});

  EXPECT_EQ(outcomes[1].peer, 0);
  EXPECT_NE(outcomes[1].text.find("its certificate is not a pinned one"), std::string::npos)
      << outcomes[1].text;
  EXPECT_TRUE(mesh.Logged("0: refused a connection from 127.0.0.1: it refused this party's certificate"));
}

TEST(MeshStrangers, APartyThatIsNotTrustedIsTold) {
  TestMesh mesh;
  mesh.config(1).start_timeout = milliseconds(600);
  mesh.config(1).identity = TestMesh::Stranger();
  mesh.config(0).start_timeout = milliseconds(800);

  const auto outcomes = RunParties(mesh, {0, 1}, [](int, MeshTransport&) {});

  EXPECT_NE(outcomes[1].text.find("it refused this party's certificate"), std::string::npos)
      << outcomes[1].text;
}

}  // namespace
}  // namespace trefoil::net
