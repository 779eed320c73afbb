#include "net/certificates/pem.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/error.h"

namespace trefoil::net {
namespace {

BioPtr OpenText(std::string_view text) {
  BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (!bio) throw ConfigError("certificate or key: out of memory");
  return bio;
}

// Without it OpenSSL would ask for a pass phrase at the terminal.
int NoPassPhrase(char*, int, int, void*) { return -1; }

constexpr std::size_t kSecureHeapBytes = std::size_t{1} << 16;
constexpr std::size_t kSecureBlockBytes = 32;
constexpr std::size_t kMaxPemBytes = std::size_t{1} << 20;

}  // namespace

X509Ptr ReadCertificate(const std::string& pem) {
  if (pem.size() > kMaxPemBytes) throw ConfigError("certificate: longer than 1 MiB");
  X509Ptr certificate(PEM_read_bio_X509(OpenText(pem).get(), nullptr, &NoPassPhrase, nullptr));
  ERR_clear_error();
  if (!certificate) throw ConfigError("certificate: no X.509 certificate in PEM form found");
  return certificate;
}

void UseSecureHeap() {
  static const int done = CRYPTO_secure_malloc_init(kSecureHeapBytes, kSecureBlockBytes);
  (void)done;
}

EvpKeyPtr ReadPrivateKey(std::string_view pem) {
  UseSecureHeap();
  if (pem.size() > kMaxPemBytes) throw ConfigError("private key: longer than 1 MiB");
  EvpKeyPtr key(PEM_read_bio_PrivateKey(OpenText(pem).get(), nullptr, &NoPassPhrase, nullptr));
  ERR_clear_error();
  if (!key) throw ConfigError("private key: no unencrypted private key in PEM form found");
  return key;
}

Bytes ToDer(const X509& certificate) {
  const int size = i2d_X509(&certificate, nullptr);
  if (size <= 0) throw ConfigError("certificate: cannot be written in DER form");
  Bytes der(static_cast<std::size_t>(size));
  auto* out = reinterpret_cast<unsigned char*>(der.data());
  i2d_X509(&certificate, &out);
  return der;
}

}  // namespace trefoil::net
