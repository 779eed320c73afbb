#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>

#include "net/link/openssl_handles.h"
#include "net/link/tls_context.h"
#include "net/transport.h"

namespace trefoil::net {

/// A TLS connection failed; the text says why, in words for the operator.
class TlsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class TlsRole { kServer, kClient };

/// One TLS connection as a pure transformation of bytes: what the network brought goes into Space(), what the
/// network must carry comes out by TakeOutput (also after a failure: the alert). OpenSSL reads the one and
/// writes the other in place. Used by one thread.
class TlsSession {
 public:
  /// Plain text that goes into one record.
  static constexpr std::size_t kRecordBytes = std::size_t{1} << 14;

  TlsSession(std::shared_ptr<const TlsContext> context, TlsRole role);

  /// Where the next bytes that arrive go; never empty. Valid until Space is called again.
  [[nodiscard]] std::span<std::byte> Space();
  /// `count` bytes were put at the beginning of Space().
  void Filled(std::size_t count);

  /// Goes on with the handshake as far as the bytes allow; true once it is done. Throws TlsError.
  bool Handshake();

  /// The peer that the handshake authenticated. Only after the handshake.
  [[nodiscard]] int party() const;

  /// Fills the beginning of `out` with plain text and returns how much; 0: more bytes must arrive first, or
  /// the peer has closed. Throws TlsError.
  std::size_t Read(std::span<std::byte> out);

  /// Whether the peer has said that it sends no more.
  [[nodiscard]] bool closed_by_peer() const;

  /// Encrypts, in records of kRecordBytes and a last one of what is left. Throws TlsError.
  void Write(std::span<const std::byte> plaintext);

  /// Says that this side sends no more.
  void CloseNotify();

  /// Puts the bytes to be sent into `out`, whose memory is used for the next ones.
  void TakeOutput(Bytes& out);

 private:
  /// What OpenSSL reads and writes: cipher text only.
  struct Wire {
    Bytes in;
    std::size_t begin = 0;  ///< of what has arrived and was not read yet
    std::size_t end = 0;
    Bytes out;
  };
  static const BIO_METHOD* WireMethod();

  [[noreturn]] void Fail(int result);

  std::shared_ptr<const TlsContext> context_;
  std::unique_ptr<Wire> wire_;  // at one address while OpenSSL knows it
  SslPtr ssl_;
  std::uint64_t written_since_key_update_ = 0;
};

}  // namespace trefoil::net
