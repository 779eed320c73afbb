// A party file.
#include "base/error.h"
#include "jobs/job.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::party_target {

void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  try {
    const auto party = jobs::ReadParty(file.path());
    const InputFile copy(jobs::PartyToml(party));
    const auto again = jobs::ReadParty(copy.path());
    Check(jobs::PartyToml(again) == jobs::PartyToml(party), "another party from its TOML");
  } catch (const ConfigError&) {
  }
}

const Target kTarget("party", Read);

}  // namespace trefoil::fuzz::party_target
