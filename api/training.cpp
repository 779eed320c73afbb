#include "trefoil/training.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "api/model.h"
#include "api/session_impl.h"
#include "base/error.h"
#include "base/secrets/sha256.h"
#include "dp/record/record.h"
#include "ml/dpsgd/training.h"
#include "protocols/arithmetic/agreement.h"

namespace trefoil {
namespace {

/// So many deviations above the mean that a draw is cut with a probability below 1e-14; the accountant
/// charges what it is.
std::int64_t RoomyBatch(const TrainingSettings& settings) {
  const auto all =
      static_cast<double>(std::accumulate(settings.rows.begin(), settings.rows.end(), std::int64_t{0}));
  const auto most = static_cast<double>(*std::max_element(settings.rows.begin(), settings.rows.end()));
  if (all < 1) return 1;
  const double mean = most * settings.expected_batch / all;
  return static_cast<std::int64_t>(std::clamp(std::ceil(mean + 8 * std::sqrt(mean) + 8), 1.0, most));
}

ml::Loss Inner(Loss loss) {
  switch (loss) {
    case Loss::kSquared:
      return ml::Loss::kSquared;
    case Loss::kSoftmax:
      return ml::Loss::kSoftmax;
    case Loss::kOneVsRest:
      break;
  }
  return ml::Loss::kOneVsRest;
}

ml::TrainingSettings Inner(const TrainingSettings& s) {
  if (s.epsilon.has_value() == s.sigma.has_value())
    throw ConfigError("privacy.epsilon, privacy.sigma: found both or neither, expected exactly one");
  ml::TrainingSettings inner;
  inner.rows = s.rows;
  inner.features = s.features;
  inner.classes = s.classes;
  inner.loss = Inner(s.loss);
  inner.hidden = s.hidden;
  inner.row_norm = s.row_norm;
  inner.steps = s.steps;
  inner.expected_batch = s.expected_batch;
  inner.max_batch_per_owner = s.max_batch_per_owner > 0 ? s.max_batch_per_owner : RoomyBatch(s);
  inner.learning_rate = s.learning_rate;
  inner.momentum = s.momentum;
  inner.clip = s.clip;
  inner.sigma = s.sigma;
  inner.target_epsilon = s.epsilon.value_or(0);
  inner.delta = s.delta;
  inner.against = s.against_insider ? ml::Adversary::kInsider : ml::Adversary::kOutsider;
  inner.release_to = s.release_to;
  if (s.release_to.empty())
    throw ConfigError("release.to: found nobody, expected at least one of 0, 1 and 2");
  return inner;
}

/// All that the parties have to agree on.
std::string TextOf(const ml::TrainingSettings& s) {
  return nlohmann::json{{"rows", s.rows},
                        {"features", s.features},
                        {"classes", s.classes},
                        {"loss", static_cast<int>(s.loss)},
                        {"hidden", s.hidden},
                        {"row_norm", s.row_norm},
                        {"steps", s.steps},
                        {"expected_batch", s.expected_batch},
                        {"max_batch_per_owner", s.max_batch_per_owner},
                        {"learning_rate", s.learning_rate},
                        {"momentum", s.momentum},
                        {"clip", s.clip},
                        {"sigma", s.sigma.value_or(-1)},
                        {"epsilon", s.target_epsilon},
                        {"delta", s.delta},
                        {"against", static_cast<int>(s.against)},
                        {"to", s.release_to}}
      .dump();
}

ml::OwnRecords Inner(const Records& own, std::int64_t features) {
  const auto rows = own.classes.size();
  if (own.features.size() != rows * static_cast<std::size_t>(features)) {
    throw DataError("records: found " + std::to_string(own.features.size()) + " numbers and " +
                    std::to_string(rows) + " classes, expected " + std::to_string(features) +
                    " numbers for each class");
  }
  using Table = decltype(ml::OwnRecords::x);
  return {.x = Eigen::Map<const Table>(own.features.data(), static_cast<Eigen::Index>(rows), features),
          .y = {own.classes.begin(), own.classes.end()}};
}

}  // namespace

TrainingPlan PlanTraining(const TrainingSettings& settings) {
  const auto plan = ml::MakePlan(Inner(settings));
  return {.sigma = plan.sigma,
          .epsilons = {.outsider = plan.epsilon_outsider, .insider = plan.epsilon_insider}};
}

Trained Train(Session& session, const TrainingSettings& settings, const Records& own,
              const std::function<void(const StepReport&)>& on_step) {
  return Over(session, [&](mpc::Context& context) {
    const auto inner = Inner(settings);
    const auto records = Inner(own, settings.features);
    const auto text = TextOf(inner);
    protocols::RequireSameEverywhere(context, text, "the training's settings");
    const auto tell = [&](const ml::StepReport& report) {
      if (on_step) {
        on_step({.step = report.step,
                 .steps = report.steps,
                 .seconds = report.seconds,
                 .epsilons = {.outsider = report.epsilon_outsider, .insider = report.epsilon_insider}});
      }
    };
    auto result =
        ml::Train(context, inner, records, {.on_step = tell, .on_record = [](const dp::TrainingRecord&) {}});
    result.record.job_hash = Sha256Hex(text);
    result.record.run_id = session.impl().id;
    result.record.promise = dp::Promise{};  // a record added or removed
    const auto epsilons = dp::Epsilons(result.record, settings.delta, inner.accountant);
    Trained trained{.sigma = result.plan.sigma,
                    .epsilons = {.outsider = epsilons.outsider, .insider = epsilons.insider},
                    .record = dp::ToJson(result.record).dump(2)};
    if (result.model) trained.model = Outer(*result.model, settings.row_norm);
    return trained;
  });
}

Trained TrainInProcess(const TrainingSettings& settings, const std::array<Records, 3>& parties,
                       const std::function<void(const StepReport&)>& on_step) {
  auto trained = ResultsInProcess([&](Session& session) {
    const auto& own = parties.at(static_cast<std::size_t>(session.party()));
    return session.party() == 0 ? Train(session, settings, own, on_step) : Train(session, settings, own);
  });
  return std::move(trained[0]);
}

}  // namespace trefoil
