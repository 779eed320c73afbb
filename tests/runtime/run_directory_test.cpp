#include "runtime/run_directory.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/limited_files.h"

namespace trefoil::runtime {
namespace {

TEST(RunDirectory, IsRefusedUnlessEmpty) {
  const TemporaryFolder folder;
  MakeRunDirectory(folder.path() / "a/b");
  MakeRunDirectory(folder.path() / "a/b");
  EXPECT_THROW(MakeRunDirectory(folder.path() / "a"), ConfigError);
  EXPECT_THROW(MakeRunDirectory(folder.Write("file", "")), ConfigError);
}

TEST(RunDirectory, TakesWhatAStartThatWasKilledLeaves) {
  const TemporaryFolder folder;
  for (const auto* name : {"job.toml", "job.toml.part", "data.salt.part", "owner_warnings.txt.part"})
    folder.Write(name, "");
  std::filesystem::create_directory(folder.path() / "checkpoint");
  folder.Write("checkpoint/run.json.part", "");
  CheckRunDirectory(folder.path());
  EXPECT_FALSE(HoldsRun(folder.path()));

  const auto model = folder.Write("model.npz", "");
  EXPECT_THROW(CheckRunDirectory(folder.path()), ConfigError);
  std::filesystem::remove(model);
  folder.Write("checkpoint/run.json", "");
  EXPECT_TRUE(HoldsRun(folder.path()));
  EXPECT_THROW(CheckRunDirectory(folder.path()), ConfigError);
}

std::vector<std::string> KeysOf(const nlohmann::ordered_json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

TEST(Summary, ReadsBackAndHasTheKeysInOrder) {
  const TemporaryFolder folder;
  const Summary summary{.type = "dpsgd",
                        .name = "mnist",
                        .job_hash = "ab",
                        .session = "cd",
                        .epsilon_outsider = 3.0,
                        .epsilon_insider = std::numeric_limits<double>::infinity(),
                        .delta = 1e-5,
                        .accountant = dp::AccountantKind::kPld,
                        .released_to = {0, 2},
                        .seconds = 12.5,
                        .rounds = 4390,
                        .bytes_sent = 1'000'000'000'000,
                        .peak_rss_bytes = 5,
                        .warnings = {"beware"},
                        .results = {{"steps", 439}, {"accuracy", nullptr}}};
  const auto file = folder.path() / "summary.json";
  WriteSummary(file, summary);
  const auto json = nlohmann::ordered_json::parse(ReadTextFile(file, ""));
  EXPECT_EQ(KeysOf(json), (std::vector<std::string>{"version", "type", "name", "job_hash", "session",
                                                    "privacy", "cost", "warnings", "results"}));
  EXPECT_EQ(KeysOf(json["privacy"]), (std::vector<std::string>{"epsilon_outsider", "epsilon_insider", "delta",
                                                               "accountant", "released_to"}));
  EXPECT_EQ(KeysOf(json["cost"]),
            (std::vector<std::string>{"seconds", "rounds", "bytes_sent", "peak_rss_bytes"}));
  EXPECT_EQ(json["version"], 2);
  EXPECT_TRUE(json["privacy"]["epsilon_insider"].is_null());
  EXPECT_EQ(json["results"]["dpsgd"]["steps"], 439);
  const auto again = ReadSummary(file);
  EXPECT_EQ(again.type, "dpsgd");
  EXPECT_EQ(again.session, "cd");
  EXPECT_EQ(again.bytes_sent, summary.bytes_sent);
  EXPECT_EQ(again.epsilon_insider, summary.epsilon_insider);
  EXPECT_EQ(again.accountant, dp::AccountantKind::kPld);
  EXPECT_EQ(again.released_to, (std::vector<int>{0, 2}));
  EXPECT_EQ(again.warnings, summary.warnings);
  EXPECT_EQ(again.results, summary.results);
}

// What version 0.1 wrote: each kind of job all its members in one object.
TEST(Summary, ReadsVersion1OfEveryKind) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& own) {
    return ReadSummary(folder.Write(
        "summary.json",
        R"({"job":"old","epsilon_outsider":3.0,"epsilon_insider":null,"delta":1e-05,"seconds":1.5,"rounds":7,)"
        R"("bytes_sent":8,"peak_rss_bytes":9,)" +
            own + "}"));
  };
  const auto training =
      read(R"("steps":4,"sigma":20.0,"sensitivity":1.0,"accuracy":0.5,"warnings":["beware"])");
  EXPECT_EQ(training.type, "dpsgd");
  EXPECT_EQ(training.name, "old");
  EXPECT_EQ(training.epsilon_insider, std::numeric_limits<double>::infinity());
  EXPECT_EQ(training.rounds, 7U);
  EXPECT_FALSE(training.accountant);
  EXPECT_EQ(training.warnings, (std::vector<std::string>{"beware"}));
  EXPECT_EQ(KeysOf(training.results),
            (std::vector<std::string>{"steps", "sigma", "sensitivity", "accuracy"}));
  const auto prediction =
      read(R"("run":"ab","client":1,"rows":5,"scores":false,"covered_by":"the training")");
  EXPECT_EQ(prediction.type, "predict");
  EXPECT_EQ(prediction.results["rows"], 5);
  const auto histogram = read(R"("type":"histogram","accountant":"pld","released_to":[1],"mode":"local")");
  EXPECT_EQ(histogram.type, "histogram");
  EXPECT_EQ(histogram.released_to, (std::vector<int>{1}));
  EXPECT_EQ(KeysOf(histogram.results), (std::vector<std::string>{"mode"}));
}

TEST(Summary, OfAnotherKindIsADataErrorThatNamesTheFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "summary.json";
  Summary summary;
  summary.type = "dpsgd";
  WriteSummary(file, summary);
  auto whole = nlohmann::ordered_json::parse(ReadTextFile(file, ""));
  std::vector<std::string> texts{"", "{", "[]", R"({"job":"x"})", R"({"job":7})", R"({"version":1})"};
  for (const auto& [pointer, value] : {std::pair{"/version", nlohmann::ordered_json(3)},
                                       {"/type", "pate"},
                                       {"/results/dpsgd", 7},
                                       {"/privacy/accountant", "abacus"},
                                       {"/cost/rounds", 1e56},
                                       {"/cost/rounds", -1},
                                       {"/cost/bytes_sent", 2.5}}) {
    auto changed = whole;
    changed[nlohmann::ordered_json::json_pointer(pointer)] = value;
    texts.push_back(changed.dump());
  }
  for (const auto& text : texts) {
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
  const auto file = folder.Write(
      "summary.json", R"({"job":"x","epsilon_outsider":1,"epsilon_insider":1,"delta":1e-5,"seconds":1,)"
                      R"("rounds":1e56})");
  try {
    (void)ReadSummary(file);
    ADD_FAILURE();
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(),
              file.string() + ": not a run's summary: rounds: found 1e+56, expected a whole number");
  }
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
    for (const int step : {4, 5, 6, 7}) append(progress, step);
  }
  {
    ProgressFile progress(file, 6);
    EXPECT_EQ(progress.kept().step, 6);
    EXPECT_EQ(progress.kept().seconds, 3);
    for (const int step : {6, 7, 8}) append(progress, step);
  }
  std::vector<int> steps;
  for (const auto& report : ReadProgress(file)) {
    steps.push_back(report.step);
    EXPECT_EQ(report.steps, 8);
  }
  EXPECT_EQ(steps, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
}

// Steps 3 and 4 are lost, which released something: the file has to say so at any time.
TEST(ProgressFile, KeepsWhatLostStepsSpentUntilItsSessionGoesOn) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "progress.csv";
  const auto append = [](ProgressFile& progress, int step, double epsilon) {
    progress.Append({.step = step, .steps = 8, .epsilon_outsider = epsilon, .epsilon_insider = 2 * epsilon});
  };
  const auto expect_last = [&file](int step, double epsilon) {
    const auto last = LastProgress(file, 8);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->step, step);
    EXPECT_EQ(last->epsilon_outsider, epsilon);
  };
  {
    ProgressFile progress(file);
    append(progress, 0, 0.5);
    for (const int step : {1, 2, 3, 4}) append(progress, step, 0.5 + 0.1 * step);
  }
  {
    ProgressFile progress(file, 2);
    EXPECT_EQ(progress.kept().epsilon_outsider, 0.7);
    expect_last(4, 0.9);
  }
  EXPECT_EQ(WithLimitedFiles(50, [&] { append(*std::make_unique<ProgressFile>(file, 2), 2, 0.95); }), 0);
  expect_last(4, 0.9);
  {
    ProgressFile progress(file, 2);
    append(progress, 2, 0.95);
    expect_last(2, 0.95);
  }
  std::vector<int> steps;
  for (const auto& report : ReadProgress(file)) steps.push_back(report.step);
  EXPECT_EQ(steps, (std::vector<int>{0, 1, 2}));
}

}  // namespace
}  // namespace trefoil::runtime
