// A certificate or a private key that somebody sent.
#include "base/error.h"
#include "net/certificates/certificate.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::certificate_target {
void Read(std::span<const std::uint8_t> input) {
  static const net::Identity kOwn = net::MakeIdentity("party-0");
  const std::string pem(Text(input));
  ReadAs<ConfigError>([&] { return net::Fingerprint(pem); });
  ReadAs<ConfigError>([&] {
    const auto info = net::Inspect(pem);
    for (const char letter : info.common_name)
      Check(letter >= ' ' && letter <= '~', "a name that is not printable");
    return info;
  });
  ReadAs<ConfigError>([&] { return net::KeyMatches(pem, kOwn.private_key_pem); });
  ReadAs<ConfigError>([&] { return net::KeyMatches(kOwn.certificate_pem, pem); });
}

const Target kTarget("certificate", Read);

}  // namespace trefoil::fuzz::certificate_target
