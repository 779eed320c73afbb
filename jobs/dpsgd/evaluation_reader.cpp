#include "jobs/dpsgd/evaluation_reader.h"

#include <nlohmann/json.hpp>

#include "jobs/config/party_list.h"

namespace trefoil::jobs {

const std::vector<std::string>& EvaluationKeys() {
  static const std::vector<std::string> keys{"evaluation.holder", "evaluation.rows", "evaluation.to",
                                             "evaluation.sigma"};
  return keys;
}

std::optional<EvaluationSpec> ReadEvaluation(const Section& section) {
  if (section.Keys().empty()) return std::nullopt;
  EvaluationSpec spec;
  spec.holder = static_cast<int>(section.Whole("holder", {0, 2}));
  spec.rows = section.Whole("rows", {1, 10'000'000});
  spec.to = ReadParties(section, "to", false);
  if (section.Has("sigma")) spec.sigma = section.Number("sigma", {.above = 0.0, .below = {}});
  return spec;
}

nlohmann::json EvaluationJson(const EvaluationSpec& spec) {
  nlohmann::json json{{"holder", spec.holder}, {"rows", spec.rows}, {"to", spec.to}};
  if (spec.sigma) json["sigma"] = *spec.sigma;
  return json;
}

std::optional<ml::EvaluationSettings> EvaluationOf(const std::optional<EvaluationSpec>& spec) {
  if (!spec) return std::nullopt;
  return ml::EvaluationSettings{
      .test = {.holder = spec->holder, .rows = spec->rows}, .to = spec->to, .sigma = spec->sigma};
}

}  // namespace trefoil::jobs
