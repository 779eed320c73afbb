#include "jobs/ranks/of_rank0.h"

#include <gtest/gtest.h>

#include "tests/support/thread_ranks.h"

namespace trefoil::jobs {
namespace {

TEST(OfRank0, IsOfAnyLengthWhateverTheOthersHave) {
  for (const std::string text : {"", "a", "a longer one"}) {
    testing_support::RunRanks(3, {1}, [&](mpc::Context& /*party*/, mpc::Ranks& ranks) {
      EXPECT_EQ(OfRank0(ranks.rank() == 0 ? text : std::string(5, 'x'), ranks), text);
    });
  }
}

}  // namespace
}  // namespace trefoil::jobs
