#include "mpc/dealing/preprocessing.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "mpc/parallel.h"
#include "protocols/arithmetic/input_ahead.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/comparison/threshold_comparison.h"
#include "tests/support/protocol_test.h"

namespace trefoil::mpc {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kItems = 70;
constexpr int kRuns = 7;

/// Deals in all ways: words, bits, keys, in branches and beside them. Multiples of 16, so that no coin is
/// tossed: x / 16 [x < 3] + x / 16.
ArithShare PreparedProgram(Context& run, const ArithShare& x) {
  const auto both = Parallel(
      run, [&](Context& branch) { return protocols::Truncate(branch, x, 4); },
      [&](Context& branch) { return protocols::BelowThresholds(branch, x, {3}); });
  const ArithShare sixteenth = both.first;
  const auto bit = protocols::LessThanZero(run, Reshaped(x, kItems, 1), 20);
  return protocols::BitTimes(run, bit, sixteenth) + sixteenth + Word{1000} * Reshaped(both.second, kItems, 1);
}

RingMatrix Expected(const RingMatrix& x) {
  return x.unaryExpr([](Word word) {
    const std::int64_t value = Signed(word);
    const std::int64_t sixteenth = value / 16;
    return static_cast<Word>((value < 0 ? sixteenth : 0) + sixteenth + (value < 3 ? 1000 : 0));
  });
}

struct Observed {
  std::vector<ArithShare> shares;
  std::vector<net::Counters> counters;
};

/// Runs of the program with so much ahead; counters and shares after each.
std::array<Observed, 3> RunAhead(std::int64_t ahead, const RingMatrix& x) {
  return RunParties(Seed{1}, [&](Context& party) {
    const ArithShare shared = InsecureDeal(party, x);
    Preprocessing runs(party, {.runs = kRuns, .ahead = ahead, .rotate = true});
    Observed observed;
    for (int k = 0; k < kRuns; ++k) {
      runs.Run([&](Context& run) { observed.shares.push_back(PreparedProgram(run, shared)); });
      observed.counters.push_back(party.transport().counters());
    }
    return observed;
  });
}

/// Shares and counters after each run, bit for bit.
void ExpectSame(const std::array<Observed, 3>& observed, const std::array<Observed, 3>& in_line,
                std::int64_t ahead) {
  for (std::size_t party = 0; party < 3; ++party) {
    ASSERT_EQ(observed[party].shares.size(), in_line[party].shares.size());
    for (std::size_t k = 0; k < in_line[party].shares.size(); ++k) {
      SCOPED_TRACE("party " + std::to_string(party) + ", run " + std::to_string(k) + ", ahead " +
                   std::to_string(ahead));
      EXPECT_TRUE((observed[party].shares[k].own() == in_line[party].shares[k].own()).all());
      EXPECT_TRUE((observed[party].shares[k].next() == in_line[party].shares[k].next()).all());
      const net::Counters& counters = observed[party].counters[k];
      EXPECT_EQ(counters.bytes_sent, in_line[party].counters[k].bytes_sent);
      EXPECT_EQ(counters.bytes_offline, in_line[party].counters[k].bytes_offline);
      EXPECT_EQ(counters.bytes_sent_to, in_line[party].counters[k].bytes_sent_to);
      EXPECT_EQ(counters.rounds, in_line[party].counters[k].rounds);
    }
  }
}

TEST(Preprocessing, GivesTheSameSharesAndCountsAsDealingInLine) {
  const RingMatrix x = Word{16} * RandomSigned(1, kItems, 1, 8);
  const auto in_line = RunAhead(0, x);
  for (int k = 0; k < kRuns; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const RingMatrix sum =
        in_line[0].shares[at].own() + in_line[1].shares[at].own() + in_line[2].shares[at].own();
    ASSERT_TRUE((sum == Expected(x)).all()) << "run " << k;
    // Fresh randomness in each run.
    if (k > 0) {
      EXPECT_FALSE((in_line[0].shares[at].own() == in_line[0].shares[at - 1].own()).any());
    }
  }
  for (const std::int64_t ahead : {1, 2, 100}) ExpectSame(RunAhead(ahead, x), in_line, ahead);
}

// What is dealt in line is made in the thread of the program.
TEST(Preprocessing, DealsTheFirstRunInLineAndNoOther) {
  const protocols::Shape shape{2, 1};
  const auto in_line = RunParties(Seed{1}, [&](Context& party) {
    std::atomic<int> made_here = 0;
    std::atomic<int> made = 0;
    protocols::InputAhead inputs(
        [&, program = std::this_thread::get_id()](Index, Index) -> RingMatrix {
          ++made;
          if (std::this_thread::get_id() == program) ++made_here;
          return RingMatrix::Zero(2, 1);
        },
        {shape, shape, shape});
    {
      Preprocessing runs(party, {.runs = 6, .ahead = 2, .rotate = true});
      for (int k = 0; k < 6; ++k) runs.Run([&](Context& run) { (void)inputs.Next(run); });
    }
    return std::array<int, 2>{made_here, made};
  });
  for (const auto& made : in_line) EXPECT_EQ(made, (std::array<int, 2>{1, 6}));
}

TEST(Preprocessing, RunsAProgramThatDealsNothing) {
  (void)RunParties(Seed{1}, [](Context& party) {
    int runs_done = 0;
    Preprocessing runs(party, {.runs = 3, .ahead = 2, .rotate = true});
    for (int k = 0; k < 3; ++k) {
      runs.WaitForNextRun();
      runs.Run([&](Context&) { ++runs_done; });
    }
    EXPECT_EQ(runs_done, 3);
    return 0;
  });
}

TEST(Preprocessing, RotatesTheRolesOrKeepsThem) {
  const RingMatrix x = RandomSigned(1, kItems, 1, 8);
  for (const bool rotate : {false, true}) {
    const auto dealt = RunParties(Seed{1}, [&](Context& party) {
      const ArithShare shared = InsecureDeal(party, x);
      Preprocessing runs(party, {.runs = 3, .ahead = 1, .rotate = rotate});
      std::vector<std::uint64_t> bytes;
      for (int k = 0; k < 3; ++k) {
        party.transport().ResetCounters();
        runs.Run([&](Context& run) { (void)protocols::Truncate(run, shared, 4); });
        bytes.push_back(party.transport().counters().bytes_offline);
      }
      return bytes;
    });
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t party = 0; party < 3; ++party) {
        const bool dealer = party == (2 + (rotate ? k : 0)) % 3;
        EXPECT_EQ(dealt[party][k], dealer ? 16U * kItems : 0U) << "party " << party << " run " << k;
      }
    }
  }
}

