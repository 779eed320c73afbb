// An assignment of --set.
#include "apps/toml_reader.h"
#include "base/error.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz {

void Read(std::span<const std::uint8_t> input) {
  const InputFile file("version = 1\nname = \"a\"\n[data]\nrows = [1, 2, 3]\n[[peer]]\nid = 1\n");
  auto root = apps::ReadToml(file.path());
  try {
    apps::SetValue(root, std::string(Text(input)));
    apps::CheckKeys(root, "job.toml", {"version", "name", "data.rows", "peer.id", "local.*"});
  } catch (const ConfigError&) {
  }
}

}  // namespace trefoil::fuzz
