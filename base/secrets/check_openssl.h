#pragma once
#include <stdexcept>

namespace trefoil {

/// Throws std::runtime_error unless a function of OpenSSL's libcrypto has succeeded; `what` is what it was to do.
inline void CheckOpenSsl(int result, const char* what) {
  if (result != 1) throw std::runtime_error(what);
}

}  // namespace trefoil