TEST(Preprocessing, MakesNoMoreAheadThanItMay) {
  constexpr std::int64_t kAhead = 2;
  const protocols::Shape shape{2, 1};
  (void)RunParties(Seed{1}, [&](Context& party) {
    std::atomic<int> made = 0;
    protocols::InputAhead inputs(
        [&](Index, Index) -> RingMatrix {
          ++made;
          return RingMatrix::Zero(2, 1);
        },
        {shape, shape, shape});
    {
      Preprocessing runs(party, {.runs = 6, .ahead = kAhead, .rotate = true});
      for (int k = 0; k < 6; ++k) {
        runs.WaitForNextRun();
        EXPECT_GE(made, k);
        EXPECT_LE(made, k == 0 ? 0 : k + kAhead);
        runs.Run([&](Context& run) { (void)inputs.Next(run); });
      }
    }
    EXPECT_EQ(made, 6);
    return 0;
  });
}

TEST(Preprocessing, RefusesARunThatDealsOtherwiseThanTheFirst) {
  const RingMatrix x = RandomSigned(1, kItems, 1, 8);
  const std::vector<std::function<void(Context&, const ArithShare&)>> others{
      // other sizes, another operation before, another way to deal
      [](Context& run, const ArithShare& y) { (void)protocols::Truncate(run, Rows(y, 0, kItems - 1), 4); },
      [](Context& run, const ArithShare& y) {
        (void)protocols::Multiply(run, y, y);
        (void)protocols::Truncate(run, y, 4);
      },
      [](Context& run, const ArithShare& y) { (void)protocols::BelowThresholds(run, y, {3}); },
  };
  for (const auto& other : others) {
    (void)RunParties(Seed{1}, [&](Context& party) {
      const ArithShare shared = InsecureDeal(party, x);
      Preprocessing runs(party, {.runs = 3, .ahead = 1, .rotate = true});
      runs.Run([&](Context& run) { (void)protocols::Truncate(run, shared, 4); });
      EXPECT_THROW(runs.Run([&](Context& run) { other(run, shared); }), ContractError);
      EXPECT_THROW(runs.Run([&](Context& run) { (void)protocols::Truncate(run, shared, 4); }), ContractError);
      return 0;
    });
  }
}

