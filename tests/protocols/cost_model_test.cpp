#include "protocols/cost_model.h"

#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(MeasureLink, GivesEveryPartyTheSameFiguresAtItsDeclaredCost) {
  const auto parts = RunParties(Seed{1}, [](mpc::Context& party) {
    Link link;
    const auto measured = Measure(party, [&] { link = MeasureLink(party); });
    return std::pair{measured, link};
  });
  EXPECT_EQ(Figures({parts[0].first, parts[1].first, parts[2].first}), Figures(MeasureLinkCost()));
  for (const auto& part : parts) {
    EXPECT_EQ(part.second.message_seconds, parts[0].second.message_seconds);
    EXPECT_EQ(part.second.bytes_per_second, parts[0].second.bytes_per_second);
  }
}

}  // namespace
}  // namespace trefoil::protocols
