#pragma once
#include <nlohmann/json_fwd.hpp>

namespace trefoil::bench {

/// The processor's name, the number of cores, the memory and the kernel of this machine.
[[nodiscard]] nlohmann::json DescribeMachine();

}  // namespace trefoil::bench
