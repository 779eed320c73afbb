#include "apps/account_votes.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/error_report.h"
#include "apps/order_list.h"
#include "apps/vote_file.h"
#include "base/error.h"
#include "dp/pate.h"
#include "dp/rdp.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::ordered_json;
using Counts = std::vector<std::int64_t>;

struct Mechanism {
  std::string name;
  double noise = 0;            ///< scale of lnmax, sigma of the others
  double threshold = 0;        ///< confident-gnmax
  double threshold_sigma = 0;  ///< confident-gnmax

  [[nodiscard]] bool confident() const { return name == "confident-gnmax"; }
};

/// A curve over the orders: those asked for and the default ones, and then the authors'.
struct Curve {
  std::vector<double> orders;
  std::vector<double> rdp;
};

struct Analysis {
  std::int64_t queries = 0;
  std::int64_t teachers = 0;
  double answers = 0;      ///< expected, over the noise of the threshold
  Curve whatever;          ///< whatever the votes are, all answered
  Curve of_these;          ///< for these votes; confident-gnmax: an answer counts with its probability
  double least_log_q = 0;  ///< of the answers
  double most_log_q = 0;
};

double NeededNoise(const std::optional<double>& value, const char* option, const std::string& mechanism) {
  if (!value)
    throw ConfigError(fmt::format("account: missing {}, which mechanism {} has", option, mechanism));
  if (!(*value > 0 && std::isfinite(*value)))
    throw ConfigError(fmt::format("{}: found {}, expected a number above 0", option, *value));
  return *value;
}

void RefuseOther(const std::optional<double>& value, const char* option, const std::string& mechanism) {
  if (value)
    throw ConfigError(fmt::format("{}: found {}, expected none: mechanism {} has no such noise", option,
                                  *value, mechanism));
}

Mechanism MechanismOf(const VoteOptions& options) {
  if (options.mechanism.empty())
    throw ConfigError("account: missing --mechanism, expected lnmax, gnmax or confident-gnmax");
  Mechanism mechanism{.name = options.mechanism};
  if (mechanism.name == "lnmax") {
    RefuseOther(options.sigma, "--sigma", mechanism.name);
    mechanism.noise = NeededNoise(options.scale, "--scale", mechanism.name);
  } else {
    RefuseOther(options.scale, "--scale", mechanism.name);
    mechanism.noise = NeededNoise(options.sigma, "--sigma", mechanism.name);
  }
  if (mechanism.confident()) {
    if (!options.threshold || !std::isfinite(*options.threshold))
      throw ConfigError("account: missing --threshold, which mechanism confident-gnmax has");
    mechanism.threshold = *options.threshold;
    mechanism.threshold_sigma = NeededNoise(options.threshold_sigma, "--threshold-sigma", mechanism.name);
  } else {
    RefuseOther(options.threshold, "--threshold", mechanism.name);
    RefuseOther(options.threshold_sigma, "--threshold-sigma", mechanism.name);
  }
  return mechanism;
}

double LogQ(const Mechanism& mechanism, const Counts& counts) {
  return mechanism.name == "lnmax" ? dp::LnMaxLogQ(counts, mechanism.noise)
                                   : dp::GnMaxLogQ(counts, mechanism.noise);
}

double AnswerRdp(const Mechanism& mechanism, double log_q, double order) {
  return mechanism.name == "lnmax" ? dp::LnMaxRdp(log_q, mechanism.noise, order)
                                   : dp::GnMaxRdp(log_q, mechanism.noise, order);
}

/// Adds one query to the analysis.
void AddQuery(Analysis& analysis, const Mechanism& mechanism, const Counts& counts) {
  const double log_q = LogQ(mechanism, counts);
  const auto law = mechanism.confident()
                       ? dp::NoisyThreshold(counts, mechanism.threshold, mechanism.threshold_sigma)
                       : dp::ThresholdLaw{};
  const double answered = std::exp(law.log_answered);
  analysis.answers += answered;
  analysis.least_log_q = analysis.queries == 0 ? log_q : std::min(analysis.least_log_q, log_q);
  analysis.most_log_q = analysis.queries == 0 ? log_q : std::max(analysis.most_log_q, log_q);
  ++analysis.queries;
  for (std::size_t i = 0; i < analysis.whatever.orders.size(); ++i) {
    const double order = analysis.whatever.orders[i];
    analysis.whatever.rdp[i] += AnswerRdp(mechanism, 0, order);
    analysis.of_these.rdp[i] += answered * AnswerRdp(mechanism, log_q, order);
    if (!mechanism.confident()) continue;
    analysis.whatever.rdp[i] += dp::NoisyThresholdRdp(0, mechanism.threshold_sigma, order);
    analysis.of_these.rdp[i] += dp::NoisyThresholdRdp(law.log_q, mechanism.threshold_sigma, order);
  }
}

