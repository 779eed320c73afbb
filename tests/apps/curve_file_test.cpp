#include "apps/account/curve_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trefoil::apps {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

dp::TrainingRecord StatedRecord(dp::PrivacyUnit unit, const dp::RecordedEvent& event) {
  return {.job_hash = "a",
          .run_id = "b",
          .events = {event},
          .promise = dp::Promise{.unit = unit, .neighbours = dp::Neighbours::kReplaced}};
}

TEST(PrivacyCurves, SayWhomTheyAreFor) {
  const dp::PureReleases release{.count = 1, .epsilon = 0.5};
  const auto curves = CurvesOf(StatedRecord(dp::PrivacyUnit::kOwner, release));
  EXPECT_EQ(ToJson(curves).at("unit"), "owner");
  EXPECT_EQ(ToJson(curves).at("neighbours"), "replaced");
  const auto svg = ToSvg(curves);
  EXPECT_THAT(svg, HasSubstr("Trade-off: tests for an owner<"));
  EXPECT_THAT(svg, HasSubstr("delta at every epsilon, for an owner<"));
  EXPECT_THAT(svg, Not(HasSubstr("other values")));
  const auto numbers = CurvesOf(dp::SampledGaussian{1, 4, 1});
  EXPECT_TRUE(ToJson(numbers).at("unit").is_null());
  EXPECT_TRUE(ToJson(numbers).at("neighbours").is_null());
  EXPECT_THAT(ToSvg(numbers), HasSubstr("Trade-off: tests for a unit<"));
}

TEST(PrivacyCurves, OfAVerticalPartitionSayWhatEachIsFor) {
  PrivacyCurves curves;
  curves.vertical = true;
  const auto svg = ToSvg(curves);
  EXPECT_THAT(svg, HasSubstr("insider: other values<"));
  EXPECT_THAT(svg, HasSubstr("outsider: record or none<"));
}

}  // namespace
}  // namespace trefoil::apps
