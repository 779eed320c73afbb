#include "jobs/statement/event_sentences.h"

#include <spdlog/fmt/fmt.h>

#include <utility>
#include <variant>

#include "base/outward_text.h"
#include "dp/laws/trial_law.h"
#include "jobs/statement/bound_text.h"

namespace trefoil::jobs {
namespace {

using Statement = std::vector<StatementEntry>;

std::string OwnersCoins(const dp::DpSgdSteps& steps, dp::AccountantKind kind) {
  if (steps.sampling_rate == 1)
    return "Every step takes all rows of every owner, so that nothing is amplified.";
  return fmt::format(
      "Every owner takes each of its {} into a step with probability {}, by private coins anew in "
      "every step; {}.",
      steps.limits.group_rows > 1 ? "groups, all rows of it or none," : "rows",
      BoundText(steps.sampling_rate),
      kind == dp::AccountantKind::kPea ? "the accountant counts on nothing of it"
                                       : "both epsilons count on nobody else learning which");
}

std::string CommonCoins(const dp::DpSgdSteps& steps) {
  return fmt::format(
      "Common coins take each row into a step with probability {}. The parties see them: "
      "the insider's epsilon has no amplification and counts {} releases, as often as any row "
      "can be taken; the outsider's counts on the coins staying among the parties.",
      BoundText(steps.sampling_rate), steps.max_participation);
}

/// An owner's program keeps to the rate; nothing makes an owner keep to its program.
std::string DepositedCoins(const dp::DpSgdSteps& steps, dp::AccountantKind kind) {
  const auto drawn =
      steps.sampling_rate == 1
          ? std::string(
                "Every owner deposits all of its records for every step, so that nothing is amplified.")
          : fmt::format(
                "Every owner draws the batches of all steps before it deposits them, each record into each "
                "with "
                "probability {}, by private coins; {}.",
                BoundText(steps.sampling_rate),
                kind == dp::AccountantKind::kPea ? "the accountant counts on nothing of it"
                                                 : "both epsilons count on nobody else learning which");
  return drawn +
         fmt::format(
             " An owner may also fill the {} rows that its batch has in every step, and not only its rate of "
             "them: that may move the model, and changes no epsilon of another owner's record.",
             steps.limits.max_batch[0]);
}

/// Who draws the rows of a step.
std::string SamplingText(const dp::DpSgdSteps& steps, dp::AccountantKind kind) {
  switch (steps.sampling) {
    case dp::SamplingMode::kFull:
      return "Every step takes all rows there are, so that nothing is amplified.";
    case dp::SamplingMode::kPublic:
      return CommonCoins(steps);
    case dp::SamplingMode::kDeposited:
      return DepositedCoins(steps, kind);
    case dp::SamplingMode::kOwnerPoisson:
      break;
  }
  return OwnersCoins(steps, kind);
}

std::string CutText(const dp::BatchLimits& limits) {
  if (limits.max_batch == limits.capacity) return "no batch is cut";
  return fmt::format("draws above {}, {} and {} rows are cut at random", limits.max_batch[0],
                     limits.max_batch[1], limits.max_batch[2]);
}

std::string CutText(const dp::DpSgdSteps& steps) {
  if (steps.sampling != dp::SamplingMode::kDeposited || steps.limits.max_batch == steps.limits.capacity)
    return CutText(steps.limits);
  return fmt::format("an owner's draws above {} rows are cut at random", steps.limits.max_batch[0]);
}

/// Batches that a resumed run did again from the same coins.
void AddExecutions(Statement& statement, std::int64_t executions) {
  statement.push_back(
      {.key = "executions",
       .title = "Executions of each of them",
       .sentence =
           "Of the same rows each time, by the same coins, since the run was resumed: for whoever does "
           "not see the coins one release with so much less noise, not so many with all of it.",
       .number = static_cast<double>(executions)});
}

void AddClipCounts(Statement& statement, double sigma) {
  statement.push_back(
      {.key = "clip_counts",
       .title = "Noise on the counts of an adaptive clip",
       .sentence = "All three parties also see at each step how many of its rows are within the clip, less a "
                   "half of them, with any two parties' noise of this deviation; the clip follows from it. "
                   "The noise multiplier is of that and of the sum together.",
       .number = sigma});
}

/// What each step opens, and with how much noise: with an adaptive clip the sum has more and the count its
/// own.
std::string StepText(const dp::DpSgdSteps& steps) {
  if (steps.clip_count_sigma > 0) {
    return fmt::format(
        "Each opens the sum of a step's clipped gradients to its adversary, and a count of them to all "
        "three, with noise that is for both together worth {} times what one record changes, on {} "
        "coordinates, of which the count is one; {}.",
        MultiplierText(steps.sigma), steps.coordinates, CutText(steps));
  }
  return fmt::format(
      "Each opens a sum of clipped vectors, in a training the gradients of a step, to its adversary, with "
      "noise of {} times the sensitivity on {} coordinates; {}.",
      MultiplierText(steps.sigma), steps.coordinates, CutText(steps));
}

std::string MultiplierSentence(const dp::DpSgdSteps& steps) {
  if (steps.clip_count_sigma > 0)
    return "That of one Gaussian release which tells as much as a step's sum and count together, with any "
           "two parties' noise.";
  return "Deviation of any two parties' noise over the sensitivity.";
}

/// A title for Gaussian releases, and how a sentence on them begins.
std::pair<const char*, const char*> WhatFor(dp::ReleasedFor of) {
  switch (of) {
    case dp::ReleasedFor::kRanges:
      return {"Noisy counts of ranges",
              "By which all three parties find ranges of columns, before the rest. "};
    case dp::ReleasedFor::kMeans:
      return {"Noisy sums of means",
              "From which means follow, and scales of a table's columns, before the first step. "};
    case dp::ReleasedFor::kClassCounts:
      return {"Noisy counts of classes", "From which weights of classes follow, before the first step. "};
    case dp::ReleasedFor::kResult:
      break;
  }
  return {"Gaussian releases", ""};
}

/// How each kind of event was protected.
struct Describe {
  Statement& statement;
  dp::AccountantKind accountant;

