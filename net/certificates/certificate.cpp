#include "net/certificates/certificate.h"

#include <algorithm>
#include <array>
#include <ctime>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/error.h"
#include "net/certificates/pem.h"

namespace trefoil::net {
namespace {

using std::chrono::system_clock;

constexpr std::size_t kMaxCommonName = 64;  // ub-common-name of X.520
constexpr int kSerialBits = 127;            // RFC 5280: positive, at most 20 bytes

// OpenSSL's failures here are of memory or of its own installation; its text says which.
void Check(bool ok, const char* what) {
  if (ok) return;
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  throw ConfigError(std::string("making a certificate: ") + what + ": " + text.data());
}

void AddExtension(X509* certificate, int nid, const char* value) {
  const X509ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, nullptr, nid, value));
  Check(extension && X509_add_ext(certificate, extension.get(), -1) == 1, "extension");
}

void SetSerial(X509* certificate) {
  const BignumPtr serial(BN_new());
  Check(serial && BN_rand(serial.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1,
        "serial number");
  Check(BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate)) != nullptr, "serial number");
}

void SetName(X509* certificate, const std::string& common_name) {
  X509_NAME* name = X509_get_subject_name(certificate);
  const auto* text = reinterpret_cast<const unsigned char*>(common_name.data());
  const auto size = static_cast<int>(common_name.size());
  Check(X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, text, size, -1, 0) == 1, "name");
  Check(X509_set_issuer_name(certificate, name) == 1, "issuer");
}

void SetValidity(X509* certificate, system_clock::time_point not_before, system_clock::time_point not_after) {
  Check(ASN1_TIME_set(X509_getm_notBefore(certificate), system_clock::to_time_t(not_before)) != nullptr,
        "start date");
  Check(ASN1_TIME_set(X509_getm_notAfter(certificate), system_clock::to_time_t(not_after)) != nullptr,
        "end date");
}

template <typename Text>
Text TakeText(BIO* bio) {
  const char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return Text(data, static_cast<std::size_t>(size));
}

system_clock::time_point ToTime(const ASN1_TIME* time) {
  std::tm calendar{};
  if (ASN1_TIME_to_tm(time, &calendar) != 1) throw ConfigError("certificate: unreadable date");
  return system_clock::from_time_t(timegm(&calendar));
}

CertificateHash HashOf(const X509& certificate) {
  CertificateHash hash{};
  unsigned int size = 0;
  Check(X509_digest(&certificate, EVP_sha256(), hash.data(), &size) == 1 && size == hash.size(),
        "fingerprint");
  return hash;
}

// The name comes from a partner's file and goes to a terminal.
std::string CommonName(const X509& certificate) {
  std::array<char, 2 * kMaxCommonName + 1> buffer{};
  const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(&certificate), NID_commonName,
                                             buffer.data(), static_cast<int>(buffer.size()));
  std::string name(buffer.data(), static_cast<std::size_t>(std::max(size, 0)));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name;
}

}  // namespace

Identity MakeIdentity(const std::string& common_name) {
  const auto now = system_clock::now();
  return MakeIdentity(common_name, now - std::chrono::hours(1), now + std::chrono::hours(365 * 24));
}

Identity MakeIdentity(const std::string& common_name, system_clock::time_point not_before,
                      system_clock::time_point not_after) {
  if (common_name.empty() || common_name.size() > kMaxCommonName) {
    throw ConfigError("certificate name of " + std::to_string(common_name.size()) +
                      " characters, 1 to 64 expected");
  }
  UseSecureHeap();
  const EvpKeyPtr key(EVP_EC_gen("P-256"));
  Check(key != nullptr, "key");
  const X509Ptr certificate(X509_new());
  Check(certificate && X509_set_version(certificate.get(), X509_VERSION_3) == 1, "version");
  SetSerial(certificate.get());
  SetName(certificate.get(), common_name);
  SetValidity(certificate.get(), not_before, not_after);
  Check(X509_set_pubkey(certificate.get(), key.get()) == 1, "public key");
  AddExtension(certificate.get(), NID_basic_constraints, "critical,CA:FALSE");
  AddExtension(certificate.get(), NID_key_usage, "critical,digitalSignature");
  AddExtension(certificate.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  Check(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0, "signature");

  const BioPtr certificate_text(BIO_new(BIO_s_mem()));
  Check(certificate_text && PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1, "text");
  const BioPtr key_text(BIO_new(BIO_s_secmem()));
  Check(key_text && PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                                  nullptr) == 1,
        "key text");
  return {TakeText<std::string>(certificate_text.get()), TakeText<SecretText>(key_text.get())};
}

CertificateHash HashCertificate(const std::string& certificate_pem) {
  return HashOf(*ReadCertificate(certificate_pem));
}

std::string ShowFingerprint(const CertificateHash& hash) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string text;
  for (const auto byte : hash) {
    if (!text.empty()) text += ':';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string Fingerprint(const std::string& certificate_pem) {
  return ShowFingerprint(HashCertificate(certificate_pem));
}

CertificateInfo Inspect(const std::string& certificate_pem) {
  const X509Ptr certificate = ReadCertificate(certificate_pem);
  return {.common_name = CommonName(*certificate),
          .not_before = ToTime(X509_get0_notBefore(certificate.get())),
          .not_after = ToTime(X509_get0_notAfter(certificate.get())),
          .fingerprint = ShowFingerprint(HashOf(*certificate))};
}

bool KeyMatches(const std::string& certificate_pem, std::string_view private_key_pem) {
  const X509Ptr certificate = ReadCertificate(certificate_pem);
  const EvpKeyPtr key = ReadPrivateKey(private_key_pem);
  const bool matches = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return matches;
}

}  // namespace trefoil::net
