#include "apps/privacy_audit/privacy_audit.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "apps/local/deployment.h"
#include "apps/local/free_ports.h"
#include "apps/local/local_results.h"
#include "apps/local/party_processes.h"
#include "apps/privacy_audit/audit_result.h"
#include "apps/privacy_audit/canary_data.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files.h"
#include "base/outward_text.h"
#include "data/dataset/folders.h"
#include "jobs/dpsgd/split_data.h"
#include "jobs/dpsgd/training_settings.h"
#include "jobs/files/model_file.h"
#include "jobs/statement/bound_text.h"
#include "runtime/run_directory.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

/// Three party folders and the job, ready to be run. Returns the time after which a party notices a lost
/// peer.
std::chrono::milliseconds Deploy(const jobs::DpsgdSettings& extended, const fs::path& folder) {
  auto parties = DescribeParties(FreeLoopbackAddresses());
  for (auto& party : parties) {
    party.data = data::PartyFiles(extended.data.format, "");
    fs::permissions(PartyFolder(folder, party.id), fs::perms::owner_all);
  }
  MakeAllPartyFolders(parties, folder);
  WriteTextFile(folder / "job.toml", jobs::DpsgdToml(extended));
  return parties[0].peer_timeout;
}

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

LossAttack AttackCanaries(const std::vector<Canary>& canaries, const std::vector<double>& losses,
                          double confidence) {
  std::vector<double> members;
  std::vector<double> others;
  for (std::size_t k = 0; k < canaries.size(); ++k)
    (canaries[k].included ? members : others).push_back(losses[k]);
  if (members.empty() || others.empty()) return {};  // no canary of one kind: possible with a handful only
  return Attack(members, others, confidence);
}

/// The job's own records that were trained on, against those of the test set.
std::optional<LossAttack> AttackRecords(const jobs::DpsgdSettings& job, const CanaryData& data,
                                        const ml::Model& model, double confidence) {
  if (data.test.y.empty()) return {};
  const auto losses = RecordLosses(job, data.training, model);
  std::vector<double> members;
  for (std::size_t row = 0; row < losses.size(); ++row) {
    if (data.party[row] >= 0) members.push_back(losses[row]);
  }
  if (members.empty()) return {};
  return Attack(members, RecordLosses(job, data.test, model), confidence);
}

AuditResult Examine(const jobs::DpsgdSettings& job, const CanaryData& data, const runtime::Summary& summary,
                    const AuditOptions& options, const fs::path& folder) {
  const auto model = jobs::LoadModel(folder / "model.npz").model;
  const auto scores = CanaryScores(job, data.canaries, model);
  const auto losses = CanaryLosses(job, data.canaries, model);
  WriteCanaries(folder / "canaries.csv", data.canaries, scores, losses);
  std::vector<dp::ScoredCanary> scored;
  for (std::size_t k = 0; k < scores.size(); ++k)
    scored.push_back({.score = scores[k], .included = data.canaries[k].included});
  const double claim = options.claim.value_or(summary.epsilon_outsider);
  return {.job = job.name,
          .delta = summary.delta,
          .confidence = options.confidence,
          .claim = claim,
          .claim_is_given = options.claim.has_value(),
          .included = std::count_if(scored.begin(), scored.end(), [](const auto& c) { return c.included; }),
          .bound = dp::BestOneRunBound(scored, summary.delta, 1 - options.confidence),
          .limits = dp::LimitsOf(claim, summary.delta, kFalsePositiveRate),
          .on_canaries = AttackCanaries(data.canaries, losses, options.confidence),
          .on_records = AttackRecords(job, data, model, options.confidence)};
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
  const jobs::DpsgdSettings job = jobs::ReadDpsgdSettings(options.job, options.assignments);
  CheckAuditable(job, options.canaries);
  const jobs::DpsgdSettings extended = WithCanaries(job, options.canaries);
  (void)ml::MakePlan(jobs::SettingsOf(extended));
  std::ostream nowhere(nullptr);
  runtime::ProgressDisplay display(options.json ? nowhere : std::cout,
                                   !options.json && runtime::StdoutIsTerminal());

  const fs::path folder =
      options.out.empty() ? runtime::DefaultRunDirectory(job.name + "-audit") : fs::path(options.out);
  runtime::MakeRunDirectory(folder);
  const auto source = jobs::FindDataFolder(job, options.job, options.data, folder);
  auto data = LoadForAudit(job, source);
  if (source.parent_path() == folder) fs::remove_all(source);  // generated, and read
  auto coins = RandomStream::FromSystem();
  data.canaries = DrawCanaries(job, options.canaries, coins);
  DealWithCanaries(job, data, PartyFolders(folder), folder / "test");
  display.Say(fmt::format("job {}: {} canaries beside its {} records, at three parties in {}", job.name,
                          options.canaries, data.training.y.size(), folder.string()));

  const auto peer = Deploy(extended, folder);
  const int failure = RunPartyProcesses({.folder = folder,
                                         .steps = static_cast<int>(extended.training.steps),
                                         .peer = peer,
                                         .threads = options.threads},
                                        display);
  if (failure != kDone) return failure;
  const auto summary = CollectResults(extended, folder, {}, display);
  const auto result = Examine(job, data, summary, options, folder);
  WriteTextFile(folder / "audit.json", ToJson(result).dump(2) + "\n");
  Show(result, options.json);
  return kDone;
}

}  // namespace trefoil::apps
