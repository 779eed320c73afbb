#pragma once
#include <stdexcept>

namespace trefoil {

/// Throws std::runtime_error with this text unless a function of OpenSSL's libcrypto has succeeded.
inline void CheckOpenSsl(int result, const char* what) {
  if (result != 1) throw std::runtime_error(what);
}

}  // namespace trefoil
