#pragma once
#include <string>
#include <string_view>

#include "net/certificates/certificate.h"

namespace trefoil::net {

/// What somebody says who has the certificate's private key: ECDSA with SHA-256 (FIPS 186-5), as DER. The
/// text begins with a name of its own kind, so that no signature of TLS can be taken for it. Throws
/// ConfigError if the key cannot be used.
[[nodiscard]] std::string SignWith(const Identity& identity, std::string_view text);

/// Whether a signature is of that text, by the certificate's key. Throws ConfigError if the certificate
/// cannot be read.
[[nodiscard]] bool IsSignedBy(const std::string& certificate_pem, std::string_view text,
                              std::string_view signature);

}  // namespace trefoil::net
