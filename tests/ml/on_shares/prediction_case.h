#pragma once
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/ml_test.h"

namespace trefoil::ml {

/// A model, and what it is to say of rows.
struct PredictionCase {
  std::string name;
  std::vector<std::int64_t> hidden{};
  Loss loss = Loss::kOneVsRest;
  int classes = 3;
  bool scores = false;
  std::int64_t rows = 60;  ///< of the request; 50 are there
  int client = 1;          ///< of rows of a party
  double threshold = 0.5;
};

inline void PrintTo(const PredictionCase& c, std::ostream* out) { *out << c.name; }

inline TrainingSettings SettingsOf(const PredictionCase& c) {
  TrainingSettings settings = testing_support::SmallSettings();
  settings.hidden = c.hidden;
  settings.loss = c.loss;
  settings.threshold = c.threshold;
  settings.classes = c.classes;
  settings.activation_bound = 4;
  settings.delta_bound = 2;
  settings.truncation = protocols::Rounding::kExact;
  if (c.loss == Loss::kSquared) settings.logit_bound = 2;
  settings.release_to.clear();
  return settings;
}

}  // namespace trefoil::ml
