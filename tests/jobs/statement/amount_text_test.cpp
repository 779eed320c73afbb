#include "jobs/statement/amount_text.h"

#include <gtest/gtest.h>

namespace trefoil::jobs {
namespace {

TEST(BytesText, ChoosesAUnit) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(999), "999 B");
  EXPECT_EQ(BytesText(1000), "1.0 kB");
  EXPECT_EQ(BytesText(999'949), "999.9 kB");
  EXPECT_EQ(BytesText(999'950), "1.0 MB");
  EXPECT_EQ(BytesText(12'345'678'901), "12.3 GB");
}

TEST(SecondsText, ChoosesUnits) {
  EXPECT_EQ(SecondsText(0.04), "0.0 s");
  EXPECT_EQ(SecondsText(59.4), "59 s");
  EXPECT_EQ(SecondsText(59.6), "1 min 0 s");
  EXPECT_EQ(SecondsText(3725), "1 h 2 min");
}

}  // namespace
}  // namespace trefoil::jobs
