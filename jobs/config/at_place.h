#pragma once
#include <string>

#include "base/error.h"

namespace trefoil::jobs {

/// Returns what `make` returns. Its ConfigErrors, which know no place, are thrown as "PLACE: cause", the
/// place being a file or keys of one.
template <typename Make>
[[nodiscard]] auto AtPlace(const std::string& place, const Make& make) {
  try {
    return make();
  } catch (const ConfigError& error) {
    throw ConfigError(place + ": " + error.what());
  }
}

}  // namespace trefoil::jobs
