#include "bench/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace trefoil::bench {
namespace {

std::string ProcessorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

nlohmann::json DescribeMachine() {
  utsname names{};
  uname(&names);
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return {{"processor", ProcessorName()},
          {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
          {"memory_bytes", static_cast<std::int64_t>(pages) * page_bytes},
          {"system", std::string(names.sysname) + " " + names.release}};
}

}  // namespace trefoil::bench
