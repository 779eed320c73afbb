#include "ml/dpsgd/initialisation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "base/ceil_log2.h"
#include "base/error.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "dp/mechanisms/truncated_poisson.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/on_shares/held_out.h"
#include "ml/plan/step_privacy.h"
#include "ml/records.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/functions/maximum.h"

namespace trefoil::ml {
namespace {

using mpc::AdditiveShare;
using mpc::ArithShare;
using mpc::FixedShare;
using mpc::Index;
using mpc::Word;

constexpr int kThirdBits = 24;
constexpr Word kThird = ((Word{1} << kThirdBits) + 1) / 3;  // 2^24 / 3, rounded to the nearest
// What cutting selection rows may cost of delta: so little that it does not show for several rows of one
// person either.
constexpr double kOverflowOfDelta = 1e-12;

/// A model that follows from the local ones, in the largest logit, and what rounding to 2^-f adds.
int LogitWidth(const TrainingSettings& s) {
  const double row = std::sqrt(s.row_norm * s.row_norm + 1);
  const double rounding =
      std::ldexp(2 * row * std::sqrt(static_cast<double>(s.features + 1)), -s.fraction_bits);
  const double difference = 2.01 * (kLargestLocalLogit + rounding);
  return std::min(64, 2 * s.fraction_bits + CeilLog2(difference) + 1);
}

void CheckSelection(const InitialisationSettings& s) {
  const auto check = [](bool holds, const char* key, double found) {
    if (holds) return;
    std::ostringstream text;
    text << "initialisation." << key << ": found " << found << ", expected above 0";
    throw ConfigError(text.str());
  };
  if (SelectsByValidation(s)) {
    check(s.validation.rows > 0, "validation_rows", static_cast<double>(s.validation.rows));
    return;
  }
  check(s.selection_rows > 0 && std::isfinite(s.selection_rows), "selection_rows", s.selection_rows);
  check(s.selection_sigma > 0 && std::isfinite(s.selection_sigma), "selection_sigma", s.selection_sigma);
}

/// Every party's local model at the job's scale.
std::array<ArithShare, 3> InputModels(mpc::Context& party, const StepPlan& plan, const Eigen::MatrixXd& own) {
  protocols::Shape shape{.rows = own.rows(), .cols = own.cols()};
  return protocols::InputEach(party, mpc::Encode(own, plan.settings.fraction_bits, kLargestLocalLogit),
                              {shape, shape, shape});
}

std::array<protocols::Shape, 3> RecordShapes(const StepPlan& plan, const InitialisationPlan& initialisation) {
  std::array<protocols::Shape, 3> shapes;
  for (std::size_t owner = 0; owner < shapes.size(); ++owner)
    shapes[owner] = {.rows = initialisation.selection_rows[owner],
                     .cols = EncodedColumns(WithWholeRows(plan))};
  return shapes;
}

/// Rows that each owner draws by private coins for the comparison of models, padded to a public height.
Batch InputSelectionRows(mpc::Context& party, const StepPlan& plan, const InitialisationPlan& initialisation,
                         const OwnRecords& own) {
  auto coins = RandomStream::FromSystem();
  const auto shapes = RecordShapes(plan, initialisation);
  const std::int64_t height = shapes[static_cast<std::size_t>(party.self())].rows;
  const auto rows =
      PlaceRows(coins, DrawRows(coins, own.rows(), initialisation.selection_rate, height), height);
  const StepPlan whole = WithWholeRows(plan);
  const auto shares = protocols::InputEach(party, EncodeRecords(whole, own, rows, height), shapes);
  return ToBatch(whole, shares);
}

/// The candidates' counts on the records that the settings name, with noise where they want it.
AdditiveShare CountCandidates(mpc::Context& party, const StepPlan& plan,
                              const InitialisationPlan& initialisation, const ArithShare& candidates,
                              const OwnRecords& own, const OwnRecords& validation) {
  const InitialisationSettings& settings = initialisation.settings;
  const auto logits = [&](mpc::Context& branch, const FixedShare& x) {
    return protocols::LocalMatrixProduct(branch, x.ring(), candidates);  // N x K c
  };
  if (SelectsByValidation(settings)) {
    return CountHeldOut(party, plan, settings.validation, validation, logits, initialisation.logit_width);
  }
  const Batch batch = InputSelectionRows(party, plan, initialisation, own);
  const AdditiveShare counts =
      CorrectCounts(party, batch, logits(party, batch.x), initialisation.logit_width);
  if (!initialisation.noisy()) return counts;
  const StepNoise noise = CountNoise(RandomStream::FromSystem(), settings.selection_sigma,
                                     initialisation.count_sensitivity, kCandidates);
  return AddNoise(counts, noise.values());
}

/// From what comes before it.
mpc::Cost CountCandidatesCost(const mpc::Cost& before, const StepPlan& plan,
                              const InitialisationPlan& initialisation) {
  const int width = initialisation.logit_width;
  if (SelectsByValidation(initialisation.settings)) {
    const auto local = [](Index) { return mpc::Cost(); };
    return CountHeldOutCost(before, plan, initialisation.settings.validation, kCandidates, local, width);
  }
  const auto& heights = initialisation.selection_rows;
  const Index rows = std::accumulate(heights.begin(), heights.end(), Index{0});
  const mpc::Cost shared = ThenUnturned(before, protocols::InputEachCost(RecordShapes(plan, initialisation)));
  return Then(shared, CorrectCountsCost(rows, plan.columns, kCandidates, width));
}

}  // namespace

bool SelectsByValidation(const InitialisationSettings& settings) {
  return settings.method == InitialisationMethod::kAccuracy &&
         settings.selection == Selection::kPublicValidation;
}

InitialisationPlan MakeInitialisationPlan(const TrainingSettings& settings) {
  Require(settings.initialisation.has_value(), "MakeInitialisationPlan: settings with an initialisation");
  InitialisationPlan plan;
  plan.settings = *settings.initialisation;
  plan.local = MakeLocalPlan(settings, plan.settings.local);
  plan.capacity = settings.rows;
  plan.logit_width = LogitWidth(settings);
  if (!plan.selects()) return plan;
  CheckSelection(plan.settings);
  if (SelectsByValidation(plan.settings)) return plan;
  const auto total =
      static_cast<double>(std::accumulate(settings.rows.begin(), settings.rows.end(), std::int64_t{0}));
  plan.selection_rate = std::min(1.0, 3 * plan.settings.selection_rows / total);
  for (std::size_t owner = 0; owner < plan.capacity.size(); ++owner) {
    plan.selection_rows[owner] =
        dp::SmallestMaxBatch(kOverflowOfDelta * settings.delta, 1, plan.selection_rate, plan.capacity[owner]);
  }
  plan.count_sensitivity = static_cast<std::uint64_t>(
      std::ceil(std::ldexp(std::sqrt(double{kCandidates}), settings.fraction_bits)));
  if (plan.noisy())
    (void)dp::DiscreteGaussian(CountVariance(plan.settings.selection_sigma, plan.count_sensitivity));
  return plan;
}

std::vector<dp::RecordedEvent> EventsOf(const std::optional<InitialisationPlan>& plan) {
  if (!plan) return {};
  std::vector<dp::RecordedEvent> events{EventOf(plan->local)};
  if (plan->noisy()) {
    const double sigma = plan->settings.selection_sigma;
    events.emplace_back(
        dp::NoisySelection{.candidates = kCandidates,
                           .sampling_rate = plan->selection_rate,
                           .sigma = OnSigmaLattice(sigma),
                           .limits = {plan->capacity, plan->selection_rows},
                           .party_deviation = CountDeviation(sigma, plan->count_sensitivity)});
  } else if (plan->selects() && plan->settings.selection == Selection::kAsPublished) {
    events.emplace_back(dp::UnboundedReleases{.count = 1});
  }
  return events;
}

std::string Fingerprint(const InitialisationPlan& plan) {
  std::ostringstream text;
  text << std::hexfloat << ' ' << plan.local.lattice_bits() << ' ' << plan.local.lattice_sensitivity << ' '
       << plan.local.sigma << ' ' << plan.local.sampling_rate << ' ' << plan.selection_rate << ' '
       << plan.count_sensitivity << ' ' << plan.logit_width;
  for (const std::int64_t rows : plan.selection_rows) text << ' ' << rows;
  return text.str();
}

ArithShare AverageModels(mpc::Context& party, const std::array<ArithShare, 3>& models,
                         protocols::Rounding rounding) {
  return protocols::Truncate(party, kThird * (models[0] + models[1] + models[2]), kThirdBits,
                             protocols::Range::kSigned, rounding);
}

mpc::Cost AverageModelsCost(Index parameters, protocols::Rounding rounding) {
  return protocols::TruncateCost(parameters, kThirdBits, rounding);
}

ArithShare ChooseModel(mpc::Context& party, const std::vector<ArithShare>& models,
                       const AdditiveShare& counts) {
  const ArithShare shared = protocols::Reshare(party, counts);
  const ArithShare chosen = protocols::RowArgMax(party, Transposed(shared));  // 1 x K
  ArithShare all = Reshaped(models.front(), 1, models.front().size());
  for (std::size_t k = 1; k < models.size(); ++k)
    all = Stacked(all, Reshaped(models[k], 1, models[k].size()));
  return Reshaped(protocols::MatMul(party, chosen, all), models.front().rows(), models.front().cols());
}

mpc::Cost ChooseModelCost(Index models, Index parameters) {
  return Then(Then(protocols::ReshareCost(models), protocols::RowArgMaxCost(1, models)),
              protocols::MatMulCost(1, parameters));
}

FixedShare Initialise(mpc::Context& party, const StepPlan& plan, const InitialisationPlan& initialisation,
                      const OwnRecords& own, const OwnRecords& validation) {
  const Eigen::MatrixXd model = TrainLocally(initialisation.local, party.self(), own, party.pool());
  const auto models = InputModels(party, plan, model);
  const ArithShare average = AverageModels(party, models, plan.settings.truncation);
  const int f = plan.settings.fraction_bits;
  if (!initialisation.selects()) return {average, f};
  const std::vector<ArithShare> candidates{average, models[0], models[1], models[2]};
  const ArithShare all = SideBySide(SideBySide(average, models[0]), SideBySide(models[1], models[2]));
  const AdditiveShare counts = CountCandidates(party, plan, initialisation, all, own, validation);
  return {ChooseModel(party, candidates, counts), f};
}

mpc::Cost InitialiseCost(const StepPlan& plan, const InitialisationPlan& initialisation) {
  const protocols::Shape model{.rows = plan.settings.features + 1, .cols = plan.columns};
  const Index parameters = model.rows * model.cols;
  const mpc::Cost averaged = Then(protocols::InputEachCost({model, model, model}),
                                  AverageModelsCost(parameters, plan.settings.truncation));
  if (!initialisation.selects()) return averaged;
  const mpc::Cost counted = CountCandidatesCost(averaged, plan, initialisation);
  return Then(counted, ChooseModelCost(kCandidates, parameters));
}

}  // namespace trefoil::ml
