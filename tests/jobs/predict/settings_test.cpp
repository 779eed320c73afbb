#include "jobs/predict/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "jobs/config/toml/toml_reader.h"
#include "jobs/job.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

const std::string kPredictJob = "version = 1\ntype = \"predict\"\nname = \"rows\"\n[predict]\nrun = \"" +
                                std::string(32, 'a') + "\"\nclient = 2\nrows = 100\n";

TEST(PredictSettings, IsReadAndWrittenBack) {
  const TemporaryFolder folder;
  const auto file = folder.Write("x.toml", kPredictJob);
  const auto read = [](const std::filesystem::path& from) {
    return ReadPredictSettings(ReadToml(from), from.string());
  };
  const auto job = read(file);
  EXPECT_EQ(job.client, 2);
  EXPECT_EQ(job.rows, 100);
  EXPECT_FALSE(job.scores);
  const auto saved = folder.Write("y.toml", TomlOf(*ReadJob(file)));
  EXPECT_EQ(PredictJson(read(saved)), PredictJson(job));
  EXPECT_TRUE(read(folder.Write("z.toml", kPredictJob + "scores = true\n")).scores);
  EXPECT_EQ(PredictJson(job).find("threshold"), std::string::npos);
  const auto other = read(folder.Write("t.toml", kPredictJob + "threshold = 0.25\n"));
  EXPECT_EQ(other.threshold, 0.25);
  EXPECT_NE(PredictJson(other), PredictJson(job));
}

TEST(PredictSettings, OfDepositsNameAStudyInPlaceOfAClient) {
  const TemporaryFolder folder;
  const std::string begin = "version = 1\ntype = \"predict\"\nname = \"rows\"\n[predict]\nrun = \"" +
                            std::string(32, 'a') + "\"\nsource = \"store\"\n";
  const auto read = [&](const std::string& more) { return ReadJob(folder.Write("x.toml", begin + more)); };
  const auto error = [&](const std::string& more) {
    return testing_support::ErrorText<ConfigError>([&] { (void)read(more); });
  };
  const auto job = read("capacity = 100\n");
  EXPECT_EQ(job->Json(), R"({"name":"rows","predict":{"capacity":100,"run":")" + std::string(32, 'a') +
                             R"(","scores":false,"source":"store"},"type":"predict","version":1})");
  EXPECT_TRUE(job->WantsStore());
  EXPECT_FALSE(IsOnDeposits(*job)) << "nothing is charged to owners";
  EXPECT_TRUE(job->release_to().empty());
  const auto named =
      read("capacity = 100\nstudy = \"" + std::string(64, 'b') + "\"\npurpose = \"predict-may\"\n");
  EXPECT_EQ(ReadJob(folder.Write("y.toml", TomlOf(*named)))->Json(), named->Json());
  const auto plain = ReadJob(folder.Write("z.toml", kPredictJob));
  EXPECT_FALSE(plain->WantsStore());
  EXPECT_EQ(plain->Json().find("source"), std::string::npos) << "jobs of 0.1 keep their hash";
  EXPECT_THAT(error("capacity = 100\nclient = 1\n"),
              testing::HasSubstr("predict.client: only predict.source \"files\""));
  EXPECT_THAT(error("capacity = 100\npurpose = \"train\"\n"),
              testing::HasSubstr("predict.purpose: found \"train\""));
  EXPECT_THAT(error(""), testing::HasSubstr("predict.capacity"));
  EXPECT_THAT(error("capacity = 100\nstudy = \"ab\"\n"), testing::HasSubstr("predict.study: found \"ab\""));
  EXPECT_TRUE(IsToPredict("predict"));
  EXPECT_TRUE(IsToPredict("predict-may"));
  for (const char* other : {"train", "prediction", "predicted", "to-predict", ""})
    EXPECT_FALSE(IsToPredict(other));
}

TEST(PredictSettings, TakesARunDirectoryForItsRun) {
  const TemporaryFolder folder;
  const auto with = [&](const std::string& run) {
    auto text = kPredictJob;
    text.replace(text.find(std::string(32, 'a')), 32, run);
    const auto file = folder.Write("x.toml", text);
    return ReadPredictSettings(ReadToml(file), file.string());
  };
  const std::string run(32, 'b');
  folder.Write("record.json", "{\"run_id\": \"" + run + "\"}");
  EXPECT_EQ(with(folder.path().string()).run, run);
  EXPECT_NE(PredictJson(with(folder.path().string())).find("\"run\":\"" + run), std::string::npos);
  for (const char* record : {"{\"run_id\": \"../b\"}", "{\"run_id\": 3}", "[]", "no"}) {
    folder.Write("record.json", record);
    EXPECT_THROW((void)with(folder.path().string()), ConfigError) << record;
  }
  EXPECT_THROW((void)with((folder.path() / "none").string()), ConfigError);
}

TEST(PredictSettings, NamesWhatIsWrong) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& from, const std::string& to) -> std::string {
    auto text = kPredictJob;
    text.replace(text.find(from), from.size(), to);
    const auto file = folder.Write("x.toml", text);
    try {
      (void)ReadPredictSettings(ReadToml(file), file.string());
    } catch (const ConfigError& caught) {
      return std::string(caught.what()).substr(folder.path().string().size() + 1);
    }
    return "none";
  };
  EXPECT_EQ(error("client = 2", "client = 3"),
            "x.toml:6: predict.client: found 3, expected a whole number from 0 to 2");
  EXPECT_EQ(error("rows = 100", "rows = 0"),
            "x.toml:7: predict.rows: found 0, expected a whole number from 1 to 10000000");
  EXPECT_EQ(error("rows = 100", "row = 100"),
            "x.toml:7: unknown key predict.row; did you mean predict.rows?");
  EXPECT_NE(error("aaaa", "AAAA").find("predict.run: found"), std::string::npos);
}

}  // namespace
}  // namespace trefoil::jobs
