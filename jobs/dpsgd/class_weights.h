#pragma once
#include <string>

#include "jobs/config/domains.h"
#include "jobs/dpsgd/settings/settings.h"
#include "jobs/job.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// The domain of model.class_weights: numbers, or "balanced".
struct WeightsOrBalanced {
  Numbers numbers;

  [[nodiscard]] std::string Expected(const toml::node* found) const;
  bool Read(const toml::node& node, ClassWeightsSpec& member) const;
  void Write(const ClassWeightsSpec& member, nlohmann::json& json) const;
  void Describe(nlohmann::json& schema) const;
};

/// The noisy counts and the weights of a run that balanced its classes, and both epsilons of all counts that
/// it opened (more than once where a session ended before the first step), as if it had opened nothing else:
/// for its summary, its session log and, in a line, its user. Pre: settings.balance_sigma.
void AddClasses(const ml::TrainingResult& trained, const ml::TrainingSettings& settings, double delta,
                JobResult& result);

}  // namespace trefoil::jobs
