#include "jobs/same_noise.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "dp/record/event_json.h"
#include "jobs/ranks/of_rank0.h"
#include "protocols/arithmetic/agreement.h"

namespace trefoil::jobs {
namespace {

constexpr const char* kConstants = "constants of the noise";

/// The first rank that has another text than rank 0; 0 where there is none.
int OddRank(const std::string& text, mpc::Ranks& ranks) {
  const std::array<mpc::Word, 1> own{OfRank0(text, ranks) == text ? 0U : 1U};
  std::vector<mpc::Word> differs(static_cast<std::size_t>(ranks.count()));
  ranks.GatherToAll(own, differs);
  const auto odd = std::find(differs.begin(), differs.end(), 1U);
  return odd == differs.end() ? 0 : static_cast<int>(odd - differs.begin());
}

/// Ends this party once its peers refuse, too: they would otherwise lose it, and their service units try again.
[[noreturn]] void RefuseOddRank(mpc::Context& party, int odd, mpc::Ranks& ranks) {
  if (ranks.rank() == 0) {
    try {
      protocols::RequireSameEverywhere(party, fmt::format("party {}, rank {}", party.self(), odd),
                                       kConstants);
    } catch (const ConfigError&) {  // as no peer has that text
    }
  }
  ranks.Barrier();  // a machine that ends takes rank 0 with it
  throw ConfigError(fmt::format(
      "rank {}: found other constants of the noise than rank 0, expected the same program and libraries",
      odd));
}

}  // namespace

void RequireSameNoise(mpc::Context& party, const std::vector<dp::RecordedEvent>& events,
                      const std::vector<std::uint64_t>& numbers, mpc::Ranks* ranks) {
  std::string noise;
  for (const auto& event : events) noise += dp::EventToJson(event).dump() + ' ';
  for (const auto number : numbers) noise += fmt::format("{} ", number);
  // Of its own machines a party finds out first: what it then tells the peers they charge by.
  const int odd = ranks == nullptr ? 0 : OddRank(noise, *ranks);
  if (odd > 0) RefuseOddRank(party, odd, *ranks);
  if (ranks == nullptr || ranks->rank() == 0) protocols::RequireSameEverywhere(party, noise, kConstants);
  if (ranks != nullptr) ranks->Barrier();  // or a machine would lose a party that has refused
}

mpc::Cost RequireSameNoiseCost() { return protocols::RequireSameEverywhereCost(); }

}  // namespace trefoil::jobs
