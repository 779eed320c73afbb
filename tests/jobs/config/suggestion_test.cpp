#include "jobs/config/suggestion.h"

#include <gtest/gtest.h>

namespace trefoil::jobs {
namespace {

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("step", "steps"), 1U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(EditDistance("setps", "steps"), 1U);  // neighbours swapped
}

TEST(DidYouMean, NamesTheNearestOrNothing) {
  EXPECT_EQ(DidYouMean("training.step", {"training.steps", "training.clipping"}),
            "; did you mean training.steps?");
  EXPECT_EQ(DidYouMean("epsilom", {"delta", "epsilon"}), "; did you mean epsilon?");
  EXPECT_EQ(DidYouMean("colour", {"delta", "epsilon"}), "");
  EXPECT_EQ(DidYouMean(":", {",", ";"}), "");
  EXPECT_EQ(DidYouMean("x", {}), "");
}

}  // namespace
}  // namespace trefoil::jobs
