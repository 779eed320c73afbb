#include "jobs/same_noise.h"

#include <spdlog/fmt/fmt.h>

#include "base/error.h"
#include "dp/record/event_json.h"
#include "jobs/ranks/of_rank0.h"
#include "protocols/arithmetic/agreement.h"

namespace trefoil::jobs {

void RequireSameNoise(mpc::Context& party, const std::vector<dp::RecordedEvent>& events,
                      const std::vector<std::uint64_t>& numbers, mpc::Ranks* ranks) {
  std::string noise;
  for (const auto& event : events) noise += dp::EventToJson(event).dump() + ' ';
  for (const auto number : numbers) noise += fmt::format("{} ", number);
  // Of its own machines a party finds out first: what it then tells the peers they charge by.
  if (ranks != nullptr) {
    if (OfRank0(noise, *ranks) != noise)
      throw ConfigError(fmt::format(
          "rank {}: found other constants of the noise than rank 0, expected the same program and libraries",
          ranks->rank()));
    ranks->Barrier();
  }
  if (ranks == nullptr || ranks->rank() == 0)
    protocols::RequireSameEverywhere(party, noise, "constants of the noise");
}

mpc::Cost RequireSameNoiseCost() { return protocols::RequireSameEverywhereCost(); }

}  // namespace trefoil::jobs
