#pragma once
#include "net/certificates/certificate.h"
#include "net/link/openssl_handles.h"

namespace trefoil::net {

/// What all TLS of this program has in common: version 1.3 alone, and no session is resumed. Throws
/// ConfigError where OpenSSL does not have it.
[[nodiscard]] SslContextPtr MakeTlsSettings();

/// Lets connections show this identity. Throws ConfigError if it cannot be used: unreadable, key of another
/// certificate, expired; PassingError if it is not valid yet.
void UseIdentity(SSL_CTX* context, const Identity& identity);

/// X509_V_OK if the certificate is valid today, otherwise OpenSSL's code for why not.
[[nodiscard]] int CheckDates(const X509& certificate);

}  // namespace trefoil::net
