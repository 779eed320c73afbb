#include "protocols/arithmetic/input_ahead.h"

#include "base/error.h"
#include "mpc/preprocessing.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

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
      InputAhead inputs([&] { return ValuesOf(self, next++); }, kShapes);
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

TEST(InputAhead, RefusesValuesOfAnotherShape) {
  const auto sent = RunParties(Seed{2}, [](mpc::Context& party) {
    InputAhead inputs([] { return RingMatrix::Zero(3, 1); }, {Shape{2, 1}, Shape{2, 1}, Shape{2, 1}});
    EXPECT_THROW((void)inputs.Next(party), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