  void operator()(const dp::DpSgdSteps& steps) const {
    statement.push_back({.key = "dpsgd_steps",
                         .title = "Noisy sums",
                         .sentence = StepText(steps),
                         .number = static_cast<double>(steps.steps)});
    if (steps.executions > 1) AddExecutions(statement, steps.executions);
    if (steps.clip_count_sigma > 0) AddClipCounts(statement, steps.clip_count_sigma);
    statement.push_back({.key = "noise_multiplier",
                         .title = "Noise multiplier",
                         .sentence = MultiplierSentence(steps),
                         .number = steps.sigma});
    statement.push_back(
        {.key = "sensitivity",
         .title = "Sensitivity",
         .sentence = fmt::format(
             "The most that {} adds to a sum, with every error of clipping, "
             "approximation and rounding; {}, of a row, is {}.",
             steps.limits.group_rows > 1 ? "a group" : "one record",
             steps.clip_count_sigma > 0 ? "the first clip, to which all steps are scaled" : "the clip itself",
             BoundText(steps.clip)),
         .number = steps.sensitivity});
    statement.push_back({.key = "sampling",
                         .title = "Sampling rate",
                         .sentence = SamplingText(steps, accountant),
                         .number = steps.sampling_rate});
  }

  void operator()(const dp::LocalTraining& local) const {
    statement.push_back(
        {.key = "local_training",
         .title = "Steps of local training",
         .sentence = fmt::format("Each owner's alone, charged as if its model were seen: noise multiplier "
                                 "{}, its rows taken with probability {} by private coins. One "
                                 "owner is charged, as a record has one owner.",
                                 MultiplierText(local.sigma), BoundText(local.sampling_rate)),
         .number = static_cast<double>(local.steps)});
  }

  void operator()(const dp::NoisySelection& selection) const {
    statement.push_back(
        {.key = "noisy_selection",
         .title = "Candidates of a selection",
         .sentence = fmt::format("One is chosen by noisy counts of correctly classified rows, each row taken "
                                 "with probability {}: noise multiplier {} over their sensitivity; {}.",
                                 BoundText(selection.sampling_rate), MultiplierText(selection.sigma),
                                 CutText(selection.limits)),
         .number = static_cast<double>(selection.candidates)});
  }

