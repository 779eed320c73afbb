#include "net/link/tls_context.h"

#include <algorithm>
#include <utility>

#include <openssl/ssl.h>

#include "net/certificates/pem.h"
#include "net/link/tls_settings.h"

namespace trefoil::net {

TlsContext::TlsContext(const Identity& identity, std::vector<Pin> pins)
    : context_(MakeTlsSettings()), pins_(std::move(pins)) {
  SSL_CTX* context = context_.get();
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(context, &TlsContext::Verify, this);
  UseIdentity(context, identity);
}

std::optional<int> TlsContext::PartyOf(const X509& certificate) const {
  const Bytes der = ToDer(certificate);
  const auto pin =
      std::find_if(pins_.begin(), pins_.end(), [&](const Pin& candidate) { return candidate.der == der; });
  if (pin == pins_.end()) return std::nullopt;
  return pin->party;
}

int TlsContext::Verify(X509_STORE_CTX* store, void* self) {
  // No exception may pass through OpenSSL, which is C.
  try {
    const X509* certificate = X509_STORE_CTX_get0_cert(store);
    int verdict = X509_V_ERR_CERT_REJECTED;
    if (certificate != nullptr && static_cast<TlsContext*>(self)->PartyOf(*certificate))
      verdict = CheckDates(*certificate);
    X509_STORE_CTX_set_error(store, verdict);
    return verdict == X509_V_OK ? 1 : 0;
  } catch (...) {
    X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED);
    return 0;
  }
}

}  // namespace trefoil::net
