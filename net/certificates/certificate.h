#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/secrets/secure_memory.h"

namespace trefoil::net {

/// An organisation's certificate and the private key that belongs to it, both as PEM.
struct Identity {
  std::string certificate_pem;
  SecretText private_key_pem;
};

/// SHA-256 of a certificate's DER form.
using CertificateHash = std::array<std::uint8_t, 32>;

/// Throws ConfigError if the text holds no certificate.
[[nodiscard]] CertificateHash HashCertificate(const std::string& certificate_pem);

/// As Fingerprint() shows it.
[[nodiscard]] std::string ShowFingerprint(const CertificateHash& hash);

/// What a person needs to see of a certificate.
struct CertificateInfo {
  std::string common_name;  ///< printable ASCII, anything else replaced by '?'
  std::chrono::system_clock::time_point not_before;
  std::chrono::system_clock::time_point not_after;
  std::string fingerprint;  ///< as Fingerprint()
};

/// A fresh key (EC P-256) and a self-signed X.509 v3 certificate for it, valid for one year from now (and
/// from an hour ago, so that a peer whose clock is a little behind accepts it). Throws ConfigError unless
/// `common_name` has 1 to 64 characters.
[[nodiscard]] Identity MakeIdentity(const std::string& common_name);

/// The same with a validity of one's own choice.
[[nodiscard]] Identity MakeIdentity(const std::string& common_name,
                                    std::chrono::system_clock::time_point not_before,
                                    std::chrono::system_clock::time_point not_after);

/// SHA-256 of the certificate's DER form, as upper-case hexadecimal pairs joined by colons: what two people
/// compare by telephone. Throws ConfigError if the text holds no certificate.
[[nodiscard]] std::string Fingerprint(const std::string& certificate_pem);

/// Throws ConfigError if the text holds no certificate.
[[nodiscard]] CertificateInfo Inspect(const std::string& certificate_pem);

/// Whether the private key belongs to the certificate. Throws ConfigError if either text cannot be read.
[[nodiscard]] bool KeyMatches(const std::string& certificate_pem, std::string_view private_key_pem);

}  // namespace trefoil::net
