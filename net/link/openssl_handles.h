#pragma once
#include <memory>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace trefoil::net {

template <auto Free>
struct OpensslDeleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

using BignumPtr = std::unique_ptr<BIGNUM, OpensslDeleter<BN_free>>;
using BioPtr = std::unique_ptr<BIO, OpensslDeleter<BIO_free>>;
using EvpKeyPtr = std::unique_ptr<EVP_PKEY, OpensslDeleter<EVP_PKEY_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, OpensslDeleter<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, OpensslDeleter<SSL_free>>;
using X509ExtensionPtr = std::unique_ptr<X509_EXTENSION, OpensslDeleter<X509_EXTENSION_free>>;
using X509Ptr = std::unique_ptr<X509, OpensslDeleter<X509_free>>;

}  // namespace trefoil::net