TEST(Preprocessing, RefusesMoreRunsThanAnnounced) {
  (void)RunParties(Seed{1}, [](Context& party) {
    Preprocessing runs(party, {.runs = 1, .ahead = 1, .rotate = true});
    runs.Run([](Context&) {});
    EXPECT_THROW(runs.Run([](Context&) {}), ContractError);
    return 0;
  });
}

// Its numbers have been drawn: a caller that goes on would get the same masks again, for other values. What
// comes after all the runs has numbers of its own.
TEST(Preprocessing, RefusesAnotherRunAfterOneThatFailed) {
  const RingMatrix x = RandomSigned(1, kItems, 1, 8);
  for (const std::int64_t ahead : {0, 1}) {
    (void)RunParties(Seed{1}, [&](Context& party) {
      const ArithShare shared = InsecureDeal(party, x);
      const auto program = [&](Context& run) { (void)protocols::Truncate(run, shared, 4); };
      {
        Preprocessing runs(party, {.runs = 4, .ahead = ahead, .rotate = true});
        runs.Run(program);
        runs.WaitForNextRun();  // the others get what this party deals, also if it is through before them
        EXPECT_THROW(runs.Run([&](Context& run) {
          program(run);
          throw DataError("row 7: found NaN, expected a number");
        }),
                     DataError);
        for (int again = 0; again < 2; ++again) EXPECT_THROW(runs.Run(program), ContractError);
      }
      Preprocessing others(party, {.runs = 1, .ahead = ahead, .rotate = true});
      others.Run(program);
      return 0;
    });
  }
}

TEST(Preprocessing, RefusesARunWithinARun) {
  (void)RunParties(Seed{1}, [](Context& party) {
    Preprocessing runs(party, {.runs = 2, .ahead = 0, .rotate = true});
    runs.Run([&](Context&) { EXPECT_THROW(runs.Run([](Context&) {}), ContractError); });
    return 0;
  });
}

// A party whose next values cannot be made says so itself; the others lose it.
TEST(Preprocessing, EndsWithWhatKeptAPartyFromDealing) {
  const protocols::Shape shape{2, 1};
  const auto transports = net::MakeLocalTransports(std::chrono::seconds(10));
  const auto ends = EndsOver(
      transports, [](int self) { return InsecurePrss(Seed{1}, self); },
      [&](Context& party) {
        int made = 0;
        protocols::InputAhead inputs(
            [&made, self = party.self()](Index, Index) -> RingMatrix {
              if (self == 1 && ++made == 3) throw DataError("row 7: found NaN, expected a number");
              return RingMatrix::Zero(2, 1);
            },
            {shape, shape, shape});
        Preprocessing runs(party, {.runs = 5, .ahead = 2, .rotate = true});
        for (int k = 0; k < 5; ++k) {
          runs.Run([&](Context& run) {
            (void)protocols::Reveal(run, inputs.Next(run)[1], protocols::ReleaseReason::kTest);
          });
        }
      });
  EXPECT_THROW(std::rethrow_exception(ends[1]), DataError);
  for (const std::size_t other : {0U, 2U}) {
    ASSERT_TRUE(ends[other]);
    EXPECT_THROW(std::rethrow_exception(ends[other]), NetworkError);
  }
}

// A party that deals, then is dealt to as B, then draws as A: with two runs ahead it draws what it has as A
// while it deals for the next run, and with six ahead the messages of two later runs wait.
TEST(DealingBytes, CountWhatIsDealtOfTheLargestMessage) {
  const Cost run = Then(Cost::Offline({{2, 1, 100}}).WithTurn(), Cost::Offline({{2, 1, 40}}));
  const auto bytes = [&](std::int64_t ahead) { return DealingBytes(run, ahead); };
  EXPECT_EQ(bytes(0), 300);
  EXPECT_EQ(bytes(1), 300);
  EXPECT_EQ(bytes(2), 400);
  EXPECT_EQ(bytes(3), 500);
  EXPECT_EQ(bytes(5), 500);
  EXPECT_EQ(bytes(6), 600);
  EXPECT_EQ(DealingBytes(Cost(), 2), 0);
}

}  // namespace
}  // namespace trefoil::mpc
