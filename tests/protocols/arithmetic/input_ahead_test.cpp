#include "protocols/arithmetic/input_ahead.h"

#include <malloc.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "mpc/dealing/preprocessing.h"
#include "tests/support/packed.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// Each run's values are what next() gives.
template <typename Next>
InputAhead::Make RowsOf(Next next) {
  return [next, values = RingMatrix()](mpc::Index first, mpc::Index count) mutable -> RingMatrix {
    if (first == 0) values = next();
    return values.middleRows(first, count);
  };
}

constexpr std::array<Shape, 3> kShapes{Shape{4, 2}, Shape{0, 0}, Shape{5, 1}};

RingMatrix ValuesOf(std::size_t owner, int run) {
  return RandomWords(10 * owner + static_cast<std::size_t>(run) + 1, kShapes[owner].rows,
                     kShapes[owner].cols);
}

TEST(InputAhead, SharesEveryOwnersNextValuesInNoRound) {
  for (const std::int64_t ahead : {0, 2}) {
    (void)RunParties(Seed{1}, [&](mpc::Context& party) {
      const auto self = static_cast<std::size_t>(party.self());
      int next = 0;
      InputAhead inputs(RowsOf([&] { return ValuesOf(self, next++); }), kShapes);
      mpc::Preprocessing runs(party, {.runs = 4, .ahead = ahead, .rotate = true});
      for (int k = 0; k < 4; ++k) {
        std::array<mpc::ArithShare, 3> shares;
        const auto measured =
            Measure(party, [&] { runs.Run([&](mpc::Context& run) { shares = inputs.Next(run); }); });
        EXPECT_EQ(measured.rounds, InputAheadCost(kShapes).rounds());
        EXPECT_EQ(measured.bytes_sent, 0U);
        EXPECT_EQ(measured.bytes_offline, InputAheadCost(kShapes).bytes_offline()[self]);
        EXPECT_TRUE((Reveal(party, shares[0], ReleaseReason::kTest) == ValuesOf(0, k)).all()) << "run " << k;
        EXPECT_EQ(shares[1].size(), 0);
        EXPECT_TRUE((Reveal(party, shares[2], ReleaseReason::kTest) == ValuesOf(2, k)).all()) << "run " << k;
      }
      return 0;
    });
  }
}

// Word for word what Next() gives, each party's part of it too.
TEST(InputAhead, StacksAllOwnersAndCutsTheirColumns) {
  constexpr std::array<Shape, 3> kEach{Shape{4, 7}, Shape{0, 7}, Shape{5, 7}};
  constexpr std::array<mpc::Index, 3> kWidths{4, 1, 2};
  using Blocks = std::vector<mpc::ArithShare>;
  const auto two_runs = [&](const std::function<Blocks(InputAhead&, mpc::Context&)>& next) {
    return RunParties(Seed{1}, [&](mpc::Context& party) {
      const auto self = static_cast<std::size_t>(party.self());
      std::uint64_t seed = 10 * self;
      InputAhead inputs(RowsOf([&] { return RandomWords(++seed, kEach[self].rows, kEach[self].cols); }),
                        kEach);
      mpc::Preprocessing runs(party, {.runs = 2, .ahead = 1, .rotate = true});
      Blocks blocks;
      for (int k = 0; k < 2; ++k) runs.Run([&](mpc::Context& run) { blocks = next(inputs, run); });
      return blocks;
    });
  };
  const auto stacked = two_runs([&](InputAhead& inputs, mpc::Context& run) {
    const auto shares = inputs.Next(run);
    Blocks blocks;
    mpc::Index first = 0;
    for (const mpc::Index width : kWidths) {
      blocks.push_back(StackedColumns(shares, first, width));
      first += width;
    }
    return blocks;
  });
  const auto in_place =
      two_runs([&](InputAhead& inputs, mpc::Context& run) { return inputs.NextStacked(run, kWidths).whole; });
  for (std::size_t party = 0; party < 3; ++party) {
    ASSERT_EQ(in_place[party].size(), kWidths.size());
    for (std::size_t k = 0; k < kWidths.size(); ++k) {
      const mpc::ArithShare& found = in_place[party][k];
      ASSERT_EQ(found.rows(), 9);
      ASSERT_EQ(found.cols(), kWidths[k]);
      EXPECT_TRUE((found.own() == stacked[party][k].own()).all()) << "party " << party << " block " << k;
      EXPECT_TRUE((found.next() == stacked[party][k].next()).all()) << "party " << party << " block " << k;
    }
  }
}

