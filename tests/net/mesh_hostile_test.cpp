// What somebody may do on the network who can reach a port, or stands between two parties: refused, and the
// real peers get in.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
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

/// Party 0 waits; `hostile` does its worst; then the real peers come, and all three must be able to work.
class MeshHostile : public testing::Test {
 protected:
  void Attack(const std::function<void(std::uint16_t port)>& hostile) {
    std::thread zero([this] { Work(0); });
    hostile(mesh_.config(0).listen_port);
    std::thread one([this] { Work(1); });
    Work(2);
    one.join();
    zero.join();
    for (const auto& outcome : outcomes_) EXPECT_EQ(outcome.kind, Outcome::Kind::kDone) << outcome.text;
  }

  /// Lines of party 0 that have `part` in them.
  std::size_t CountLogged(const std::string& part) {
    const auto lines = mesh_.Lines();
    return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const auto& line) {
      return line.starts_with("0: ") && line.find(part) != std::string::npos;
    }));
  }

  Hello HelloOf2() {
    return {.sender = 2, .receiver = 0, .job = HashJob(mesh_.config(0).job_json), .pins = TestMesh::Pins()};
  }

  TestMesh mesh_;

 private:
  void Work(int party) {
    outcomes_.at(static_cast<std::size_t>(party)) =
        RunParty(mesh_.config(party), [&](MeshTransport& transport) {
          transport.Send((party + 1) % kParties, Bytes(3));
          (void)transport.Receive((party + 2) % kParties, 3);
        });
  }

  std::array<Outcome, kParties> outcomes_;
};

std::size_t ResidentKib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t value = 0;
    if (word == "VmRSS:" && status >> value) return value;
  }
  return 0;
}

/// How many the other side has not closed.
std::size_t CountOpen(const std::vector<std::unique_ptr<RawConnection>>& connections) {
  return static_cast<std::size_t>(std::count_if(connections.begin(), connections.end(), [](const auto& one) {
    std::array<char, 4096> buffer{};
    ssize_t count = 1;
    while (count > 0) count = recv(one->fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    return count < 0 && errno == EAGAIN;
  }));
}

TEST_F(MeshHostile, AThousandConnectionsCostLittleMemoryAndOneLine) {
  // A thousand connections take a sanitizer some seconds.
  for (int party = 0; party < kParties; ++party) mesh_.config(party).start_timeout = std::chrono::seconds(60);
  Attack([&](std::uint16_t port) {
    std::vector<std::unique_ptr<RawConnection>> connections;
    // Once it listens, so that what it needs by itself is not counted.
    connections.push_back(std::make_unique<RawConnection>(port));
    [[maybe_unused]] const auto before = ResidentKib();
    for (int i = 0; i < 999; ++i) {
      connections.push_back(std::make_unique<RawConnection>(port));
      if (i % 3 == 1) connections.back()->Write("garbage garbage garbage garbage");
      if (i % 3 == 2) connections.back()->Write("\x16\x03\x01\x40");  // a record that is never ended
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(40);
    while (CountOpen(connections) > HalfOpenConnections::kPerPeer && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(milliseconds(5));
    EXPECT_LE(CountOpen(connections), HalfOpenConnections::kPerPeer);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose own memory would be counted
    // A TLS session that waits takes some 200 KiB, most of it for what arrives; a thousand of them would take
    // 200 MiB, the 64 that may wait 12.
    EXPECT_LT(ResidentKib(), before + 20 * 1024);
#endif
    EXPECT_EQ(CountLogged("refused a connection"), 1U);
  });
}

TEST_F(MeshHostile, AFrameThatAnnouncesTooMuchIsRefusedBeforeItIsRead) {
  Attack([&](std::uint16_t port) {
    const auto before = ResidentKib();
    RawLink link(port, TestMesh::IdentityOf(2));
    link.Send({.type = FrameType::kHello, .length = std::uint64_t{1} << 31}, EncodeHello(HelloOf2()));
    EXPECT_EQ(link.ReceiveFrame().header.type, FrameType::kHello);
    EXPECT_THROW((void)link.ReceiveFrame(), std::runtime_error);
    EXPECT_LT(ResidentKib(), before + 20 * 1024);
    EXPECT_TRUE(mesh_.WaitForLog("frame of 2147483648 bytes, at most 1048576 expected"));
  });
}

TEST_F(MeshHostile, AFrameThatIsCutShortIsRefused) {
  Attack([&](std::uint16_t port) {
    {
      RawLink link(port, TestMesh::IdentityOf(2));
      link.Send({.type = FrameType::kHello, .length = 200}, EncodeHello(HelloOf2()));
      EXPECT_EQ(link.ReceiveFrame().header.type, FrameType::kHello);
    }
    EXPECT_TRUE(mesh_.WaitForLog("0: party 2: "));
  });
}

TEST_F(MeshHostile, AHandshakeInAnEstablishedSessionIsRefused) {
  Attack([&](std::uint16_t port) {
    RawLink link(port, TestMesh::IdentityOf(2));
    EXPECT_EQ(link.ReceiveFrame().header.type, FrameType::kHello);
    // A ClientHello's record where only encrypted ones may come: what TLS 1.2 would take for a renegotiation.
    link.WriteBelowTls(std::string("\x16\x03\x03\x00\x04\x01\x00\x00\x00", 9));
    EXPECT_THROW((void)link.ReceiveFrame(), std::runtime_error);
    EXPECT_TRUE(mesh_.WaitForLog("0: party 2: "));
  });
}

/// Passes one connection on to a port, and keeps what its client sent.
class Recorder {
 public:
  explicit Recorder(std::uint16_t target) : target_(target), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener_, 1) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0)
      throw std::runtime_error("recorder: no port");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Pass(); });
  }
  ~Recorder() { close(listener_); }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Once the client has closed its connection.
  [[nodiscard]] std::string Recorded() {
    thread_.join();
    return recorded_;
  }

 private:
  void Pass() {
    const int client = accept(listener_, nullptr, nullptr);
    RawConnection server(target_);
    std::thread back([&] { Copy(server.fd(), client, nullptr); });
    Copy(client, server.fd(), &recorded_);
    shutdown(server.fd(), SHUT_RDWR);
    back.join();
    close(client);
  }
  static void Copy(int from, int to, std::string* kept) {
    std::array<char, 4096> buffer{};
    for (ssize_t count = 0; (count = recv(from, buffer.data(), buffer.size(), 0)) > 0;) {
      const std::string bytes(buffer.data(), static_cast<std::size_t>(count));
      if (kept != nullptr) *kept += bytes;
      if (send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
    }
  }

  std::uint16_t target_;
  std::uint16_t port_ = 0;
  int listener_;
  std::string recorded_;
  std::thread thread_;
};

