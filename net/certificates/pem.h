#pragma once
#include <string>
#include <string_view>

#include "net/link/openssl_handles.h"
#include "net/transport.h"

namespace trefoil::net {

/// The first certificate of a PEM text. Throws ConfigError if there is none.
[[nodiscard]] X509Ptr ReadCertificate(const std::string& pem);

/// The private key of a PEM text, without a pass phrase. Throws ConfigError if there is none; the text never
/// shows it.
[[nodiscard]] EvpKeyPtr ReadPrivateKey(std::string_view pem);

/// Lets OpenSSL keep private keys in locked memory that is wiped and left out of core files; without effect
/// where the system has none to lock. Once per process; ReadPrivateKey does it.
void UseSecureHeap();

/// The exact bytes of a certificate.
[[nodiscard]] Bytes ToDer(const X509& certificate);

}  // namespace trefoil::net
