#include "runtime/ledger/rdp_orders.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "dp/accounting/rdp.h"

namespace trefoil::runtime {

std::vector<std::pair<std::string, double>> ParseOrders(const std::string& text) {
  std::vector<std::pair<std::string, double>> orders;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) {
    std::erase(item, ' ');
    double value = 0;
    const auto* end = item.data() + item.size();
    const auto [stop, error] = std::from_chars(item.data(), end, value);
    if (error != std::errc{} || stop != end || !(value > 1) || !std::isfinite(value)) {
      throw ConfigError(
          fmt::format("--rdp-orders: found \"{}\", expected numbers above 1, as in 1.5,2,32", item));
    }
    orders.emplace_back(item, value);
  }
  return orders;
}

std::vector<double> AllOrders(const std::vector<std::pair<std::string, double>>& asked) {
  auto orders = dp::DefaultRdpOrders();
  for (const auto& [text, value] : asked) {
    if (std::find(orders.begin(), orders.end(), value) == orders.end()) orders.push_back(value);
  }
  std::sort(orders.begin(), orders.end());
  return orders;
}

}  // namespace trefoil::runtime
