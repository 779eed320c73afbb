#include "runtime/hosts.h"

#include <sstream>
#include <vector>

#include "base/error.h"

namespace trefoil::runtime {

std::array<std::string, 3> ParseHosts(const std::string& text) {
  std::vector<std::string> hosts;
  std::istringstream stream(text);
  for (std::string host; std::getline(stream, host, ',');) {
    const auto begin = host.find_first_not_of(' ');
    const auto end = host.find_last_not_of(' ');
    hosts.push_back(begin == std::string::npos ? "" : host.substr(begin, end - begin + 1));
  }
  bool valid = hosts.size() == 3 && !text.ends_with(',');
  for (const auto& host : hosts)
    valid = valid && !host.empty() && host.find_first_of(" \t/\"\\[]") == std::string::npos;
  if (!valid) throw ConfigError("--hosts: found \"" + text + "\", expected three host names, as a,b,c");
  return {hosts[0], hosts[1], hosts[2]};
}

}  // namespace trefoil::runtime
