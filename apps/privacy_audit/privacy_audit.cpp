#include "apps/privacy_audit/privacy_audit.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "apps/local/local_run.h"
#include "apps/privacy_audit/audit_result.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/outward_text.h"
#include "jobs/files/model_file.h"
#include "jobs/statement/bound_text.h"
#include "runtime/run_directory.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

/// Of losses as they are: a low one says "member".
LossAttack Attack(std::vector<double> members, std::vector<double> others, double confidence) {
  for (auto* losses : {&members, &others}) {
    for (auto& loss : *losses) loss = -loss;
  }
  return {.members = static_cast<std::int64_t>(members.size()),
          .others = static_cast<std::int64_t>(others.size()),
          .result = dp::MeasureAttack(members, others,
                                      {.false_positive_rate = kFalsePositiveRate, .confidence = confidence})};
}

/// Of the canaries: who was included against who was not.
LossAttack AttackCanaries(const jobs::CanaryFindings& found, double confidence) {
  std::vector<double> members;
  std::vector<double> others;
  for (std::size_t k = 0; k < found.canaries.size(); ++k)
    (found.canaries[k].included ? members : others).push_back(found.losses[k]);
  if (members.empty() || others.empty()) return {};  // no canary of one kind: possible with a handful only
  return Attack(members, others, confidence);
}

/// Of the job's own records that were trained on, against those of the test set.
std::optional<LossAttack> AttackRecords(const jobs::CanaryFindings& found, double confidence) {
  if (found.losses_of_rows.empty() || found.losses_of_tests.empty()) return {};
  return Attack(found.losses_of_rows, found.losses_of_tests, confidence);
}

AuditResult ResultOf(const jobs::CanaryFindings& found, const runtime::Summary& summary,
                     const AuditOptions& options) {
  std::vector<dp::ScoredCanary> scored;
  for (std::size_t k = 0; k < found.canaries.size(); ++k)
    scored.push_back({.score = found.scores[k], .included = found.canaries[k].included});
  const double claim = options.claim.value_or(summary.epsilon_outsider);
  return {.job = summary.name,
          .delta = summary.delta,
          .confidence = options.confidence,
          .claim = claim,
          .claim_is_given = options.claim.has_value(),
          .included = std::count_if(scored.begin(), scored.end(), [](const auto& c) { return c.included; }),
          .bound = dp::BestOneRunBound(scored, summary.delta, 1 - options.confidence),
          .limits = dp::LimitsOf(claim, summary.delta, kFalsePositiveRate),
          .on_canaries = AttackCanaries(found, options.confidence),
          .on_records = AttackRecords(found, options.confidence)};
}

void Show(const AuditResult& result, bool json) {
  if (json) {
    std::cout << ToJson(result).dump(2) << '\n';
  } else {
    std::cout << AuditText(result);
  }
  std::cout << std::flush;
  if (!result.refuted()) return;
  throw BudgetError(
      fmt::format("the claim is refuted: epsilon is at least {} with confidence {} %, claimed was {}",
                  FixedBelow(result.bound.epsilon, 3), DigitsBelow(100 * result.confidence, 6),
                  jobs::EpsilonText(result.claim)));
}

}  // namespace

int RunAudit(const AuditOptions& options) {
  const auto job = jobs::ReadJob(options.job, options.assignments, options.types);
  const auto audited = job->WithCanaries(options.canaries);
  std::ostream nowhere(nullptr);
  runtime::ProgressDisplay display(options.json ? nowhere : std::cout,
                                   !options.json && runtime::StdoutIsTerminal());
  const fs::path folder =
      options.out.empty() ? runtime::DefaultRunDirectory(job->name() + "-audit") : fs::path(options.out);
  const int failure = RunThree(
      {.job = audited->job(),
       .split = [&](const jobs::SplitTarget& target) { return audited->Split(target); },
       .folder = folder,
       .display = display},
      {.job = options.job, .data = options.data, .threads = options.threads, .types = options.types});
  if (failure != kDone) return failure;
  const auto found = audited->Examine(jobs::LoadModel(folder / "model.npz", options.types).model);
  WriteCanaries(folder / "canaries.csv", found);
  const auto result = ResultOf(found, runtime::ReadSummary(folder / "summary.json"), options);
  WriteTextFile(folder / "audit.json", ToJson(result).dump(2) + "\n");
  Show(result, options.json);
  return kDone;
}

}  // namespace trefoil::apps
