#pragma once
#include <optional>
#include <vector>

#include "net/certificates/certificate.h"
#include "net/link/openssl_handles.h"
#include "net/transport.h"

namespace trefoil::net {

/// A certificate that is accepted, and whose it is.
struct Pin {
  int party = 0;
  Bytes der;
};

/// What all TLS connections of one party to the same set of peers share: TLS 1.3 only, both sides show a
/// certificate, and a peer's is accepted if it is byte for byte one of the pins and today within its dates.
/// No authorities, no host names, no session resumption (every connection proves possession of the key).
class TlsContext {
 public:
  /// Throws ConfigError if the identity cannot be used: unreadable, key of another certificate, out of its
  /// dates.
  TlsContext(const Identity& identity, std::vector<Pin> pins);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  /// The party that a certificate is pinned for, if any.
  [[nodiscard]] std::optional<int> PartyOf(const X509& certificate) const;

  [[nodiscard]] SSL_CTX* handle() const { return context_.get(); }

 private:
  static int Verify(X509_STORE_CTX* store, void* self);

  SslContextPtr context_;
  std::vector<Pin> pins_;
};

}  // namespace trefoil::net
