#pragma once
#include <array>
#include <cstdint>

#include "ml/plan/settings.h"
#include "mpc/cost.h"
#include "protocols/cost_model.h"
#include "protocols/form.h"

namespace trefoil::ml {

/// What a whole run costs.
struct RunCost {
  int rounds = 0;
  std::array<std::uint64_t, net::kParties> bytes_sent{};  ///< by each party, online and offline
};

/// What a session computes beside its messages where it does not train on shares.
struct Work {
  double draws = 0;               ///< of noise, one number each
  double elements = 0;            ///< of matrices in the clear: encoded, masked
  double lines = 0;               ///< of released text, one number or a few each
  double multiply_adds = 0;       ///< of ring products
  double comparison_seconds = 0;  ///< as of protocols::ComparisonSeconds
  double clear_seconds = 0;       ///< of what is trained or solved in the clear (ml/clear)

  Work& operator+=(const Work& more);
};

/// A part of a session: what it sends, and what it computes for that.
struct SessionPart {
  mpc::Cost messages{};
  Work work{};
};

/// How a session comes to its training.
struct TrainingStart {
  SessionPart before{};       ///< what it does first
  std::int64_t deposits = 1;  ///< whose rows are encoded one deposit after the other, as many of each
};

/// The declared cost of a whole run with comparisons of this form, as a StepReport counts it at the last
/// step: keys, `start`, measuring the link, agreeing on constants, initialisation, inputs and all steps; with
/// public sampling, steps of the expected number of rows. Without what follows the last step. Of parties of
/// `ranks` machines what the first of them sends, each of the others some less before the first step and as
/// much in each. Throws as MakeStepPlan and CheckRanks, as all that follows.
[[nodiscard]] RunCost PlannedRunCost(const TrainingSettings& settings, protocols::Form form, int ranks = 1,
                                     const TrainingStart& start = {});

/// The form that a run would choose on a link, where the job leaves it open.
[[nodiscard]] protocols::Form PlannedForm(const TrainingSettings& settings, const protocols::Link& link,
                                          int ranks = 1);

/// Seconds that a run is expected to take on a link, from its connection to its last step, the parties' own
/// trainings for its first weights included, on hosts that do nothing else. Constants of computation are
/// those of the machine of docs/reference/performance.md, where plan and measurement are compared, over
/// `link.speed`. Of parties of several machines each has a host and a link to the other parties of its own,
/// as `link` is; what passes between machines of a party is not counted.
[[nodiscard]] double PlannedRunSeconds(const TrainingSettings& settings, protocols::Form form,
                                       const protocols::Link& link, int ranks = 1,
                                       const TrainingStart& start = {});

/// The declared cost of a session that is no training, part after part; begins with the agreement on keys.
class SessionCost {
 public:
  SessionCost();
  /// Then this, so many times.
  void Add(const mpc::Cost& part, int times = 1);
  /// The same of messages that are between the parties as numbered (mpc::ThenUnturned).
  void AddUnturned(const mpc::Cost& part, int times = 1);

  /// As the session's summary counts it.
  [[nodiscard]] RunCost total() const;
  /// Seconds that the session is expected to take on a link, from its connection to its last message; hosts
  /// and constants as of PlannedRunSeconds. In each part, all wait for the party that sends most.
  [[nodiscard]] double Seconds(const Work& work, const protocols::Link& link) const;

 private:
  mpc::Cost messages_;
  double busiest_bytes_ = 0;  // the sum over parts
};

}  // namespace trefoil::ml
