#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dp/record/record.h"
#include "ml/clear/local_training.h"
#include "ml/dpsgd/dp_sgd.h"
#include "mpc/cost.h"
#include "mpc/fixed_point.h"

namespace trefoil::ml {

/// The public constants of an initialisation, the same at all three parties.
struct InitialisationPlan {
  InitialisationSettings settings;
  LocalPlan local;
  double selection_rate = 0;                     ///< of rows that models are compared on
  std::array<std::int64_t, 3> selection_rows{};  ///< rows that each owner shares for it, padding included
  std::array<std::int64_t, 3> capacity{};
  std::uint64_t count_sensitivity = 0;  ///< sqrt(candidates) on the counts' lattice, rounded up
  int logit_width = 64;                 ///< differences of logits at scale 2f are below 2^(logit_width - 1)

  [[nodiscard]] bool selects() const { return settings.method == InitialisationMethod::kAccuracy; }
  [[nodiscard]] bool noisy() const { return selects() && settings.selection == Selection::kNoisy; }
};

/// Whether the candidates are compared on records that are not trained on.
[[nodiscard]] bool SelectsByValidation(const InitialisationSettings& settings);

/// The candidates of a selection, in this order, the first of equal ones winning: the average, then each
/// party's model. (PEA's random model is left out: it would cost sensitivity and never win.)
inline constexpr int kCandidates = 4;

/// Pre: settings.initialisation. Throws ConfigError naming the key of [initialisation] that cannot be met.
[[nodiscard]] InitialisationPlan MakeInitialisationPlan(const TrainingSettings& settings);

/// What an initialisation is charged: the local training, and a selection: a noisy one by its noise, one as
/// published without bound. (One on validation records costs the others nothing.) Empty without a plan.
[[nodiscard]] std::vector<dp::RecordedEvent> EventsOf(const std::optional<InitialisationPlan>& plan);

/// The constants as text, for the parties to compare.
[[nodiscard]] std::string Fingerprint(const InitialisationPlan& plan);

/// The mean of three models at their scale: within a unit and 2^-23 of it. Pre: |w| <= 2^11.
/// Cost: AverageModelsCost: TruncateCost of a model.
[[nodiscard]] mpc::ArithShare AverageModels(mpc::Context& party, const std::array<mpc::ArithShare, 3>& models,
                                            protocols::Rounding rounding);
[[nodiscard]] mpc::Cost AverageModelsCost(mpc::Index parameters, protocols::Rounding rounding);

/// The model with the largest count, the first of equal ones: which one it is stays in shares.
/// Pre: |counts| < 2^62. Cost: ChooseModelCost. Source: PEA, Protocol 4, lines 7 to 10.
[[nodiscard]] mpc::ArithShare ChooseModel(mpc::Context& party, const std::vector<mpc::ArithShare>& models,
                                          const mpc::AdditiveShare& counts);
[[nodiscard]] mpc::Cost ChooseModelCost(mpc::Index models, mpc::Index parameters);

/// The first weights of a training: each party trains its own model, inputs it, and the models are averaged,
/// or the one chosen that classifies most rows correctly: of the owners' own, or of `validation`, which its
/// holder alone has. Nothing is opened, the choice neither. Cost: InitialiseCost. Throws: DataError as
/// EncodeRecords; NetworkError, ProtocolError. Source: PEA (Ruan et al., 2023), Protocol 4.
[[nodiscard]] mpc::FixedShare Initialise(mpc::Context& party, const StepPlan& plan,
                                         const InitialisationPlan& initialisation, const OwnRecords& own,
                                         const OwnRecords& validation = {});
[[nodiscard]] mpc::Cost InitialiseCost(const StepPlan& plan, const InitialisationPlan& initialisation);

}  // namespace trefoil::ml
