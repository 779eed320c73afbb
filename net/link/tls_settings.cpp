#include "net/link/tls_settings.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/error.h"
#include "base/passing_error.h"
#include "net/certificates/pem.h"

namespace trefoil::net {
namespace {

// All that TLS 1.3 has in OpenSSL, the fastest with AES instructions first.
constexpr const char* kCipherSuites =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

}  // namespace

SslContextPtr MakeTlsSettings() {
  SslContextPtr settings(SSL_CTX_new(TLS_method()));
  SSL_CTX* context = settings.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, kCipherSuites) != 1) {
    ERR_clear_error();
    throw ConfigError("TLS 1.3 is not available in this installation of OpenSSL");
  }
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
  return settings;
}

int CheckDates(const X509& certificate) {
  if (X509_cmp_current_time(X509_get0_notBefore(&certificate)) >= 0) return X509_V_ERR_CERT_NOT_YET_VALID;
  if (X509_cmp_current_time(X509_get0_notAfter(&certificate)) <= 0) return X509_V_ERR_CERT_HAS_EXPIRED;
  return X509_V_OK;
}

void UseIdentity(SSL_CTX* context, const Identity& identity) {
  const X509Ptr certificate = ReadCertificate(identity.certificate_pem);
  const EvpKeyPtr key = ReadPrivateKey(identity.private_key_pem);
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    ERR_clear_error();
    throw ConfigError("private key: does not belong to this party's certificate");
  }
  const int dates = CheckDates(*certificate);
  if (dates == X509_V_ERR_CERT_HAS_EXPIRED)
    throw ConfigError("certificate: this party's own has expired: make a new one with init, and exchange it");
  if (dates != X509_V_OK)
    throw PassingError("certificate: this party's own is not valid yet: check this machine's clock");
  if (SSL_CTX_use_certificate(context, certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    ERR_clear_error();
    throw ConfigError("certificate: cannot be used for TLS: make a new one with init, and exchange it");
  }
}

}  // namespace trefoil::net
