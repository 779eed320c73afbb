#pragma once
#include <string>
#include <utility>
#include <vector>

namespace trefoil::runtime {

/// The orders of `--rdp-orders` as they were written, with their values. Throws ConfigError for what is no
/// number above 1.
[[nodiscard]] std::vector<std::pair<std::string, double>> ParseOrders(const std::string& text);

/// The default orders and those asked for, ascending: more orders never make epsilon larger.
[[nodiscard]] std::vector<double> AllOrders(const std::vector<std::pair<std::string, double>>& asked);

}  // namespace trefoil::runtime
