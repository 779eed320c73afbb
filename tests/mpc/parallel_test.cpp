#include "mpc/parallel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "net/local_transport.h"
#include "net/mesh/lane_transport.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/truncate.h"
#include "tests/support/protocol_test.h"

namespace trefoil::mpc {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kCount = 40;

/// x^4 in two rounds.
ArithShare FourthPower(Context& party, const ArithShare& x) {
  const ArithShare square = protocols::Multiply(party, x, x);
  return protocols::Multiply(party, square, square);
}

Cost FourthPowerCost() { return Then(protocols::MultiplyCost(kCount), protocols::MultiplyCost(kCount)); }

/// x^4 + x / 16 + x^2: the first beside the others, which are beside each other; then a truncation.
ArithShare Program(Context& party, const ArithShare& x) {
  const auto outer = Parallel(
      party, [&](Context& branch) { return FourthPower(branch, x); },
      [&](Context& branch) {
        const auto inner = Parallel(
            branch, [&](Context& leaf) { return protocols::Truncate(leaf, x, 4); },
            [&](Context& leaf) { return protocols::Multiply(leaf, x, x); });
        return protocols::Truncate(branch, Word{16} * inner.first, 4) + inner.second;
      });
  return protocols::Truncate(party, Word{16} * (outer.first + outer.second), 4);
}

Cost ProgramCost() {
  const Cost inner = Then(Parallel(protocols::TruncateCost(kCount), protocols::MultiplyCost(kCount)),
                          protocols::TruncateCost(kCount));
  return Then(Parallel(FourthPowerCost(), inner), protocols::TruncateCost(kCount));
}

TEST(Parallel, GivesBothResultsInTheRoundsOfTheLonger) {
  // Multiples of 16 are truncated without a coin.
  const RingMatrix sixteenth = RandomSigned(1, kCount, 1, 8);
  const RingMatrix x = Word{16} * sixteenth;
  const Outcome outcome = RunOn(
      Seed{1}, [&](Context& party) { return InsecureDeal(party, x); }, Program);

  EXPECT_TRUE((outcome.value == x * x * x * x + sixteenth + x * x).all());
  EXPECT_EQ(outcome.cost, Figures(ProgramCost()));
  EXPECT_EQ(outcome.cost.rounds, 5);  // of 8 one after the other
}

/// Every number and first turn that a program with nested branches gives out.
void Collect(Context& party, int depth, std::mutex& mutex, std::multiset<OperationId>& numbers) {
  const auto take = [&](Context& context) {
    const OperationId number = context.NextOperation();
    const std::lock_guard lock(mutex);
    numbers.insert(number);
  };
  for (int k = 0; k < 3; ++k) {
    take(party);
    if (depth == 3) continue;
    const auto branch = [&](Context& context) { Collect(context, depth + 1, mutex, numbers); };
    RunBeside(party, branch, branch);
  }
}

TEST(Parallel, NumbersNoOperationTwiceInAnyBranch) {
  const auto transports = net::MakeLocalTransports(std::chrono::seconds(10));
  ThreadPool pool(1);
  Context party(*transports[0], InsecurePrss(Seed{1}, 0), pool);
  std::mutex mutex;
  std::multiset<OperationId> numbers;
  Collect(party, 0, mutex, numbers);

  EXPECT_EQ(numbers.size(), 3U * (1 + 6 * (1 + 6 * (1 + 6))));
  EXPECT_EQ(std::set<OperationId>(numbers.begin(), numbers.end()).size(), numbers.size());
}

TEST(Parallel, TurnsTheRolesOnAfterwards) {
  const auto transports = net::MakeLocalTransports(std::chrono::seconds(10));
  ThreadPool pool(1);
  Context party(*transports[0], InsecurePrss(Seed{1}, 0), pool);
  const auto first_turn = [](Context& branch) { return branch.NextRoles().a; };
  EXPECT_EQ(Parallel(party, first_turn, first_turn), std::pair(0, 1));
  EXPECT_EQ(party.NextRoles().a, 2);
}

TEST(Parallel, RefusesMoreBranchesThanHaveNumbers) {
  const auto transports = net::MakeLocalTransports(std::chrono::seconds(10));
  ThreadPool pool(1);
  Context party(*transports[0], InsecurePrss(Seed{1}, 0), pool);
  net::LaneTransport lane(party.transport(), 0);
  for (int fork = 0; fork < (1 << 19) - 1; ++fork) party.PassBranches();
  EXPECT_THROW(
      {
        (void)party.Branch(lane, 0);
        (void)party.Branch(lane, 1);
      },
      ContractError);
}

// One branch of one party fails while everybody else waits: that party gets the cause itself, at once, and
// its peers are told when it gives up.
TEST(Parallel, EndsWithTheFirstFailureOfABranch) {
  const auto start = std::chrono::steady_clock::now();
  const auto transports = net::MakeLocalTransports(kPartyPatience);
  const auto ends = EndsOver(
      transports, [](int self) { return InsecurePrss(Seed{1}, self); },
      [](Context& party) {
        const auto waits = [](Context& branch) { (void)branch.ReceiveWords(branch.next(), 1, 1); };
        const auto fails = [](Context& branch) {
          if (branch.self() == 1) throw DataError("row 7");
          (void)branch.ReceiveWords(1, 1, 1);
        };
        RunBeside(party, waits, fails);
      });
  EXPECT_THROW(std::rethrow_exception(ends[1]), DataError);
  EXPECT_THROW(std::rethrow_exception(ends[0]), NetworkError);
  EXPECT_THROW(std::rethrow_exception(ends[2]), NetworkError);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

// A caller that catches a failure and goes on must not draw a failed branch's randomness once more.
TEST(Parallel, NumbersNothingAnewAfterAFailure) {
  const auto transports = net::MakeLocalTransports(std::chrono::seconds(10));
  ThreadPool pool(1);
  Context party(*transports[0], InsecurePrss(Seed{1}, 0), pool);
  OperationId used = 0;
  const auto uses = [&used](Context& branch) { used = branch.NextOperation(); };
  const auto fails = [](Context&) { throw DataError("row 7"); };
  EXPECT_THROW(RunBeside(party, fails, uses), DataError);
  EXPECT_GT(party.NextOperation(), used);
}

}  // namespace
}  // namespace trefoil::mpc
