#include "base/error.h"

namespace trefoil {

NetworkError::NetworkError(int peer, const std::string& cause)
    : std::runtime_error("party " + std::to_string(peer) + ": " + cause), peer_(peer) {}

void Require(bool condition, const char* what) {
  if (!condition) throw ContractError(what);
}

}  // namespace trefoil
