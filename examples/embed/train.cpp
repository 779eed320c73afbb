// Trains a model on the records of three parties, which run within this process, and says how good and how
// private it is. Between organisations each would call trefoil::Train with a session of its own
// (Session::Connect).
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#include "trefoil/training.h"

namespace {

constexpr int kFeatures = 12;
constexpr int kClasses = 3;

/// A party's data: points around one centre a class.
struct Table {
  std::vector<float> features;
  std::vector<int> classes;
};

/// Made up by a rule; `first` is the number of its first row, so that no two parties have the same points.
Table MakeTable(int first, int rows) {
  Table table;
  for (int row = first; row < first + rows; ++row) {
    const int label = row % kClasses;
    for (int column = 0; column < kFeatures; ++column) {
      const double spread = 0.2 * std::sin(12.9898 * row + 78.233 * column);
      table.features.push_back(static_cast<float>(spread + (column % kClasses == label ? 0.4 : 0.0)));
    }
    table.classes.push_back(label);
  }
  return table;
}

double Accuracy(const trefoil::Model& model, const Table& table) {
  int correct = 0;
  for (std::size_t row = 0; row < table.classes.size(); ++row) {
    const std::span features(&table.features[row * kFeatures], kFeatures);
    correct += model.Classify(features) == table.classes[row] ? 1 : 0;
  }
  return correct / static_cast<double>(table.classes.size());
}

void Run() {
  const std::array<Table, 3> tables{MakeTable(0, 2000), MakeTable(2000, 2000), MakeTable(4000, 2000)};
  trefoil::TrainingSettings settings;
  settings.rows = {2000, 2000, 2000};
  settings.features = kFeatures;
  settings.classes = kClasses;
  settings.steps = 40;
  settings.expected_batch = 300;
  settings.learning_rate = 4;
  settings.clip = 0.5;
  settings.epsilon = 3;
  settings.delta = 1e-5;

  std::array<trefoil::Records, 3> records;
  for (std::size_t party = 0; party < 3; ++party)
    records[party] = {.features = tables[party].features, .classes = tables[party].classes};
  const auto trained = trefoil::TrainInProcess(settings, records);
  std::printf("accuracy %.1f %%, epsilon %.2f outsider, %.2f insider, delta %g, sigma %.2f\n",
              100 * Accuracy(*trained.model, MakeTable(6000, 1000)), trained.epsilons.outsider,
              trained.epsilons.insider, settings.delta, trained.sigma);
}

}  // namespace

int main() {
  try {
    Run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train: %s\n", error.what());
    return 1;
  }
}
