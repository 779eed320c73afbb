#include "ml/ranks/rank_sums.h"

#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <vector>

#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/noise/noisy_sum.h"
#include "ml/on_shares/correct_counts.h"
#include "tests/support/fixed_key.h"
#include "tests/support/ml_test.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr std::int64_t kCalls = 2;

/// What a rank of a party brings to the sums of a call.
RingMatrix OwnOf(int party, int rank, std::int64_t call, Index numbers) {
  return RandomSigned(static_cast<std::uint8_t>(1 + party + 3 * rank + 20 * call), numbers, 1, 63);
}

RandomStream NoiseStreamOf(int party, int rank) {
  return RandomStream(FixedKey(static_cast<std::uint8_t>(100 + party + 3 * rank)));
}

struct Split {
  Index numbers;
  int ranks;
};

class RankSumsTest : public testing::TestWithParam<Split> {
 protected:
  [[nodiscard]] SumSession Session() const {
    const auto [numbers, ranks] = GetParam();
    return {.calls = kCalls,
            .coordinates = SliceOf(numbers, ranks),
            .sigma = 2,
            .sensitivity = 1024,
            .to = {0, 2}};
  }

  /// The sums of all parties' ranks, to each number of which each party has added one sample: that of the
  /// rank whose slice it is in.
  [[nodiscard]] std::vector<RingMatrix> Expected() const {
    const auto [numbers, ranks] = GetParam();
    const dp::DiscreteGaussian sampler(CountVariance(Session().sigma, Session().sensitivity));
    const Index slice = SliceOf(numbers, ranks);
    std::vector<RingMatrix> sums(kCalls, RingMatrix::Zero(ranks * slice, 1));
    for (int party = 0; party < 3; ++party) {
      for (int rank = 0; rank < ranks; ++rank) {
        auto stream = NoiseStreamOf(party, rank);
        for (std::int64_t call = 0; call < kCalls; ++call) {
          auto& sum = sums.at(static_cast<std::size_t>(call));
          sum.topRows(numbers) += OwnOf(party, rank, call, numbers);
          for (Index k = 0; k < slice; ++k)
            sum(rank * slice + k, 0) += static_cast<mpc::Word>(sampler.Sample(stream));
        }
      }
    }
    for (auto& sum : sums) sum = RingMatrix(sum.topRows(numbers));
    return sums;
  }
};

// And each lane sends what is declared of a slice.
TEST_P(RankSumsTest, AreThoseOfOneMachineWithOneSampleOfEachPartyInEachNumber) {
  const auto [numbers, ranks] = GetParam();
  const auto session = Session();
  std::mutex mutex;
  std::vector<std::uint64_t> sent(static_cast<std::size_t>(ranks));
  const auto expected = Expected();
  RunRanks(ranks, Seed{5}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
    NoisySums sums(session, NoiseStreamOf(party.self(), own_ranks.rank()));
    for (std::int64_t call = 0; call < kCalls; ++call) {
      const auto own = SliceOfSum(OwnOf(party.self(), own_ranks.rank(), call, numbers), own_ranks);
      const auto slice = sums.Next(party, own);
      EXPECT_EQ(slice.has_value(), party.self() != 1);
      if (!slice) continue;
      const auto joined = JoinSlices(*slice, numbers, own_ranks);
      EXPECT_EQ(joined.has_value(), own_ranks.rank() == 0);
      if (!joined) continue;
      ASSERT_EQ(joined->rows(), numbers);
      EXPECT_TRUE((*joined == expected.at(static_cast<std::size_t>(call))).all());
    }
    const std::lock_guard lock(mutex);
    const auto& counters = party.transport().counters();
    sent.at(static_cast<std::size_t>(own_ranks.rank())) += counters.bytes_sent + counters.bytes_offline;
  });
  for (const auto bytes : sent)
    EXPECT_EQ(bytes, kCalls * NoisySumCost(session.coordinates, session.to).bytes_of_all());
}

INSTANTIATE_TEST_SUITE_P(Splits, RankSumsTest,
                         testing::Values(Split{8, 2}, Split{7, 3}, Split{100, 3}, Split{3, 5}, Split{1, 1}),
                         [](const auto& info) {
                           return std::to_string(info.param.numbers) + "_by_" +
                                  std::to_string(info.param.ranks);
                         });

}  // namespace
}  // namespace trefoil::ml
