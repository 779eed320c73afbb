#pragma once
#include <array>
#include <string>

#include "net/certificates/certificate.h"
#include "net/link/frame_reader.h"
#include "net/link/openssl_handles.h"
#include "net/start/handshake.h"

namespace trefoil::net::testing_support {

/// A blocking TCP connection to a port of this machine, to be misused.
class RawConnection {
 public:
  explicit RawConnection(std::uint16_t port);
  ~RawConnection();
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  void Write(const std::string& text);
  /// Whether the other side closes (or resets) within five seconds, whatever it sends first.
  [[nodiscard]] bool IsClosedByPeer();
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

/// One end of a link in the hands of a test: TLS as a client with any identity, then frames as the test wants
/// them.
class RawLink {
 public:
  /// Throws std::runtime_error if the handshake fails. `tls_version` is OpenSSL's number, such as
  /// TLS1_2_VERSION.
  RawLink(std::uint16_t port, const Identity& identity, int tls_version = TLS1_3_VERSION);

  void Send(FrameHeader header, const Bytes& payload);
  /// Sends with the next sequence number and the current session.
  void SendNext(FrameType type, const Bytes& payload);
  /// The next frame that is no heartbeat. Throws std::runtime_error at the end of the stream.
  [[nodiscard]] Frame ReceiveFrame();
  void CloseNotify();
  /// Into the connection, past TLS.
  void WriteBelowTls(const std::string& bytes) { connection_.Write(bytes); }
  /// The next sequence number of SendNext.
  std::uint64_t sequence = 0;
  SessionId session{};

 private:
  RawConnection connection_;
  SslContextPtr context_;
  SslPtr ssl_;
  FrameReader reader_;
};

/// A whole party 2 in the hands of a test: linked to parties 0 and 1 and through the handshake. It says that
/// it is ready only to those of the two that `ready` has; the other one goes on waiting for that.
struct RawParty2 {
  RawParty2(std::uint16_t port0, std::uint16_t port1, const Identity& identity, const std::string& job_json,
            std::array<bool, 2> ready = {true, true});

  RawLink to0;
  RawLink to1;
};

}  // namespace trefoil::net::testing_support
