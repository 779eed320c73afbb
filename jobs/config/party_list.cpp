#include "jobs/config/party_list.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace trefoil::jobs {

std::vector<int> ReadParties(const Section& section, std::string_view key, bool none_allowed) {
  const std::string expected =
      std::string("an array of different party numbers from 0 to 2") + (none_allowed ? "" : ", at least one");
  auto parties = section.Wholes(key, {0, 2}, expected, std::vector<std::int64_t>{0, 1, 2});
  std::sort(parties.begin(), parties.end());
  if ((parties.empty() && !none_allowed) ||
      std::adjacent_find(parties.begin(), parties.end()) != parties.end())
    section.Refuse(key, expected);
  return {parties.begin(), parties.end()};
}

}  // namespace trefoil::jobs
