#include "protocols/measure.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "protocols/arithmetic/multiply.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(Measure, CountsTheOperationOnlyWhateverWentBefore) {
  const auto measured = RunParties(Seed{1}, [](mpc::Context& party) {
    const auto x = InsecureDeal(party, RandomWords(1, 5, 1));
    (void)Multiply(party, x, x);
    return Measure(party, [&] { (void)Multiply(party, Multiply(party, x, x), x); });
  });
  EXPECT_EQ(Figures(measured), (CostFigures{.rounds = 2, .bytes_sent = {80, 80, 80}, .bytes_offline = {}}));
}

TEST(Measure, CountsRoundsByDepthAndKeepsOfflineApart) {
  const auto measured = RunParties(Seed{1}, [](mpc::Context& party) {
    return Measure(party, [&] {
      // P0 -> P1 offline, then P1 -> P2 twice, of which neither waits for the other: one round.
      if (party.self() == 0) party.transport().Send(1, net::Bytes(9), net::Phase::kOffline);
      if (party.self() == 1) {
        (void)party.transport().Receive(0, 9, net::Phase::kOffline);
        for (int k = 0; k < 2; ++k) party.transport().Send(2, net::Bytes(3));
      }
      for (int k = 0; k < 2 && party.self() == 2; ++k) (void)party.transport().Receive(1, 3);
    });
  });
  EXPECT_EQ(Figures(measured),
            (CostFigures{.rounds = 1, .bytes_sent = {0, 6, 0}, .bytes_offline = {9, 0, 0}}));
}

TEST(Measure, StartsWithTheFirstRolesAndNewOperationNumbers) {
  const auto first = RunParties(Seed{1}, [](mpc::Context& party) {
    (void)party.NextRoles();
    const mpc::OperationId before = party.NextOperation();
    int a = -1;
    mpc::OperationId inside = 0;
    (void)Measure(party, [&] {
      a = party.NextRoles().a;
      inside = party.NextOperation();
    });
    EXPECT_GT(inside, before);
    return a;
  });
  EXPECT_EQ(first, (std::array<int, 3>{0, 0, 0}));
}

TEST(Measure, StartsNobodyBeforeAllHaveArrived) {
  std::atomic<bool> last_has_arrived = false;
  (void)RunParties(Seed{1}, [&](mpc::Context& party) {
    if (party.self() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      last_has_arrived = true;
    }
    return Measure(party, [&] { EXPECT_TRUE(last_has_arrived); });
  });
}

TEST(Measure, TakesTheTimeOfTheOperation) {
  const auto measured = RunParties(Seed{1}, [](mpc::Context& party) {
    return Measure(party, [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  });
  for (const Measured& one : measured) EXPECT_GE(one.seconds, 0.02);
}

}  // namespace
}  // namespace trefoil::protocols
