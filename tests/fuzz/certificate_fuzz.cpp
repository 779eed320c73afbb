// A certificate or a private key that somebody sent.
#include "base/error.h"
#include "net/certificate.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz {
namespace {

template <typename Reader>
void ReadAs(const Reader& reader) {
  try {
    (void)reader();
  } catch (const ConfigError&) {
  }
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  static const net::Identity kOwn = net::MakeIdentity("party-0");
  const std::string pem(Text(input));
  ReadAs([&] { return net::Fingerprint(pem); });
  ReadAs([&] {
    const auto info = net::Inspect(pem);
    for (const char letter : info.common_name)
      Check(letter >= ' ' && letter <= '~', "a name that is not printable");
    return info;
  });
  ReadAs([&] { return net::KeyMatches(pem, kOwn.private_key_pem); });
  ReadAs([&] { return net::KeyMatches(kOwn.certificate_pem, pem); });
}

}  // namespace trefoil::fuzz
