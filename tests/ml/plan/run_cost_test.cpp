#include "ml/plan/run_cost.h"

#include <gtest/gtest.h>

#include "protocols/arithmetic/agreement.h"

namespace trefoil::ml {
namespace {

using mpc::Cost;

// A dealer, at first party 2, sends 1,000 bytes ahead; its peers 10 each; the roles turn.
Cost Dealt() {
  const Cost cost = Then(Cost::Offline({{2, 1, 1000}}), Cost::Round({{0, 1, 10}, {1, 0, 10}}));
  return cost.WithTurn();
}

TEST(SessionCost, IsThatOfAllPartsAfterTheKeys) {
  SessionCost session;
  EXPECT_EQ(session.total().rounds, protocols::AgreeOnKeysCost().rounds());
  session.Add(Dealt(), 2);
  session.AddUnturned(Cost::Round({{0, 1, 7}}));
  session.Add(Dealt());
  EXPECT_EQ(session.total().rounds, 4);
  // Each has been the dealer; what is between parties as numbered does not turn.
  const std::array<std::uint64_t, 3> expected{64 + 1020 + 7, 64 + 1020, 64 + 1020};
  EXPECT_EQ(session.total().bytes_sent, expected);
}

TEST(SessionCost, WaitsForThePartyThatSendsMostInEachPart) {
  const protocols::Link link{.message_seconds = 0.5, .bytes_per_second = 100};
  SessionCost session;
  const double keys = session.Seconds({}, link);
  EXPECT_NEAR(keys, 0.5 + 0.64, 0.01);
  session.Add(Dealt(), 3);
  // Each of the three sends a thousand bytes, one after another.
  EXPECT_NEAR(session.Seconds({}, link) - keys, 3 * 0.5 + 3 * 10, 0.01);
}

TEST(SessionCost, AddsComputation) {
  const protocols::Link link{.message_seconds = 0, .bytes_per_second = 1e12};
  const SessionCost session;
  const double nothing = session.Seconds({}, link);
  EXPECT_NEAR(session.Seconds({.comparison_seconds = 3}, link), nothing + 3, 1e-9);
  for (const Work& work :
       {Work{.draws = 1e9}, Work{.coins = 1e9}, Work{.elements = 1e9}, Work{.multiply_adds = 1e9}}) {
    EXPECT_GT(session.Seconds(work, link), nothing + 0.1);
    EXPECT_LT(session.Seconds(work, link), nothing + 1000);
  }
}

}  // namespace
}  // namespace trefoil::ml
