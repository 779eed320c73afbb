#include "protocols/cost_model.h"

#include "protocols/functions/inverse_sqrt.h"
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

TEST(ExpectedSeconds, CountsRoundsTheMostBytesAndComputation) {
  const mpc::Cost cost =
      Then(mpc::Cost::Offline({{2, 1, 3000}}), mpc::Cost::Round({{0, 1, 500}, {1, 0, 1000}}));
  EXPECT_DOUBLE_EQ(ExpectedSeconds(cost, 0.5, {.message_seconds = 0.25, .bytes_per_second = 1000}),
                   0.25 + 3 + 0.5);
}

TEST(ExpectedSeconds, PrefersFewRoundsWhereLatencyIsLong) {
  const auto seconds = [](Form form, const Link& link) {
    return ExpectedSeconds(InverseSqrtCost(128, 13, form), LeadingBitSeconds(form, 128, 62, 64), link);
  };
  const Link near{.message_seconds = 20e-6, .bytes_per_second = 1e9};
  const Link far{.message_seconds = 20e-3, .bytes_per_second = 12.5e6};
  EXPECT_LT(seconds(Form::kBulk, near), seconds(Form::kLatency, near));
  EXPECT_LT(seconds(Form::kLatency, far), seconds(Form::kBulk, far));
}

}  // namespace
}  // namespace trefoil::protocols
