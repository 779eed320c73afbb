#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>

#include "net/openssl_handles.h"
#include "net/tls_context.h"
#include "net/transport.h"

namespace trefoil::net {

/// A TLS connection failed; the text says why, in words for the operator.
class TlsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class TlsRole { kServer, kClient };

/// One TLS connection as a pure transformation of bytes: what the network brought goes in by Feed, what the
/// network must carry comes out by TakeOutput (also after a failure: the alert). Used by one thread.
class TlsSession {
 public:
  TlsSession(std::shared_ptr<const TlsContext> context, TlsRole role);

  /// Takes bytes that arrived.
  void Feed(std::span<const std::byte> ciphertext);

  /// Goes on with the handshake as far as the bytes allow; true once it is done. Throws TlsError.
  bool Handshake();

  /// The peer that the handshake authenticated. Only after the handshake.
  [[nodiscard]] int party() const;

  /// Fills the beginning of `out` with plain text and returns how much; 0: more bytes must arrive first, or
  /// the peer has closed. Throws TlsError.
  std::size_t Read(std::span<std::byte> out);

  /// Whether the peer has said that it sends no more.
  [[nodiscard]] bool closed_by_peer() const;

  /// Encrypts. Throws TlsError.
  void Write(std::span<const std::byte> plaintext);

  /// Says that this side sends no more.
  void CloseNotify();

  /// Appends the bytes to be sent to `out`.
  void TakeOutput(Bytes& out);

 private:
  [[noreturn]] void Fail(int result);

  std::shared_ptr<const TlsContext> context_;
  SslPtr ssl_;
  std::uint64_t written_since_key_update_ = 0;
};

}  // namespace trefoil::net
