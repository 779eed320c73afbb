#pragma once
#include "base/error.h"

namespace trefoil {

/// Something on this machine is not as it has to be, and may be soon without anybody's doing: a port that is
/// taken, a clock that is behind. Worth another try, unlike any other ConfigError.
class PassingError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

}  // namespace trefoil
