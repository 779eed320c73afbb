#include "runtime/hosts.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "base/error.h"

namespace trefoil::runtime {
namespace {

/// Throws for "host:port": only IPv6 addresses have colons, two or more among hexadecimal digits.
void CheckNoPort(const std::string& host) {
  const auto colons = std::count(host.begin(), host.end(), ':');
  const auto address = host.substr(0, host.find('%'));  // without a zone
  const bool digits = address.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos;
  if (colons == 1 || (colons > 1 && !digits))
    throw ConfigError("--hosts: found \"" + host +
                      "\", expected a host name or address without a port, which --base-port says");
}

}  // namespace

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
  for (const auto& host : hosts) CheckNoPort(host);
  return {hosts[0], hosts[1], hosts[2]};
}

}  // namespace trefoil::runtime
