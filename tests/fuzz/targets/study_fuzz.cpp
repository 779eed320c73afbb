// What an owner and parties read of each other before any deposit: a study, and public keys.
#include "base/error.h"
#include "deposit/study.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::study_target {

void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  ReadAs<ConfigError>([&] {
    const auto study = deposit::ReadStudy(file.path());
    const InputFile copy(deposit::TomlOf(study));
    Check(deposit::JsonOf(deposit::ReadStudy(copy.path())) == deposit::JsonOf(study),
          "another study from its TOML");
    return 0;
  });
  for (const auto kind : {deposit::KeyKind::kParty, deposit::KeyKind::kOwner}) {
    ReadAs<ConfigError>([&] {
      const auto key = deposit::ReadPublicKey(kind, file.path());
      Check(deposit::PublicKeyText(kind, key) == Text(input), "a key that is not what it was");
      return 0;
    });
    ReadAs<ConfigError>([&] { return deposit::ReadKeyPair(kind, file.path()).known[0]; });
  }
}

const Target kTarget("study", Read);

}  // namespace trefoil::fuzz::study_target