Analysis Analyse(const VoteOptions& options, const Mechanism& mechanism) {
  const auto file = ReadVotes(options.votes);
  const auto queries = options.queries.value_or(static_cast<std::int64_t>(file.counts.size()));
  if (queries > static_cast<std::int64_t>(file.counts.size()))
    throw ConfigError(fmt::format("--queries: found {}, expected at most the {} of {}", queries,
                                  file.counts.size(), options.votes));
  auto orders = AllOrders(ParseOrders(options.rdp_orders));
  orders.insert(orders.end(), dp::PateOrders().begin(), dp::PateOrders().end());
  Analysis analysis;
  analysis.teachers = file.teachers;
  analysis.whatever = analysis.of_these = {.orders = orders, .rdp = std::vector<double>(orders.size(), 0.0)};
  for (std::int64_t query = 0; query < queries; ++query)
    AddQuery(analysis, mechanism, file.counts[static_cast<std::size_t>(query)]);
  return analysis;
}

struct Epsilons {
  dp::Guarantee improved;
  dp::Guarantee basic;
};

/// The papers' conversion at the papers' orders, so that their figures come out.
Epsilons EpsilonsOf(const Curve& curve, double delta) {
  const auto authors = curve.orders.size() - dp::PateOrders().size();
  return {.improved = dp::RdpToEpsilon(curve.orders, curve.rdp, delta),
          .basic = dp::RdpToEpsilon(dp::PateOrders(), std::span(curve.rdp).subspan(authors), delta,
                                    dp::RdpConversion::kBasic)};
}

/// Whatever the votes are: LNMax is pure, too.
Epsilons WhateverEpsilons(const Analysis& analysis, const Mechanism& mechanism, double delta) {
  auto epsilons = EpsilonsOf(analysis.whatever, delta);
  if (mechanism.name != "lnmax") return epsilons;
  const double pure = 2 / mechanism.noise * static_cast<double>(analysis.queries);
  for (auto* one : {&epsilons.improved, &epsilons.basic}) {
    if (pure < one->epsilon) *one = {.epsilon = pure};
  }
  return epsilons;
}

Json ToJson(const Epsilons& epsilons) {
  const auto one = [](const dp::Guarantee& guarantee) {
    return Json{{"epsilon", guarantee.epsilon}, {"order", guarantee.order}};
  };
  return Json{{"improved", one(epsilons.improved)}, {"basic", one(epsilons.basic)}};
}

constexpr const char* kWarning =
    "the epsilon of these votes depends on them and is private itself: do not publish it";

std::string Text(const Epsilons& epsilons) {
  return fmt::format("{:.6g} (order {:g}); by the basic conversion {:.9g} (order {:g})",
                     epsilons.improved.epsilon, epsilons.improved.order, epsilons.basic.epsilon,
                     epsilons.basic.order);
}

}  // namespace

int AccountVotes(const VoteOptions& options) {
  const auto mechanism = MechanismOf(options);
  if (!options.delta) throw ConfigError("account: missing --delta");
  const auto analysis = Analyse(options, mechanism);
  const auto whatever = WhateverEpsilons(analysis, mechanism, *options.delta);
  auto of_these = EpsilonsOf(analysis.of_these, *options.delta);
  // What holds for all votes holds for these.
  if (whatever.improved.epsilon < of_these.improved.epsilon) of_these.improved = whatever.improved;
  if (whatever.basic.epsilon < of_these.basic.epsilon) of_these.basic = whatever.basic;
  Json asked = Json::object();
  for (const auto& [text, order] : ParseOrders(options.rdp_orders)) {
    const auto& orders = analysis.of_these.orders;
    const auto at = static_cast<std::size_t>(std::find(orders.begin(), orders.end(), order) - orders.begin());
    asked[text] = analysis.of_these.rdp[at];
  }
  if (options.json) {
    Json json{{"mechanism", mechanism.name},
              {"queries", analysis.queries},
              {"teachers", analysis.teachers},
              {"expected_answers", analysis.answers},
              {"delta", *options.delta},
              {"log_q", {{"least", analysis.least_log_q}, {"most", analysis.most_log_q}}},
              {"data_independent", ToJson(whatever)},
              {"data_dependent", ToJson(of_these)},
              {"warning", kWarning}};
    if (!asked.empty()) json["rdp"] = asked;
    std::cout << json.dump(2) << '\n';
    return kDone;
  }
  std::cout << fmt::format(
      "mechanism         {}, {} queries to {} teachers{}\ndelta             {:g}\n"
      "epsilon, whatever the votes are   {}\nepsilon, of these votes           {}\nwarning: {}\n",
      mechanism.name, analysis.queries, analysis.teachers,
      mechanism.confident() ? fmt::format(", {:.1f} answers expected", analysis.answers) : "", *options.delta,
      Text(whatever), Text(of_these), kWarning);
  for (const auto& [order, value] : asked.items())
    std::cout << fmt::format("RDP of these votes at order {}: {:.12g}\n", order, value.get<double>());
  return kDone;
}

}  // namespace trefoil::apps
