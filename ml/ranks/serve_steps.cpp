#include "ml/ranks/serve_steps.h"

#include <string>

#include "base/error.h"
#include "ml/ranks/rank_rows.h"
#include "ml/ranks/rank_steps.h"
#include "mpc/dealing/preprocessing.h"
#include "protocols/arithmetic/agreement.h"

namespace trefoil::ml {

void CheckRanks(const TrainingSettings& settings, int ranks) {
  if (ranks == 1) return;
  const auto refuse = [](const std::string& found) {
    throw ConfigError(found + ", with [party] ranks above 1");
  };
  if (settings.vertical) refuse("data.partition: found \"vertical\", expected \"horizontal\"");
  if (settings.deposited) refuse("data.source: found \"store\", expected \"files\"");
  if (settings.adaptive) refuse("privacy.clip: found \"adaptive\", expected a number");
  if (settings.sampling == Sampling::kPublic)
    refuse("privacy.sampling: found \"public\", expected \"owner-poisson\" or \"full\"");
}

void ServeSteps(mpc::Context& party, const TrainingSettings& settings, mpc::Ranks& ranks) {
  CheckRanks(settings, ranks.count());
  Require(ranks.rank() > 0, "ServeSteps: a rank above 0");
  const SharedSteps shared = HearOfSteps(ranks, settings);
  protocols::RequireSameEverywhere(party, LaneConstants(Fingerprint(shared.plan, shared.sigma), ranks),
                                   "constants of the training");
  if (shared.first == settings.steps) return;
  const OwnRecords none;
  const auto source = MakeRankSource(party.self(), shared.plan, none, ranks, RandomStream::FromSystem());
  NoiseSource noise(shared.plan, shared.sigma, SliceShape(shared.plan, ranks.count()),
                    RandomStream::FromSystem());
  RankSteps steps(shared.plan, noise, ranks, {.weights = {}, .velocity = {}, .step = shared.first});
  source->Share(party);
  mpc::Preprocessing runs(
      party, {.runs = settings.steps - shared.first, .ahead = settings.steps_ahead, .rotate = true});
  try {
    for (std::int64_t step = shared.first; step < settings.steps; ++step) {
      steps.WaitForOthers();
      runs.Run([&](mpc::Context& run) { steps.Step(run, *source->Next(run, static_cast<int>(step), 0)); });
      if (IsCheckpointDue(step, settings.steps, shared.checkpoint_every)) (void)steps.Gathered();
    }
  } catch (...) {
    steps.Abort();
    throw;
  }
}

}  // namespace trefoil::ml
