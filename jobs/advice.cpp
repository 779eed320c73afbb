#include "jobs/advice.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "jobs/records/row_norm.h"
#include "jobs/statement/bound_text.h"

namespace trefoil::jobs {
namespace {

/// Below this part of what rows come to, most are shortened.
constexpr double kShort = 0.7;
/// Noise of two parties in place of three alone makes an insider's epsilon up to a half larger.
constexpr double kFarAbove = 2;

using Lines = std::vector<std::string>;

void AddDelta(const Job& job, Lines& lines) {
  const auto rows = job.DeclaredRows();
  if (job.delta() * static_cast<double>(rows) < 1) return;
  lines.push_back(
      fmt::format("privacy.delta, {}, is not below one over the {} rows that the job declares: so large a "
                  "delta allows to publish "
                  "a record or more as they are; take a tenth of 1/{} at most",
                  job.delta(), rows, rows));
}

void AddAdversaries(const dp::EpsilonPair& epsilons, Lines& lines) {
  if (!std::isfinite(epsilons.insider) || epsilons.insider <= kFarAbove * epsilons.outsider) return;
  lines.push_back(fmt::format(
      "an insider, one of the three parties, has epsilon {} where an outsider has {}: tell whose "
      "records these are; privacy.epsilon is the insider's with privacy.against = \"insider\" alone",
      EpsilonText(epsilons.insider), EpsilonText(epsilons.outsider)));
}

void AddRowNorm(const RecordSchema& schema, Lines& lines) {
  const FeatureSpec& features = schema.features;
  const bool as_they_are = features.extraction.method == data::FeatureMethod::kNone;
  if (schema.data.format != data::Format::kCsv || !as_they_are) return;
  const double row_norm = features.row_norm;
  const double usual = UsualRowNorm(schema.data, features.standardise.on);
  if (schema.data.features > kFewFeatures || row_norm >= kShort * usual) return;
  lines.push_back(
      fmt::format("features.row_norm, {}, is below {}, about what rows of these columns come to: longer ones "
                  "are shortened to it, "
                  "and with few columns their length tells; features.row_norm = \"auto\" takes {}",
                  row_norm, usual, usual));
}

}  // namespace

std::vector<std::string> AdviceOn(const Job& job, const dp::EpsilonPair& epsilons) {
  Lines lines;
  if (job.Covered().empty()) {
    AddDelta(job, lines);
    AddAdversaries(epsilons, lines);
  }
  if (job.Records() != nullptr) AddRowNorm(*job.Records(), lines);
  const auto more = job.Advice();
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

}  // namespace trefoil::jobs