// Dealt in line and ahead; the values are of the whole ring.
TEST(InputAhead, SharesNarrowColumnsModuloTheirWidthInAsManyBits) {
  constexpr std::array<Shape, 3> kEach{Shape{4, 7}, Shape{0, 0}, Shape{5, 7}};
  for (const mpc::NarrowColumns& narrow :
       {mpc::NarrowColumns{5, 40}, mpc::NarrowColumns{7, 48}, mpc::NarrowColumns{1, 8}}) {
    const auto values = [&](std::size_t owner) {
      return RandomWords(owner + 1, kEach[owner].rows, kEach[owner].cols);
    };
    (void)RunParties(Seed{3}, [&](mpc::Context& party) {
      const auto self = static_cast<std::size_t>(party.self());
      InputAhead inputs(RowsOf([&] { return values(self); }), kEach, narrow);
      mpc::Preprocessing runs(party, {.runs = 2, .ahead = 1, .rotate = true});
      for (int k = 0; k < 2; ++k) {
        std::array<mpc::ArithShare, 3> shares;
        const auto measured =
            Measure(party, [&] { runs.Run([&](mpc::Context& run) { shares = inputs.Next(run); }); });
        EXPECT_EQ(measured.bytes_sent, 0U);
        EXPECT_EQ(measured.bytes_offline, InputAheadCost(kEach, narrow).bytes_offline()[self]);
        for (const std::size_t owner : {0U, 2U}) {
          for (const RingMatrix& component : {shares[owner].own(), shares[owner].next()}) {
            EXPECT_TRUE((component == Reduced(component, narrow)).all())
                << "a component is a number modulo 2^width";
          }
          const RingMatrix sum = Reveal(party, shares[owner], ReleaseReason::kTest);
          EXPECT_TRUE((Reduced(sum, narrow) == Reduced(values(owner), narrow)).all()) << "of owner " << owner;
        }
      }
      return 0;
    });
  }
}

