#pragma once
#include <string>

#include "base/error.h"

namespace trefoil::jobs {

/// What `make` returns, whose rules know no place: throws its ConfigErrors as "PLACE: cause"; a file, or keys of one.
template <typename Make>
[[nodiscard]] auto AtPlace(const std::string& place, const Make& make) {
  try {
    return make();
  } catch (const ConfigError& error) {
    throw ConfigError(place + ": " + error.what());
  }
}

}  // namespace trefoil::jobs
