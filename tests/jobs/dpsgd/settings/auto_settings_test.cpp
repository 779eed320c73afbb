#include "jobs/dpsgd/settings/auto_settings.h"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "dp/mechanisms/truncated_poisson.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "ml/dpsgd/training.h"
#include "protocols/functions/sigmoid.h"
#include "tests/apps/temporary_folder.h"
#include "tests/reference/plain_sigmoid.h"

namespace trefoil::jobs {
namespace {

constexpr const char* kAllAuto = R"(version = 1
type = "dpsgd"
name = "a"
[data]
name = "a"
format = "npz"
rows = [300, 300, 200]
features = 8
classes = 2
[features]
row_norm = 2.0
[training]
steps = "auto"
expected_batch = "auto"
learning_rate = "auto"
[privacy]
epsilon = 1.0
delta = 1e-5
against = "outsider"
clip = "auto"
)";

DpsgdSettings ReadAuto(const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  return ReadDpsgdSettings(folder.Write("x.toml", kAllAuto), assignments);
}

std::string AutoErrorOf(const std::string& assignment) {
  try {
    (void)ReadAuto({assignment});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ChooseSettings, GivesNumbersThatTrainingTakes) {
  const auto job = ReadAuto();
  EXPECT_EQ(job.training.steps, kFewestAutoSteps);
  EXPECT_EQ(job.training.expected_batch, 800);
  EXPECT_EQ(job.training.max_batch_per_owner, 300);
  EXPECT_EQ(job.training.lost_steps_max, kFewestAutoSteps / 10);
  EXPECT_NEAR(job.privacy.clip, std::sqrt(5.0) / 4, 0.005);
  EXPECT_LE(ml::MakePlan(SettingsOf(job)).epsilon_outsider, 1.0);
}

TEST(ChooseSettings, IsTheJobThatNamesTheNumbers) {
  const auto chosen = ReadAuto({"training.momentum=auto"});
  const auto named = ReadAuto({fmt::format("training.steps={}", chosen.training.steps),
                               "training.expected_batch=800", "training.max_batch_per_owner=300",
                               fmt::format("training.learning_rate={}", chosen.training.learning_rate),
                               fmt::format("privacy.clip={}", chosen.privacy.clip)});
  EXPECT_EQ(DpsgdHash(named), DpsgdHash(chosen));
  EXPECT_EQ(DpsgdJson(ParseDpsgdJson(DpsgdJson(chosen), "x")), DpsgdJson(chosen));
}

struct DocumentedRow {
  std::int64_t rows, batch, features;
  double momentum, clip_of_two, rate_of_two, clip_of_ten, rate_of_ten;
  std::int64_t steps;
};

TEST(ChooseSettings, GivesWhatTheTableOfTheDocsSays) {
  constexpr std::array kTable{
      DocumentedRow{300, 300, 8, 0, 0.47, 6.8, 1.5, 2.2, 100},
      DocumentedRow{300, 300, 64, 0, 1.2, 0.62, 3.7, 0.20, 100},
      DocumentedRow{1000, 1000, 8, 0, 0.47, 23, 1.5, 7.2, 100},
      DocumentedRow{1000, 1000, 64, 0, 1.2, 2.1, 3.7, 0.66, 100},
      DocumentedRow{10'000, 4096, 8, 0.8, 0.47, 22, 1.5, 7.1, 167},
      DocumentedRow{10'000, 4096, 64, 0.8, 1.2, 3.4, 3.7, 1.1, 100},
      DocumentedRow{100'000, 4096, 8, 0.8, 0.47, 22, 1.5, 7.1, 300},
      DocumentedRow{100'000, 4096, 64, 0.8, 1.2, 3.6, 3.7, 1.1, 300},
  };
  for (const auto& row : kTable) {
    for (const int classes : {2, 10}) {
      const auto job =
          ReadAuto({fmt::format("data.rows=[{0},{1},{1}]", row.rows - row.rows / 3 * 2, row.rows / 3),
                    fmt::format("data.features={}", row.features), fmt::format("data.classes={}", classes),
                    fmt::format("features.row_norm={:.1f}", std::sqrt(static_cast<double>(row.features) / 3)),
                    "training.schedule=linear", "training.momentum=auto",
                    row.rows > 1000 ? "privacy.delta=1e-6" : "privacy.delta=1e-4"});
      const double clip = classes == 2 ? row.clip_of_two : row.clip_of_ten;
      const double rate = classes == 2 ? row.rate_of_two : row.rate_of_ten;
      // Of two digits, rounded or cut: one of the last is at most a tenth of a number, and half of it a
      // twentieth.
      EXPECT_NEAR(job.privacy.clip, clip, 0.06 * clip) << row.rows << " " << row.features << " " << classes;
      EXPECT_NEAR(job.training.learning_rate, rate, 0.06 * rate)
          << row.rows << " " << row.features << " " << classes;
      EXPECT_EQ(job.training.momentum, row.momentum);
      EXPECT_EQ(job.training.steps, row.steps);
      EXPECT_EQ(job.training.expected_batch, static_cast<double>(row.batch));
    }
  }
}

/// How far logits can go: eta T C |(x, 1)|, by a mean of the schedule's rates, over 1 - momentum.
double ReachOf(const DpsgdSettings& job, double mean_rate = 1) {
  return job.training.learning_rate * static_cast<double>(job.training.steps) * mean_rate * job.privacy.clip *
         std::hypot(job.features.row_norm, 1.0) / (1 - job.training.momentum);
}

TEST(ChooseSettings, KeepsTheReachOverStepsClipsNormsAndMomentum) {
  const double reach = ReachOf(ReadAuto());
  for (const std::string change :
       {"training.steps=1000", "privacy.clip=0.1", "features.row_norm=7.5", "training.momentum=0.9"}) {
    SCOPED_TRACE(change);
    EXPECT_NEAR(ReachOf(ReadAuto({change})) / reach, 1, 0.01);
  }
  EXPECT_NEAR(ReachOf(ReadAuto({"training.schedule=linear"}), 0.505) / reach, 1, 0.01);
}

TEST(ChooseSettings, GoesAsFarAsTheNoiseLets) {
  const double reach = ReachOf(ReadAuto());
  EXPECT_NEAR(ReachOf(ReadAuto({"privacy.epsilon=0.5"})) / reach, 0.5, 0.01);
  EXPECT_NEAR(ReachOf(ReadAuto({"data.rows=[150,150,100]"})) / reach, 0.5, 0.01);
  EXPECT_NEAR(ReachOf(ReadAuto({"privacy.against=insider"})) / reach, std::sqrt(2.0 / 3), 0.01);
}

TEST(ChooseSettings, GoesFartherWithFewFeatures) {
  const auto reach_of = [](int features) {
    return ReachOf(ReadAuto({fmt::format("data.features={}", features)}));
  };
  const double far = reach_of(100);
  EXPECT_NEAR(reach_of(15) / far, 1, 0.01);
  EXPECT_NEAR(reach_of(7) / far, 2, 0.02);
  EXPECT_NEAR(reach_of(4) / far, 3.2, 0.03);
  EXPECT_NEAR(reach_of(1) / far, 3.2, 0.03);
}

TEST(ChooseSettings, MovesNoLogitByMoreThanTheSigmoidTakes) {
  const std::string many = "data.rows=[1000000,1000000,1000000]";
  const auto far = ReadAuto({many});
  EXPECT_EQ(far.training.expected_batch, 4096);
  EXPECT_NEAR(ReachOf(far) / static_cast<double>(far.training.steps), 40, 0.4);
  EXPECT_EQ(ReadAuto({many, "privacy.epsilon=3"}).training.learning_rate, far.training.learning_rate);
}

/// nu of docs/howto/settings.md of ten thousand rows of that job.
double NoiseOfTenThousand() { return std::sqrt(2 * std::log(1.25 / 1e-5)) / 10'000; }

/// What all steps may add to a logit for the noise's sake, where no step is held back.
double ReachOfManySteps(const std::vector<std::string>& assignments) {
  auto many = assignments;
  many.emplace_back("training.steps=100000");
  return ReachOf(ReadAuto(many));
}

TEST(ChooseSettings, TakesTheFewestStepsThatGoAsFarAsTheNoiseLets) {
  for (const std::string momentum : {"training.momentum=0", "training.momentum=0.9"}) {
    SCOPED_TRACE(momentum);
    const std::vector<std::string> job{"data.rows=[4000,4000,2000]", momentum};
    const std::int64_t steps = ReadAuto(job).training.steps;
    EXPECT_EQ(steps, static_cast<std::int64_t>(std::ceil(40.0 / 9 / NoiseOfTenThousand() / 40)));
    EXPECT_NEAR(ReachOf(ReadAuto(job)) / ReachOfManySteps(job), 1, 0.01);
  }
  const std::vector<std::string> linear{"data.rows=[2000,2000,2000]", "training.schedule=linear"};
  const auto falling = ReadAuto(linear);
  EXPECT_GT(falling.training.steps, kFewestAutoSteps);
  EXPECT_LT(falling.training.steps, kMostAutoSteps);
  const double mean_rate = (1 + 1.0 / static_cast<double>(falling.training.steps)) / 2;
  EXPECT_NEAR(ReachOf(falling, mean_rate) / ReachOfManySteps(linear) * 2, 1, 0.01);
  EXPECT_EQ(ReadAuto({"data.rows=[1000000,1000000,1000000]"}).training.steps, kMostAutoSteps);
}

TEST(ChooseSettings, TakesMomentumWhereTheNoiseLetsAsManyStepsGoFarther) {
  const std::string by_rule = "training.momentum=auto";
  const std::string ten_thousand = "data.rows=[4000,4000,2000]";
  EXPECT_EQ(DpsgdHash(ReadAuto({by_rule})), DpsgdHash(ReadAuto()));
  EXPECT_EQ(ReadAuto({ten_thousand}).training.momentum, 0);  // which is not "auto" by itself

  const auto far = ReadAuto({ten_thousand, by_rule});
  EXPECT_EQ(far.training.momentum, 0.8);
  EXPECT_EQ(far.training.steps, kFewestAutoSteps);
  EXPECT_NEAR(ReachOf(far) / ReachOfManySteps({ten_thousand}), 1, 0.01);
  EXPECT_EQ(ReadAuto({ten_thousand, by_rule, "training.steps=229"}).training.momentum, 0.8);
  EXPECT_EQ(ReadAuto({ten_thousand, by_rule, "training.steps=230"}).training.momentum, 0);
}

constexpr const char* kMillions = "data.rows=[1000000,1000000,1000000]";

TEST(ChooseSettings, KeepsAllThatMomentumRepeatsOfAStepBelowWhereTheSigmoidTurns) {
  const double without = ReachOf(ReadAuto({kMillions}));
  for (const std::string bound : {"64", "8"}) {
    const auto farthest = ReadAuto({kMillions, "training.momentum=auto", "training.logit_bound=" + bound});
    EXPECT_EQ(farthest.training.momentum, 0.8);
    EXPECT_EQ(farthest.training.steps, kMostAutoSteps);
    const double whole_move = ReachOf(farthest) / static_cast<double>(farthest.training.steps);
    const double turn = 2 * farthest.training.logit_bound;
    EXPECT_LT(whole_move, 0.8 * turn) << bound;
    EXPECT_GT(whole_move, 0.75 * turn) << bound;
  }
  EXPECT_NEAR(ReachOf(ReadAuto({kMillions, "training.momentum=auto"})) / without, 2.5, 0.02);
  // A momentum that the job names does not go farther.
  EXPECT_NEAR(ReachOf(ReadAuto({kMillions, "training.momentum=0.8"})) / without, 1, 0.01);
}

/// The largest logit of a training by the sigmoid that shares have, without noise, on records that differ in
/// their class alone; `rare` is the part of the rarer one.
double LargestLogit(const DpsgdSettings& job, double rare) {
  const auto& series = protocols::SigmoidSeriesFor(job.training.logit_bound);
  const double length = std::hypot(job.features.row_norm, 1.0);
  const auto clipped = [&](double error) {
    return std::clamp(error * length, -job.privacy.clip, job.privacy.clip);
  };
  double logit = 0;
  double velocity = 0;
  double largest = 0;
  for (std::int64_t step = 0; step < job.training.steps; ++step) {
    const double prediction = reference::SeriesAt(series, logit);
    const double gradient = (1 - rare) * clipped(prediction - 1) + rare * clipped(prediction);
    velocity = job.training.momentum * velocity + job.training.learning_rate * gradient;
    logit -= velocity * length;
    largest = std::max(largest, std::abs(logit));
  }
  return largest;
}

TEST(ChooseSettings, DoesNotRunAwayWhereNearlyAllRecordsAreOfOneClass) {
  for (const std::string steps : {"training.steps=100", "training.steps=auto"}) {
    const auto job = ReadAuto({kMillions, "training.momentum=auto", steps});
    for (const double rare : {0.0, 0.001, 0.01, 0.1, 0.4})
      EXPECT_LT(LargestLogit(job, rare), 1.6 * job.training.logit_bound) << rare;
  }
}

TEST(ChooseSettings, TakesAsManyStepsWithANumberForTheRate) {
  const std::vector<std::string> job{"data.rows=[4000,4000,2000]"};
  const std::vector<std::string> named{job[0], "training.learning_rate=0.5"};
  EXPECT_EQ(ReadAuto(named).training.steps, ReadAuto(job).training.steps);
}

TEST(ChooseSettings, TakesTheFewestStepsWhereThereIsNoRuleForTheRate) {
  for (const std::string change : {"model.hidden=[4]", "model.loss=squared", "training.clipping=examples"}) {
    const auto job = ReadAuto({"data.rows=[1000000,1000000,1000000]", change, "training.learning_rate=0.5",
                               "privacy.clip=3", "training.truncation=exact"});
    EXPECT_EQ(job.training.steps, kFewestAutoSteps) << change;
  }
}

TEST(ChooseSettings, TakesATenthOfItsStepsAsLostUnlessNamed) {
  const std::string many = "data.rows=[1000000,1000000,1000000]";
  EXPECT_EQ(ReadAuto({many}).training.lost_steps_max, kMostAutoSteps / 10);
  EXPECT_EQ(ReadAuto({many, "training.lost_steps_max=7"}).training.lost_steps_max, 7);
}

/// The same of a number from 0 to 10, with what is said of the model.
DpsgdSettings ReadAutoTarget(const std::string& model, const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  std::string text = kAllAuto;
  text.replace(text.find("classes = 2\n"), 12, "[data.target]\nlow = 0\nhigh = 10\n[model]\n" + model);
  return ReadDpsgdSettings(folder.Write("x.toml", text), assignments);
}

TEST(ChooseSettings, GoesLessFarForATarget) {
  const auto job = ReadAutoTarget("loss = \"squared\"\n");
  EXPECT_NEAR(job.privacy.clip / std::sqrt(5.0), 0.2, 0.001);
  EXPECT_NEAR(ReachOf(job) / ReachOf(ReadAuto({"data.features=15"})), 0.2 / 2.5, 0.002);
}

TEST(ChooseSettings, TakesStepsOfATargetThatAreAsLongWithMomentum) {
  const std::string squared = "loss = \"squared\"\n";
  const auto far = ReadAutoTarget(squared, {kMillions, "training.momentum=auto"});
  EXPECT_EQ(far.training.momentum, 0.8);
  EXPECT_EQ(far.training.learning_rate, ReadAutoTarget(squared, {kMillions}).training.learning_rate);
}

TEST(ChooseSettings, ClipsAtHubersThresholdAndGoesAsFar) {
  const std::string model = "loss = \"huber\"\nhuber_threshold = 1\n";
  const auto job = ReadAutoTarget(model);
  EXPECT_NEAR(job.privacy.clip / std::sqrt(5.0), 0.1, 0.001);
  const auto wide = ReadAutoTarget(model, {"model.huber_threshold=100"});
  EXPECT_NEAR(wide.privacy.clip / std::sqrt(5.0), 0.2, 0.001);
  EXPECT_NEAR(ReachOf(job) / ReachOf(wide), 1, 0.01);
}

TEST(ChooseSettings, ClipsCountsAtSmallErrorsAndGoesFarther) {
  const std::string noisy = "privacy.epsilon=0.5";  // so that no step is as long as it may be
  const auto job = ReadAutoTarget("loss = \"poisson\"\n", {noisy});
  EXPECT_NEAR(job.privacy.clip / std::sqrt(5.0), 0.03, 0.001);
  EXPECT_NEAR(ReachOf(job) / ReachOf(ReadAutoTarget("loss = \"squared\"\n", {noisy})), 4, 0.1);
}

TEST(ChooseSettings, ClipsAtHalfOfTheFirstGradient) {
  const double length = std::sqrt(5.0);
  EXPECT_NEAR(ReadAuto({"data.classes=4"}).privacy.clip / length, 0.5, 0.005);
  EXPECT_NEAR(ReadAuto({"data.classes=4", "model.loss=softmax"}).privacy.clip / length, std::sqrt(0.75) / 2,
              0.005);
}

TEST(ChooseSettings, TakesTheNoiseAsGiven) {
  const TemporaryFolder folder;
  std::string text = kAllAuto;
  text.replace(text.find("epsilon = 1.0"), 13, "sigma = 40.0");
  const auto file = folder.Write("x.toml", text);
  EXPECT_NEAR(ReachOf(ReadDpsgdSettings(file, {"privacy.sigma=80"})) / ReachOf(ReadDpsgdSettings(file)), 0.5,
              0.01);
}

TEST(ChooseSettings, LimitsBatchesWhereCuttingCostsNextToNothing) {
  const auto job = ReadAuto({"data.rows=[20000,20000,10000]"});
  const double rate = 4096.0 / 50000;
  const auto cut = [&](std::int64_t limit) {
    return static_cast<double>(job.training.steps) *
           dp::OverflowProbability({.capacity = job.data.rows, .max_batch = {limit, limit, limit}}, rate);
  };
  EXPECT_LE(cut(job.training.max_batch_per_owner), 3e-3 * 1e-5);
  EXPECT_GT(cut(job.training.max_batch_per_owner - 10), 1e-3 * 1e-5 / 2);
}

TEST(ChooseSettings, RefusesWhereThereIsNoRule) {
  for (const std::string change : {"model.hidden=[4]", "model.loss=squared", "training.clipping=examples"}) {
    EXPECT_NE(AutoErrorOf(change).find("training.learning_rate: found \"auto\", expected a number with "),
              std::string::npos)
        << AutoErrorOf(change);
  }
  EXPECT_NE(
      AutoErrorOf("training={steps = 100, expected_batch = 800, learning_rate = 0.5, momentum = \"auto\", "
                  "clipping = \"examples\"}")
          .find("training.momentum: found \"auto\", expected a number with "),
      std::string::npos);
  EXPECT_NE(AutoErrorOf("training.learning_rate=often").find("expected a number above 0, or \"auto\""),
            std::string::npos);
}

}  // namespace
}  // namespace trefoil::jobs
