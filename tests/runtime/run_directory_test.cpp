#include "runtime/run_directory.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::runtime {
namespace {

TEST(RunDirectory, IsRefusedUnlessEmpty) {
  const TemporaryFolder folder;
  MakeRunDirectory(folder.path() / "a/b");
  MakeRunDirectory(folder.path() / "a/b");
  EXPECT_THROW(MakeRunDirectory(folder.path() / "a"), ConfigError);
  EXPECT_THROW(MakeRunDirectory(folder.Write("file", "")), ConfigError);
}

TEST(Summary, ReadsBackAndHasTheKeysInOrder) {
  const TemporaryFolder folder;
  const Summary summary{.job = "mnist",
                        .steps = 439,
                        .epsilon_outsider = 3.0,
                        .epsilon_insider = std::numeric_limits<double>::infinity(),
                        .delta = 1e-5,
                        .sigma = 1.25,
                        .sensitivity = 0.501,
                        .seconds = 12.5,
                        .rounds = 4390,
                        .bytes_sent = 1'000'000'000'000,
                        .peak_rss_bytes = 5};
  const auto file = folder.path() / "summary.json";
  WriteSummary(file, summary);
  const auto json = nlohmann::ordered_json::parse(ReadTextFile(file, ""));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"job", "steps", "epsilon_outsider", "epsilon_insider", "delta",
                                            "sigma", "sensitivity", "accuracy", "seconds", "rounds",
                                            "bytes_sent", "peak_rss_bytes"}));
  EXPECT_TRUE(json["accuracy"].is_null());
  EXPECT_TRUE(json["epsilon_insider"].is_null());
  const auto again = ReadSummary(file);
  EXPECT_EQ(again.bytes_sent, summary.bytes_sent);
  EXPECT_EQ(again.epsilon_insider, summary.epsilon_insider);
  EXPECT_FALSE(again.accuracy);
}

TEST(Summary, OfAnotherKindIsADataErrorThatNamesTheFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "summary.json";
  for (const char* text : {"", "{", "[]", R"({"job":"x"})", R"({"job":7})", R"({"job":"x","steps":1e56})",
                           R"({"job":"x","steps":-1})", R"({"job":"x","steps":2.5})"}) {
    WriteTextFile(file, text);
    try {
      (void)ReadSummary(file);
      ADD_FAILURE() << text;
    } catch (const DataError& error) {
      EXPECT_EQ(std::string(error.what()).find(file.string() + ": not a run's summary: "), 0U)
          << error.what();
    }
  }
  EXPECT_THROW((void)ReadSummary(folder.path() / "none.json"), ConfigError);
}

TEST(Summary, NamesACountThatIsNone) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "summary.json";
  WriteTextFile(file, R"({"job":"x","steps":1e56})");
  try {
    (void)ReadSummary(file);
    ADD_FAILURE();
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(),
              file.string() + ": not a run's summary: steps: found 1e+56, expected a whole number");
  }
}

TEST(Summary, TellsOfAnEvaluation) {
  EvaluationSummary evaluation{.records = 200, .correct = 150.5, .sigma = 2.0, .epsilon_outsider = 1.5};
  evaluation.epsilon_insider = 2.5;
  EXPECT_EQ(Accuracy(evaluation), 0.7525);
  const TemporaryFolder folder;
  const auto file = folder.path() / "summary.json";
  WriteSummary(file, {.job = "x", .evaluation = evaluation});
  const auto again = ReadSummary(file).evaluation;
  ASSERT_TRUE(again);
  EXPECT_EQ(again->correct, 150.5);
  EXPECT_EQ(again->sigma, 2.0);
  EXPECT_EQ(again->epsilon_insider, 2.5);
  EXPECT_NE(EvaluationLine(*again).find("epsilon 1.500 outsider 2.500 insider for them"), std::string::npos)
      << EvaluationLine(*again);
  evaluation.correct = -3;
  EXPECT_EQ(Accuracy(evaluation), 0);
  evaluation.correct = 201;
  EXPECT_EQ(Accuracy(evaluation), 1);
  evaluation.correct.reset();
  EXPECT_FALSE(Accuracy(evaluation));
}

TEST(ProgressFile, LastLineIsFoundWhileItGrows) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "progress.csv";
  EXPECT_FALSE(LastProgress(file, 20));
  ProgressFile progress(file);
  EXPECT_FALSE(LastProgress(file, 20));
  for (int step = 1; step <= 20; ++step) {
    progress.Append({.step = step,
                     .steps = 20,
                     .seconds = step * 0.5,
                     .rounds = 10U * static_cast<unsigned>(step),
                     .bytes_sent = 1000,
                     .epsilon_outsider = std::numeric_limits<double>::infinity(),
                     .epsilon_insider = 0.25});
    const auto last = LastProgress(file, 20);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->step, step);
    EXPECT_EQ(last->rounds, 10U * static_cast<unsigned>(step));
    EXPECT_EQ(last->epsilon_outsider, std::numeric_limits<double>::infinity());
    EXPECT_EQ(last->epsilon_insider, 0.25);
  }
  std::ofstream(file, std::ios::app) << "21,half";
  EXPECT_EQ(LastProgress(file, 20)->step, 20);
}

// A session that was killed behind its checkpoint of step 4, before that step's line.
TEST(ProgressFile, GoesOnWhereALineIsLacking) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "progress.csv";
  const auto append = [](ProgressFile& progress, int step) {
    progress.Append({.step = step, .steps = 8, .seconds = step * 0.5, .rounds = 10});
  };
  {
    ProgressFile progress(file);
    for (const int step : {1, 2, 3}) append(progress, step);
  }
  {
    ProgressFile progress(file, 4);
    EXPECT_EQ(progress.kept().step, 3);
    for (const int step : {5, 6, 7}) append(progress, step);
  }
  {
    ProgressFile progress(file, 6);
    EXPECT_EQ(progress.kept().step, 6);
    EXPECT_EQ(progress.kept().seconds, 3);
    for (const int step : {7, 8}) append(progress, step);
  }
  std::vector<int> steps;
  for (const auto& report : ReadProgress(file)) {
    steps.push_back(report.step);
    EXPECT_EQ(report.steps, 8);
  }
  EXPECT_EQ(steps, (std::vector<int>{1, 2, 3, 5, 6, 7, 8}));
  EXPECT_EQ(ProgressFile(file, 4).kept().step, 3);
}

}  // namespace
}  // namespace trefoil::runtime
