#include "raw_party.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "mesh_testing.h"
#include "net/certificates/pem.h"

namespace trefoil::net::testing_support {
namespace {

// The party under test may still be opening its port.
int ConnectTo(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  for (int attempt = 0; attempt < 500; ++attempt) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
    close(fd);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw std::runtime_error("raw connection: nobody listens");
}

void Check(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("raw link: ") + what);
}

}  // namespace

RawConnection::RawConnection(std::uint16_t port) : fd_(ConnectTo(port)) {
  const timeval limit{.tv_sec = 5, .tv_usec = 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

RawConnection::~RawConnection() { close(fd_); }

void RawConnection::Write(const std::string& text) {
  (void)!send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
}

bool RawConnection::IsClosedByPeer() {
  std::array<char, 4096> buffer{};
  ssize_t count = 1;
  while (count > 0) count = recv(fd_, buffer.data(), buffer.size(), 0);
  return count == 0 || errno == ECONNRESET;
}

RawLink::RawLink(std::uint16_t port, const Identity& identity, int tls_version)
    : connection_(port), context_(SSL_CTX_new(TLS_client_method())) {
  // OpenSSL writes to a connection that the party under test may have closed: an error, not the end of the
  // test.
  std::signal(SIGPIPE, SIG_IGN);
  SSL_CTX_set_min_proto_version(context_.get(), tls_version);
  SSL_CTX_set_max_proto_version(context_.get(), tls_version);
  if (!identity.certificate_pem.empty()) {
    SSL_CTX_use_certificate(context_.get(), ReadCertificate(identity.certificate_pem).get());
    SSL_CTX_use_PrivateKey(context_.get(), ReadPrivateKey(identity.private_key_pem).get());
  }
  ssl_.reset(SSL_new(context_.get()));
  SSL_set_fd(ssl_.get(), connection_.fd());
  Check(SSL_connect(ssl_.get()) == 1, "TLS handshake failed");
  reader_.LimitPayload(kMaxPayloadBytes);
}

void RawLink::Send(FrameHeader header, const Bytes& payload) {
  if (header.length == 0) header.length = payload.size();
  const auto head = EncodeHeader(header);
  Bytes bytes(head.begin(), head.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  Check(SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0, "write failed");
}

void RawLink::SendNext(FrameType type, const Bytes& payload) {
  Send({.type = type, .sequence = sequence++, .session = session}, payload);
}

Frame RawLink::ReceiveFrame() {
  while (true) {
    const auto space = reader_.Space();
    const int count = SSL_read(ssl_.get(), space.data(), static_cast<int>(space.size()));
    Check(count > 0, "end of stream");
    auto frame = reader_.Filled(static_cast<std::size_t>(count));
    if (frame && frame->header.type != FrameType::kHeartbeat) return *std::move(frame);
  }
}

void RawLink::CloseNotify() { SSL_shutdown(ssl_.get()); }

RawParty2::RawParty2(std::uint16_t port0, std::uint16_t port1, const Identity& identity,
                     const std::string& job_json, std::array<bool, 2> ready)
    : to0(port0, identity), to1(port1, identity) {
  Hello hello{.sender = 2, .job = HashJob(job_json), .pins = TestMesh::Pins()};
  hello.nonce[0] = 22;
  std::array<Nonce, kParties> nonces{};
  nonces[2] = hello.nonce;
  RawLink* const links[] = {&to0, &to1};
  for (int peer = 0; peer < 2; ++peer) {
    hello.receiver = peer;
    links[peer]->SendNext(FrameType::kHello, EncodeHello(hello));
    nonces[static_cast<std::size_t>(peer)] = DecodeHello(links[peer]->ReceiveFrame().payload).nonce;
  }
  const SessionId agreed = MakeSession(nonces);
  for (std::size_t peer = 0; peer < 2; ++peer) {
    if (!ready[peer]) continue;
    links[peer]->session = agreed;
    links[peer]->SendNext(FrameType::kReady, {});
  }
  for (RawLink* link : links) Check(link->ReceiveFrame().header.session == agreed, "another session");
}

}  // namespace trefoil::net::testing_support