TEST_F(MeshHostile, AReplayedSessionIsRefused) {
  Attack([&](std::uint16_t port) {
    Recorder recorder(port);
    {
      RawLink link(recorder.port(), TestMesh::IdentityOf(2));
      link.SendNext(FrameType::kHello, EncodeHello(HelloOf2()));
      EXPECT_EQ(link.ReceiveFrame().header.type, FrameType::kHello);
      EXPECT_TRUE(mesh_.WaitForLog("0: party 2: connected"));
    }
    const auto session = recorder.Recorded();
    ASSERT_GT(session.size(), 500U);
    EXPECT_TRUE(mesh_.WaitForLog("0: party 2: closed the connection; waiting for it again"));

    RawConnection replay(port);
    replay.Write(session);
    EXPECT_TRUE(replay.IsClosedByPeer());
    EXPECT_TRUE(mesh_.WaitForLog("0: refused a connection from 127.0.0.1: TLS: "));
    EXPECT_EQ(CountLogged("party 2: connected"), 1U);
  });
}

// Party 2 is led to party 1 where it expects party 0: a certificate that it has pinned, but another party's.
TEST(MeshWrongParty, TheRightCertificateOfTheWrongPartyIsRefused) {
  TestMesh mesh;
  mesh.config(1).start_timeout = milliseconds(900);
  mesh.config(2).start_timeout = milliseconds(700);
  mesh.config(2).peers[0].port = mesh.config(1).listen_port;

  const auto outcomes = RunParties(mesh, {1, 2}, [](int, MeshTransport&) {});

  EXPECT_EQ(outcomes[2].kind, Outcome::Kind::kNetwork);
  EXPECT_EQ(outcomes[2].peer, 0);
  EXPECT_NE(outcomes[2].text.find("its certificate is not a pinned one"), std::string::npos)
      << outcomes[2].text;
  EXPECT_EQ(outcomes[1].peer, 0);
}

}  // namespace
}  // namespace trefoil::net
