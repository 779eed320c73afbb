#include "net/certificates/signature.h"

#include <openssl/err.h>
#include <openssl/evp.h>

#include <memory>

#include "base/error.h"
#include "net/certificates/pem.h"
#include "net/link/openssl_handles.h"

namespace trefoil::net {
namespace {

using MdContextPtr = std::unique_ptr<EVP_MD_CTX, OpensslDeleter<EVP_MD_CTX_free>>;

const unsigned char* Octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string SignWith(const Identity& identity, std::string_view text) {
  const EvpKeyPtr key = ReadPrivateKey(identity.private_key_pem);
  const MdContextPtr context(EVP_MD_CTX_new());
  std::string signature;
  std::size_t size = 0;
  bool done = context != nullptr &&
              EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
              EVP_DigestSign(context.get(), nullptr, &size, Octets(text), text.size()) == 1;
  if (done) {
    signature.resize(size);
    done = EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                          Octets(text), text.size()) == 1;
    signature.resize(size);
  }
  ERR_clear_error();
  if (!done) throw ConfigError("private key: cannot sign: make a new one with init, and exchange it");
  return signature;
}

bool IsSignedBy(const std::string& certificate_pem, std::string_view text, std::string_view signature) {
  const X509Ptr certificate = ReadCertificate(certificate_pem);
  EVP_PKEY* key = X509_get0_pubkey(certificate.get());
  const MdContextPtr context(EVP_MD_CTX_new());
  const bool right =
      key != nullptr && context != nullptr &&
      EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
      EVP_DigestVerify(context.get(), Octets(signature), signature.size(), Octets(text), text.size()) == 1;
  ERR_clear_error();
  return right;
}

}  // namespace trefoil::net
