#include "runtime/observe/progress.h"

#include <gmock/gmock.h>

#include <limits>
#include <sstream>

namespace trefoil::runtime {
namespace {

const ml::StepReport kReport{.step = 17,
                             .steps = 439,
                             .seconds = 34.0,
                             .rounds = 204,
                             .bytes_sent = 12'345'678,
                             .epsilon_outsider = 0.5123,
                             .epsilon_insider = std::numeric_limits<double>::infinity()};

TEST(ProgressLine, HasAllThatIsKnown) {
  EXPECT_EQ(ProgressLine(kReport),
            "step 17/439, epsilon 0.513 outsider infinite insider, 12.3 MB sent, 204 rounds, 34 s, 14 min 4 "
            "s left");
}

TEST(ProgressLine, HasTheInsidersEpsilonFirstWhereItIsForValues) {
  EXPECT_THAT(ProgressLine(kReport, jobs::FirstEpsilon::kInsider),
              testing::StartsWith("step 17/439, epsilon infinite insider 0.513 outsider, 12.3 MB sent"));
  std::ostringstream out;
  ProgressDisplay display(out, false);
  display.SayFirst(jobs::FirstEpsilon::kInsider);
  display.Show(kReport);
  EXPECT_THAT(out.str(), testing::HasSubstr("epsilon infinite insider 0.513 outsider"));
}

TEST(ClipLine, SaysTheOpenedCountAndTheNextClip) {
  EXPECT_EQ(ClipLine(17, {.within = 57.26, .next = 0.4124}),
            "clip: 57.3 more gradients within it than beyond by the noisy count of step 17; 0.412 from the "
            "next step on");
  EXPECT_EQ(ClipLine(3, {.within = -4.5, .next = 2}),
            "clip: 4.5 fewer gradients within it than beyond by the noisy count of step 3; 2 from the next "
            "step on");
}

TEST(ProgressDisplay, PrintsPlainLinesSparingly) {
  std::ostringstream out;
  ProgressDisplay display(out, false);
  auto report = kReport;
  for (report.step = 1; report.step <= report.steps; ++report.step) display.Show(report);
  display.Finish();
  const auto text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);  // the first step and the last
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(ProgressDisplay, OverwritesItsLineOnATerminal) {
  std::ostringstream out;
  ProgressDisplay display(out, true);
  display.Show(kReport);
  display.Say("connected");
  EXPECT_EQ(out.str(), "\r\033[K" + ProgressLine(kReport) + "\nconnected\n");
}

}  // namespace
}  // namespace trefoil::runtime
