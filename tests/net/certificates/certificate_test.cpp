#include "net/certificates/certificate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "base/error.h"

namespace trefoil::net {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::system_clock;

TEST(Certificate, IsValidFromNowForAYear) {
  const CertificateInfo info = Inspect(MakeIdentity("party-1").certificate_pem);
  const auto now = system_clock::now();

  EXPECT_EQ(info.common_name, "party-1");
  EXPECT_LT(info.not_before, now);
  EXPECT_GT(info.not_before, now - hours(2));
  EXPECT_GT(info.not_after, now + hours(365 * 24) - minutes(1));
  EXPECT_LE(info.not_after, now + hours(365 * 24));
}

TEST(Certificate, BelongsToItsKeyAlone) {
  const Identity one = MakeIdentity("one");
  const Identity other = MakeIdentity("one");

  EXPECT_TRUE(KeyMatches(one.certificate_pem, one.private_key_pem));
  EXPECT_FALSE(KeyMatches(one.certificate_pem, other.private_key_pem));
  EXPECT_NE(Fingerprint(one.certificate_pem), Fingerprint(other.certificate_pem));
}

TEST(Certificate, HasAFingerprintOf32HexadecimalPairs) {
  const Identity identity = MakeIdentity("party-0");
  const std::string fingerprint = Fingerprint(identity.certificate_pem);

  EXPECT_EQ(fingerprint.size(), 32U * 3 - 1);
  for (std::size_t i = 0; i < fingerprint.size(); ++i) {
    if (i % 3 == 2) {
      EXPECT_EQ(fingerprint[i], ':');
    } else {
      EXPECT_TRUE(std::string("0123456789ABCDEF").find(fingerprint[i]) != std::string::npos);
    }
  }
  EXPECT_EQ(Inspect(identity.certificate_pem).fingerprint, fingerprint);
}

// A fixed certificate; the expected value is what `openssl x509 -fingerprint -sha256` prints for it.
TEST(Certificate, FingerprintIsThatOfOpenssl) {
  constexpr const char* kCertificate =
      "-----BEGIN CERTIFICATE-----\n"
      "MIIBdTCCARugAwIBAgIUV88yoyD5Cm128JdAsvqSE0iENIAwCgYIKoZIzj0EAwIw\n"
      "EDEOMAwGA1UEAwwFZml4ZWQwHhcNMjYxMTIwMjIxNzEyWhcNMjcxMTIwMjIxNzEy\n"
      "WjAQMQ4wDAYDVQQDDAVmaXhlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMre\n"
      "61Ia0NMd+iJqjn+DbM5crGoBw/3mAgegHFx0CZ4gRkCE1IZ3W5PZyRc4oNnhfd5o\n"
      "DGY/XMWlpqYvrzeaX5SjUzBRMB0GA1UdDgQWBBT4FEgB/Ys5aupyRWYyeoDgOdiS\n"
      "WzAfBgNVHSMEGDAWgBT4FEgB/Ys5aupyRWYyeoDgOdiSWzAPBgNVHRMBAf8EBTAD\n"
      "AQH/MAoGCCqGSM49BAMCA0gAMEUCIQCdv+J72ApYO//wKB0EIA22MinJVdXPrc7o\n"
      "BOKqD1HQMAIgI/I4fL7sVrG2SaFksoO5mz9J873fEqYLH7IqfS4PqNg=\n"
      "-----END CERTIFICATE-----\n";
  EXPECT_EQ(
      Fingerprint(kCertificate),
      "8B:FF:EA:52:A9:A4:22:31:FF:31:04:9A:2C:70:9A:11:BE:C6:FE:7D:10:21:F6:26:1A:5E:0B:3C:43:EA:BD:09");
}

TEST(Certificate, ShowsNoControlCharactersOfAName) {
  const Identity identity = MakeIdentity("ev\x1b[31mil\n");

  EXPECT_EQ(Inspect(identity.certificate_pem).common_name, "ev?[31mil?");
}

class GarbageText : public testing::TestWithParam<std::string> {};

TEST_P(GarbageText, IsAConfigurationErrorOfOneLine) {
  const Identity identity = MakeIdentity("party-0");
  const auto expect_config_error = [](auto call) {
    try {
      call();
      FAIL() << "garbage was accepted";
    } catch (const ConfigError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  };

  expect_config_error([] { (void)Fingerprint(GetParam()); });
  expect_config_error([] { (void)Inspect(GetParam()); });
  expect_config_error([&] { (void)KeyMatches(GetParam(), identity.private_key_pem); });
  expect_config_error([&] { (void)KeyMatches(identity.certificate_pem, GetParam()); });
}

INSTANTIATE_TEST_SUITE_P(Texts, GarbageText,
                         testing::Values("", "hello",
                                         "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                                         "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
                                         std::string(2 << 20, 'x')));

TEST(Certificate, RefusesNamesThatAreEmptyOrTooLong) {
  EXPECT_THROW((void)MakeIdentity(""), ConfigError);
  EXPECT_NO_THROW((void)MakeIdentity(std::string(64, 'a')));
  EXPECT_THROW((void)MakeIdentity(std::string(65, 'a')), ConfigError);
}

}  // namespace
}  // namespace trefoil::net
