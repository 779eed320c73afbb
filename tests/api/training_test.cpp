#include "trefoil/training.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/data/temporary_folder.h"

namespace trefoil {
namespace {

struct Table {
  std::vector<float> features;
  std::vector<int> classes;
  [[nodiscard]] Records records() const { return {.features = features, .classes = classes}; }
};

/// Points around one centre a class.
Table MakeTable(unsigned seed, int rows) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> noise(0.0F, 0.1F);
  Table table;
  for (int row = 0; row < rows; ++row) {
    const int label = static_cast<int>(generator() % 3);
    for (int column = 0; column < 6; ++column)
      table.features.push_back(noise(generator) + (column % 3 == label ? 0.5F : 0.0F));
    table.classes.push_back(label);
  }
  return table;
}

TrainingSettings Settings() {
  TrainingSettings settings;
  settings.rows = {200, 200, 200};
  settings.features = 6;
  settings.classes = 3;
  settings.steps = 15;
  settings.expected_batch = 90;
  settings.learning_rate = 4;
  settings.clip = 0.5;
  settings.epsilon = 8;
  settings.delta = 1e-5;
  return settings;
}

/// The text of the ConfigError that the settings lead to.
std::string Refused(const TrainingSettings& settings) {
  return data::ErrorText<ConfigError>([&] { (void)PlanTraining(settings); });
}

TEST(TrainInProcess, TrainsAModelWithinItsEpsilon) {
  const Table one = MakeTable(1, 200), two = MakeTable(2, 200), three = MakeTable(3, 200);
  int steps = 0;
  const auto trained = TrainInProcess(Settings(), {one.records(), two.records(), three.records()},
                                      [&](const StepReport& report) { steps = report.step; });
  EXPECT_EQ(steps, 15);
  EXPECT_LE(trained.epsilons.insider, 8);
  EXPECT_LT(trained.epsilons.outsider, trained.epsilons.insider);
  ASSERT_TRUE(trained.model);
  const Table test = MakeTable(4, 300);
  int correct = 0;
  for (std::size_t row = 0; row < 300; ++row)
    correct += trained.model->Classify(std::span(&test.features[6 * row], 6)) == test.classes[row] ? 1 : 0;
  EXPECT_GT(correct, 200);  // a third by chance

  const data::TemporaryFolder folder;
  const auto kept = RecordEpsilons(folder.Put("record.json", trained.record), 1e-5, Accounting::kRdp);
  EXPECT_EQ(kept.insider, trained.epsilons.insider);
  EXPECT_EQ(kept.outsider, trained.epsilons.outsider);
}

TEST(TrainInProcess, RefusesRecordsThatAreNotAsDeclared) {
  const Table table = MakeTable(1, 10);
  Records odd = table.records();
  odd.features = odd.features.first(59);
  EXPECT_THROW((void)TrainInProcess(Settings(), {table.records(), odd, table.records()}), DataError);
}

TEST(Train, RefusesPeersWithOtherSettings) {
  const Table table = MakeTable(1, 200);
  const auto run = [&] {
    RunInProcess([&](Session& session) {
      auto settings = Settings();
      if (session.party() == 2) settings.learning_rate = 5;
      (void)Train(session, settings, table.records());
    });
  };
  EXPECT_THROW(run(), ConfigError);
}

TEST(PlanTraining, CalibratesNoiseAsTheTrainingWill) {
  const auto plan = PlanTraining(Settings());
  EXPECT_GT(plan.sigma, 0);
  EXPECT_LE(plan.epsilons.insider, 8);
  auto with_sigma = Settings();
  with_sigma.epsilon.reset();
  with_sigma.sigma = plan.sigma;
  EXPECT_EQ(PlanTraining(with_sigma).epsilons.insider, plan.epsilons.insider);
}

TEST(PlanTraining, NamesTheKeyThatIsWrong) {
  auto settings = Settings();
  settings.sigma = 1;
  EXPECT_EQ(Refused(settings), "privacy.epsilon, privacy.sigma: found both or neither, expected exactly one");
  settings = Settings();
  settings.steps = 0;
  EXPECT_EQ(Refused(settings), "training.steps: found 0, expected 1 to 500000");
  settings = Settings();
  settings.release_to = {};
  EXPECT_EQ(Refused(settings), "release.to: found nobody, expected at least one of 0, 1 and 2");
}

TEST(Model, ScalesRowsAndCutsHiddenOutputs) {
  const Model model{.layers = {{.inputs = 2, .outputs = 2, .weights = {4, 0, 0, -4}, .bias = {0, 0}},
                               {.inputs = 2, .outputs = 1, .weights = {1, 1}, .bias = {-1}}},
                    .activation_bound = 3,
                    .row_norm = 1};
  // (10, 0) becomes (1, 0); the hidden layer makes (4, 0) of it, which is cut to (3, 0).
  EXPECT_EQ(model.Logits(std::vector<float>{10, 0}), std::vector<double>{2});
  EXPECT_EQ(model.Classify(std::vector<float>{10, 0}), 1);
  EXPECT_EQ(model.Classify(std::vector<float>{0, 1}), 0);
  EXPECT_THROW((void)model.Logits(std::vector<float>{1}), ContractError);
  const Model large{.layers = {{.inputs = 1, .outputs = 1, .weights = {1e308}, .bias = {1e308}}}};
  EXPECT_THROW((void)large.Logits(std::vector<float>{1}), DataError);
}

}  // namespace
}  // namespace trefoil
