#include "base/files/output_file.h"

#include <system_error>

#include "base/error.h"

namespace trefoil {

void CheckOutputFile(const std::string& option, const std::filesystem::path& out,
                     const std::vector<std::filesystem::path>& inputs) {
  for (const auto& input : inputs) {
    std::error_code not_there;
    if (std::filesystem::equivalent(out, input, not_there))
      throw ConfigError(option + ": found the input itself, " + out.string() + ", expected another file");
  }
}

}  // namespace trefoil
