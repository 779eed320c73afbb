// An assignment of --set.
#include "base/error.h"
#include "jobs/config/toml/toml_reader.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::set_target {

void Read(std::span<const std::uint8_t> input) {
  const InputFile file("version = 1\nname = \"a\"\n[data]\nrows = [1, 2, 3]\n[[peer]]\nid = 1\n");
  auto root = jobs::ReadToml(file.path());
  try {
    jobs::SetValue(root, std::string(Text(input)));
    jobs::CheckKeys(root, "job.toml", {"version", "name", "data.rows", "peer.id", "local.*"});
  } catch (const ConfigError&) {
  }
}

const Target kTarget("set", Read);

}  // namespace trefoil::fuzz::set_target
