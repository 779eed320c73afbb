#pragma once
#include <string>

#include "net/openssl_handles.h"
#include "net/transport.h"

namespace trefoil::net {

/// The first certificate of a PEM text. Throws ConfigError if there is none.
[[nodiscard]] X509Ptr ReadCertificate(const std::string& pem);

/// The private key of a PEM text, without a pass phrase. Throws ConfigError if there is none; the text never
/// shows it.
[[nodiscard]] EvpKeyPtr ReadPrivateKey(const std::string& pem);

/// The exact bytes of a certificate.
[[nodiscard]] Bytes ToDer(const X509& certificate);

}  // namespace trefoil::net
