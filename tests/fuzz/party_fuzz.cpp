// A party file.
#include "apps/party_file.h"
#include "base/error.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz {

void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  try {
    const auto party = apps::ReadParty(file.path());
    const InputFile copy(apps::PartyToml(party));
    const auto again = apps::ReadParty(copy.path());
    Check(apps::PartyToml(again) == apps::PartyToml(party), "another party from its TOML");
  } catch (const ConfigError&) {
  }
}

}  // namespace trefoil::fuzz
