#include <gmock/gmock.h>

#include <fstream>

#include "tests/data/temporary_folder.h"
#include "trefoil/run.h"

namespace trefoil {
namespace {

using testing::HasSubstr;

constexpr const char* kToyJob = R"({"version": 1, "type": "dpsgd", "name": "toy",
  "data": {"name": "toy", "format": "csv", "rows": [40, 40, 40], "features": 2, "classes": 2,
           "column": [{"name": "a"}, {"name": "b"}], "label": {"column": "kind", "values": ["no", "yes"]}},
  "training": {"steps": 12, "expected_batch": 60, "max_batch_per_owner": 40, "learning_rate": 4.0},
  "privacy": {"sigma": 1.0, "delta": 1e-5, "clip": 1.0}})";

/// Forty records that their first number tells apart.
InputFiles RecordFiles(const data::TemporaryFolder& folder) {
  std::string text = "a,b,kind\n";
  for (int row = 0; row < 40; ++row) text += row % 2 == 0 ? "0.8,0.1,yes\n" : "-0.8,0.1,no\n";
  return {{"data.file", folder.Put("train.csv", text)}};
}

TEST(Simulate, TrainsAModelThatClassifiesTheFilesOfItsSchema) {
  const data::TemporaryFolder folder;
  const auto job = Job::Parse(kToyJob);
  const auto records = RecordFiles(folder);
  std::vector<int> steps;
  const auto results = Simulate(job, {records, records, records},
                                {.on_step = [&](const StepReport& report) { steps.push_back(report.step); }});
  EXPECT_EQ(steps.back(), 12);
  EXPECT_NEAR(results[0].epsilons.insider, job.PlannedEpsilons().insider, 1e-9);
  EXPECT_THAT(results[0].record, HasSubstr(job.Hash()));
  ASSERT_TRUE(results[2].model);
  EXPECT_EQ(results[2].model->model.layers[0].weights, results[0].model->model.layers[0].weights);
  const auto logits = LogitsOf(*results[0].model, records);
  ASSERT_EQ(logits.size(), 40U);
  EXPECT_GT(logits[0][0], logits[1][0]);
  EXPECT_THAT(EvaluationOf(*results[0].model, records), HasSubstr("\"confusion\""));
}

TEST(EvaluationOf, AppliesHiddenLayersAndRefusesAnEmptyTable) {
  const data::TemporaryFolder folder;
  // One unit that passes the first number up to 0.5 on, and a logit above 0 where it passes more than 0.25.
  const ReleasedModel model{.model = {.layers = {{.inputs = 2, .outputs = 1, .weights = {1, 0}, .bias = {0}},
                                                 {.inputs = 1, .outputs = 1, .weights = {4}, .bias = {-1}}},
                                      .activation_bound = 0.5,
                                      .row_norm = 1},
                            .schema = Job::Parse(kToyJob).Json()};
  const auto figures = EvaluationOf(model, RecordFiles(folder));
  EXPECT_THAT(figures, HasSubstr("\"accuracy\": 1.0"));
  // Twenty records of logit 1 in class 1, twenty of logit -1 in class 0: all have log(1 + exp(-1)).
  EXPECT_THAT(figures, HasSubstr("\"log_loss\": 0.31326"));
  const InputFiles none{{"data.file", folder.Put("none.csv", "a,b,kind\n")}};
  EXPECT_THAT(data::ErrorText<DataError>([&] { (void)EvaluationOf(model, none); }), HasSubstr("expected"));
}

TEST(Simulate, LeavesOutWhatIsNotReleased) {
  const data::TemporaryFolder folder;
  const auto records = RecordFiles(folder);
  const auto of = [&](const char* to) {
    std::string text = kToyJob;
    return Simulate(
        Job::Parse(text.insert(text.rfind('}'), std::string(R"(, "release": {"to": )") + to + "}")),
        {records, records, records});
  };
  const auto results = of("[1]");
  EXPECT_FALSE(results[0].model);
  EXPECT_TRUE(results[1].model);
  EXPECT_THAT(data::ErrorText<ConfigError>([&] { (void)of("[]"); }), HasSubstr("release.to: found nobody"));
}

TEST(Simulate, NamesWhatIsWrongWithAPartysFiles) {
  const data::TemporaryFolder folder;
  const auto job = Job::Parse(kToyJob);
  const auto records = RecordFiles(folder);
  const auto with = [&](const InputFiles& of_party_1) {
    (void)Simulate(job, {records, of_party_1, records});
  };
  EXPECT_THAT(data::ErrorText<ConfigError>([&] { with({}); }), HasSubstr("party 1: missing [data]"));
  EXPECT_THAT(data::ErrorText<ConfigError>([&] {
                with({{"data.flie", "x"}});
              }),
              HasSubstr("did you mean data.file?"));
  const auto bad = folder.Put("bad.csv", "a,b,kind\n0.1,nan,yes\n");
  EXPECT_THAT(data::ErrorText<DataError>([&] { with({{"data.file", bad}}); }), HasSubstr("bad.csv: row 2"));
}

TEST(Simulate, StopsWhereItIsToldTo) {
  const data::TemporaryFolder folder;
  const auto records = RecordFiles(folder);
  std::stop_source stop;
  const auto run = [&] {
    (void)Simulate(Job::Parse(kToyJob), {records, records, records},
                   {.on_step = [&](const StepReport&) { stop.request_stop(); }, .stop = stop.get_token()});
  };
  EXPECT_THROW(run(), StoppedError);
}

}  // namespace
}  // namespace trefoil
