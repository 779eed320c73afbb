#include "apps/privacy_audit/audit_result.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "base/outward_text.h"
#include "dp/record/json_number.h"
#include "jobs/statement/bound_text.h"
#include "runtime/observe/progress.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::ordered_json;

std::string Percent(double part) { return DigitsBelow(100 * part, 6) + " %"; }

Json ToJson(const LossAttack& attack) {
  return {{"members", attack.members},
          {"others", attack.others},
          {"auc", attack.result.auc},
          {"auc_interval", {attack.result.auc_low, attack.result.auc_high}},
          {"true_positive_rate", attack.result.true_positive_rate},
          {"accuracy", attack.result.accuracy}};
}

std::string Row(const std::string& name, const LossAttack& attack) {
  const auto& r = attack.result;
  return fmt::format("{:<28}{:.3f} [{}, {}]{:>12.3f}{:>12.3f}\n",
                     fmt::format("{}, {} in, {} out", name, attack.members, attack.others), r.auc,
                     FixedBelow(r.auc_low, 3), FixedAbove(r.auc_high, 3), r.true_positive_rate, r.accuracy);
}

std::string Verdict(const AuditResult& result) {
  if (!std::isfinite(result.claim)) return "nothing to refute: no epsilon is claimed";
  if (result.refuted()) return "the claim is refuted";
  return "the claim is not refuted (nor is it proved)";
}

std::string ClaimSource(const AuditResult& result) {
  return result.claim_is_given ? "given" : "the outsider's, from the record of this run";
}

}  // namespace

Json ToJson(const AuditResult& result) {
  const auto& guesses = result.bound.guesses;
  Json json{{"job", result.job},
            {"epsilon_lower", result.bound.epsilon},
            {"claim", dp::NumberOrNull(result.claim)}};
  json["claim_is"] = ClaimSource(result);
  json["refuted"] = result.refuted();
  json["delta"] = result.delta;
  json["confidence"] = result.confidence;
  json["canaries"] = guesses.canaries;
  json["included"] = result.included;
  json["guesses"] = guesses.guesses;
  json["right"] = guesses.right;
  json["membership"] = {{"false_positive_rate", kFalsePositiveRate},
                        {"canaries", ToJson(result.on_canaries)}};
  json["membership"]["records"] = result.on_records ? ToJson(*result.on_records) : Json(nullptr);
  json["membership"]["claim_allows"] = {{"auc", result.limits.auc},
                                        {"true_positive_rate", result.limits.true_positive_rate},
                                        {"accuracy", result.limits.accuracy}};
  json["statement"] = AuditStatement(result);
  return json;
}

std::string AuditText(const AuditResult& result) {
  const auto& guesses = result.bound.guesses;
  std::string text = fmt::format(
      "\n"
      "epsilon at least  {}  with confidence {}: {} of {} guesses right, about {} canaries, {} of them "
      "in the training\n",
      FixedBelow(result.bound.epsilon, 3), Percent(result.confidence), guesses.right, guesses.guesses,
      guesses.canaries, result.included);
  text += fmt::format("epsilon claimed   {}  {}, at delta {}\n{}\n", jobs::EpsilonText(result.claim),
                      ClaimSource(result), jobs::DeltaText(result.delta), Verdict(result));
  text += fmt::format("\n{:<28}{:<22}{:>12}{:>12}\n", "membership by loss",
                      fmt::format("AUC ({})", Percent(result.confidence)), "TPR at 1 %", "accuracy");
  text += Row("canaries", result.on_canaries);
  if (result.on_records) text += Row("records", *result.on_records);
  text += fmt::format("{:<28}{:<22}{:>12}{:>12}\n\n", "the claim allows", FixedAbove(result.limits.auc, 3),
                      FixedAbove(result.limits.true_positive_rate, 3), FixedAbove(result.limits.accuracy, 3));
  for (const auto& sentence : AuditStatement(result)) text += "- " + sentence + "\n";
  return text;
}

std::vector<std::string> AuditStatement(const AuditResult& result) {
  const auto& guesses = result.bound.guesses;
  const auto tries = dp::GuessGrid(guesses.canaries).size();
  std::vector<std::string> sentences{
      fmt::format(
          "If the training is (E, {})-differentially private for whoever sees the model, an audit "
          "finds a bound above E with probability at most 1 - {}, over the coins of the canaries and all "
          "coins of the training.",
          result.delta, result.confidence),
      fmt::format(
          "Each of {} canaries is one record of one party and was included by a fair coin of its own; "
          "neighbours are data sets that differ by one record.",
          guesses.canaries),
      fmt::format(
          "Guesses are functions of the released model alone. Their number was fixed before the run: the "
          "best of {0} numbers is taken, each tested at that probability over {0}.",
          tries),
      "The three parties were processes of this program over TLS; what they trained is the job with a "
      "feature for each canary, at the same sampling rate, steps and clip, with noise for the same target.",
      "A bound below the claim is no proof of it: the true epsilon lies between the two, if the claim is "
      "right. An insider's epsilon, errors of the noise's variance too small for so many guesses, and "
      "other jobs are not looked at.",
      "Intervals of the AUC are Hoeffding's, for scores that are independent of each other."};
  return sentences;
}

void WriteCanaries(const std::filesystem::path& file, const jobs::CanaryFindings& found) {
  std::string text = "canary,party,class,included,score,loss\n";
  for (std::size_t k = 0; k < found.canaries.size(); ++k) {
    const auto& [party, label, included] = found.canaries[k];
    text += fmt::format("{},{},{},{},{},{}\n", k, party, label, included ? 1 : 0, found.scores[k],
                        found.losses[k]);
  }
  WriteTextFile(file, text);
}

}  // namespace trefoil::apps