// More rows than are made at a time; the dealer's thread and the program's make the same.
TEST(InputAhead, HoldsNarrowColumnsAsTheyCameAndNothingOfComponentsThatAreZero) {
  constexpr std::array<Shape, 3> kEach{Shape{70, 9}, Shape{0, 9}, Shape{129, 9}};
  constexpr std::array<mpc::Index, 2> kWidths{1, 2};
  constexpr mpc::NarrowColumns kNarrow{.columns = 6, .width = 40};
  const auto two_runs = [&](const auto& next) {
    return RunParties(Seed{1}, [&](mpc::Context& party) {
      const auto self = static_cast<std::size_t>(party.self());
      std::uint64_t seed = 10 * self;
      InputAhead inputs(RowsOf([&] { return RandomWords(++seed, kEach[self].rows, kEach[self].cols); }),
                        kEach, kNarrow);
      mpc::Preprocessing runs(party, {.runs = 2, .ahead = 1, .rotate = true});
      std::optional<decltype(next(inputs, party))> last;
      for (int k = 0; k < 2; ++k) runs.Run([&](mpc::Context& run) { last = next(inputs, run); });
      return *last;
    });
  };
  const auto by_owner = two_runs([](InputAhead& inputs, mpc::Context& run) { return inputs.Next(run); });
  const auto stacked =
      two_runs([&](InputAhead& inputs, mpc::Context& run) { return inputs.NextStacked(run, kWidths); });
  for (std::size_t party = 0; party < 3; ++party) {
    ASSERT_TRUE(stacked[party].packed.has_value());
    const mpc::PackedShare& packed = *stacked[party].packed;
    ASSERT_EQ(packed.blocks().size(), 3U);
    mpc::Index row = 0;
    for (std::size_t owner = 0; owner < 3; ++owner) {
      SCOPED_TRACE("party " + std::to_string(party) + ", rows of " + std::to_string(owner));
      const auto& block = packed.blocks()[owner];
      ASSERT_EQ(block.rows, kEach[owner].rows);
      const bool sent_to = party == (owner + 2) % 3;
      const bool draws = party == (owner + 1) % 3;
      EXPECT_EQ(block.own.size() > 0, block.rows > 0 && !sent_to);
      EXPECT_EQ(block.next.size() > 0, block.rows > 0 && !draws);
      for (std::size_t k = 0; k < 2; ++k) {
        const mpc::Index first = k == 0 ? 6 : 7;
        const mpc::ArithShare expected = Columns(by_owner[party][owner], first, kWidths[k]);
        const mpc::ArithShare found = Rows(stacked[party].whole[k], row, block.rows);
        EXPECT_TRUE((found.own() == expected.own()).all() && (found.next() == expected.next()).all());
      }
      const mpc::ArithShare expected = Columns(by_owner[party][owner], 0, 6);
      const mpc::ArithShare found = Rows(Widened(packed), row, block.rows);
      EXPECT_TRUE((found.own() == expected.own()).all() && (found.next() == expected.next()).all());
      row += block.rows;
    }
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which have an allocator of their own

/// What the program has allocated and not freed.
double Allocated() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

// All three parties' together, while the batch of the second run is there and all that may be dealt ahead is
// made: a message lies at its owner or where it was sent, once.
TEST(InputAhead, HoldsAsManyBytesAsItSays) {
  constexpr std::array<Shape, 3> kRows{Shape{1500, 103}, Shape{1000, 103}, Shape{500, 103}};
  constexpr mpc::NarrowColumns kNarrow{.columns = 100, .width = 40};
  constexpr std::array<mpc::Index, 2> kOthers{1, 2};
  for (const std::int64_t ahead : {1, 2, 5}) {
    std::atomic<std::int64_t> made = 0;
    std::barrier all(3);
    double held = 0;
    const double before = Allocated();
    (void)RunParties(Seed{1}, [&](mpc::Context& party) {
      const auto& own = kRows.at(static_cast<std::size_t>(party.self()));
      const auto make = [&](mpc::Index, mpc::Index count) {
        made += count;
        return RandomWords(1, count, 103);
      };
      InputAhead inputs(make, kRows, kNarrow);
      mpc::Preprocessing runs(party, {.runs = 9, .ahead = ahead, .rotate = true});
      for (int run = 0; run < 2; ++run) {
        runs.Run([&](mpc::Context& context) {
          const auto batch = inputs.NextStacked(context, kOthers);
          all.arrive_and_wait();
          // Rows of one run more than is counted here are not made before this run ends.
          const std::int64_t expected = 3000 * (run + 1 + (run == 0 ? 0 : ahead - 1));
          while (made < expected) std::this_thread::yield();
          if (run == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));  // of what is not kept
          all.arrive_and_wait();
          if (run == 1 && party.self() == 0) held = Allocated() - before;
          all.arrive_and_wait();
        });
      }
      return own.rows;
    });
    double said = 0;
    for (int party = 0; party < 3; ++party) said += InputAheadBytes(kRows, kNarrow, ahead, party);
    const double messages = 3000 * (100 * 5 + 3 * 8);
    EXPECT_NEAR(held / (said - messages), 1, 0.03) << ahead << " ahead";
  }
}

#endif

TEST(InputAhead, RefusesWidthsThatAreNotThoseOfAllColumns) {
  (void)RunParties(Seed{2}, [](mpc::Context& party) {
    InputAhead inputs(RowsOf([] { return RingMatrix::Zero(2, 3); }), {Shape{2, 3}, Shape{2, 3}, Shape{2, 3}});
    for (const auto& widths : {std::vector<mpc::Index>{2}, std::vector<mpc::Index>{2, 2}})
      EXPECT_THROW((void)inputs.NextStacked(party, widths), ContractError);
    EXPECT_EQ(party.transport().counters().messages, 0U);
    return 0;
  });
}

TEST(InputAhead, RefusesValuesOfAnotherShape) {
  for (const mpc::NarrowColumns& narrow : {mpc::NarrowColumns{}, mpc::NarrowColumns{1, 40}}) {
    const auto sent = RunParties(Seed{2}, [&](mpc::Context& party) {
      InputAhead inputs([](mpc::Index, mpc::Index) -> RingMatrix { return RingMatrix::Zero(3, 1); },
                        {Shape{2, 1}, Shape{2, 1}, Shape{2, 1}}, narrow);
      EXPECT_THROW((void)inputs.Next(party), ContractError);
      return party.transport().counters().messages;
    });
    EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
  }
}

}  // namespace
}  // namespace trefoil::protocols