  void operator()(const dp::PureReleases& releases) const {
    statement.push_back({.key = "pure_releases",
                         .title = "Pure releases",
                         .sentence = fmt::format(
                             "Each has epsilon {} with delta 0, against everybody alike: reports that "
                             "their owners perturb, or numbers with Laplace noise of which any two parties' "
                             "parts suffice; that of a third is not counted.",
                             BoundText(releases.epsilon)),
                         .number = static_cast<double>(releases.count)});
    if (!releases.replaced) return;
    statement.push_back(
        {.key = "epsilon_replaced",
         .title = "Epsilon, replaced",
         .sentence = "For one record replaced by another at the same owner, with delta 0, against everybody "
                     "alike. The epsilons above are for one added or removed.",
         .number = *releases.replaced * static_cast<double>(releases.count)});
  }

  void operator()(const dp::LaplaceCounts& counts) const {
    statement.push_back(
        {.key = "laplace_counts",
         .title = "Noisy counts",
         .sentence = fmt::format(
             "That one unit of privacy moves by 1 at most, each with discrete Laplace noise of rate {} in "
             "parts. One has epsilon {} with delta 0, for an insider exactly; for an outsider, who faces "
             "three parts, less at every delta above 0.",
             BoundText(counts.rate), BoundText(counts.rate)),
         .number = static_cast<double>(counts.count)});
  }

  void operator()(const dp::GaussianReleases& releases) const {
    const auto [title, what] = WhatFor(releases.of);
    statement.push_back(
        {.key = "gaussian_releases",
         .title = title,
         .sentence = fmt::format("{}Each of {} coordinates, with noise of {} times the most that one unit of "
                                 "privacy changes.",
                                 what, releases.coordinates, MultiplierText(releases.sigma)),
         .number = static_cast<double>(releases.count)});
  }

  void operator()(const dp::ApproximateReleases& releases) const {
    statement.push_back(
        {.key = "approximate_releases",
         .title = "Approximate releases",
         .sentence = fmt::format(
             "Each is within total variation {} of one that has epsilon {} with delta 0, {}",
             DigitsAbove(releases.failure, 3), BoundText(releases.epsilon),
             releases.insiders ? "against everybody alike."
                               : "against outsiders; an insider may know all of the noise, and is promised "
                                 "nothing."),
         .number = static_cast<double>(releases.count)});
  }

  void operator()(const dp::UnboundedReleases& releases) const {
    statement.push_back({.key = "unbounded_releases",
                         .title = "Without bound",
                         .sentence =
                             "Choices by exact counts of private records: there is a record that decides "
                             "one alone, so that no epsilon holds, for anybody. The noise is as if the "
                             "choice had cost nothing.",
                         .number = static_cast<double>(releases.count)});
  }

  void operator()(const dp::Tuning& tuning) const {
    statement.push_back({.key = "tuning",
                         .title = "Trials of a tuning",
                         .sentence = fmt::format("All are trained, and compared by noisy counts of test "
                                                 "records that each classifies correctly, on shares. "
                                                 "Of them {:.4g} compete on average: how many, and which, is "
                                                 "drawn on shares and known to nobody. The best of "
                                                 "these is released, and nothing else is opened. Charged is "
                                                 "a trial's Renyi curve, the greatest of all, "
                                                 "with what a choice among a secret number of them adds "
                                                 "(Papernot and Steinke 2022, for public settings), "
                                                 "or all trials' curves where that is less.",
                                                 dp::MeanTrials(tuning.weights)),
                         .number = static_cast<double>(tuning.weights.size())});
    for (const auto& alike : tuning.trials) {
      statement.push_back({.key = "trials_alike",
                           .title = "Trials charged alike",
                           .sentence = "Each of them as follows.",
                           .number = static_cast<double>(alike.count)});
      for (const auto& event : alike.events) std::visit(*this, event);
    }
  }

  void operator()(const dp::NoisyEvaluation&) const {}  // test records have an entry of their own
};

}  // namespace

void AddEvents(Statement& statement, const dp::TrainingRecord& record, dp::AccountantKind accountant) {
  for (const auto& event : record.events) std::visit(Describe{statement, accountant}, event);
}

}  // namespace trefoil::jobs
