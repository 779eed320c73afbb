#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dp/audit/membership.h"
#include "dp/audit/one_run_audit.h"
#include "jobs/canaries.h"

namespace trefoil::apps {

/// An attack that takes records of low loss for members, on so many members and others.
struct LossAttack {
  std::int64_t members = 0;
  std::int64_t others = 0;
  dp::AttackResult result;
};

/// What an audit found.
struct AuditResult {
  std::string job;  ///< its name
  double delta = 0;
  double confidence = 0;
  double claim = 0;             ///< epsilon; infinite: none
  bool claim_is_given = false;  ///< by --claim; else it is the outsider's of the run
  std::int64_t included = 0;    ///< canaries
  dp::OneRunBound bound;
  dp::AttackLimits limits;  ///< of the claim, for the attacks
  LossAttack on_canaries;
  std::optional<LossAttack> on_records{};  ///< where there is a test set

  [[nodiscard]] bool refuted() const { return bound.epsilon > claim; }
};

/// Of the attacks: false positives that their true positive rate allows itself.
inline constexpr double kFalsePositiveRate = 0.01;

/// Everything that the result says and rests on, as JSON; `statement` are AuditStatement()'s sentences.
[[nodiscard]] nlohmann::ordered_json ToJson(const AuditResult& result);

/// The result for a reader, in lines of text.
[[nodiscard]] std::string AuditText(const AuditResult& result);

/// What the bound means and rests on, a sentence each.
[[nodiscard]] std::vector<std::string> AuditStatement(const AuditResult& result);

/// "canary,party,class,included,score,loss" of every canary.
void WriteCanaries(const std::filesystem::path& file, const jobs::CanaryFindings& found);

}  // namespace trefoil::apps
