#pragma once
#include <string>
#include <vector>

namespace trefoil::apps {

/// The paths, but for "-" alone /dev/stdin, from which readers of regular files then get all that standard
/// input had: it is read to its end, into memory, and never written to disk. Throws DataError where it cannot
/// be read or has more than a gibibyte.
[[nodiscard]] std::vector<std::string> WithStandardInput(std::vector<std::string> paths);

}  // namespace trefoil::apps
