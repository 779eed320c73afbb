#include "apps/account/account_votes.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>

#include "base/error.h"
#include "base/error_report.h"
#include "base/outward_text.h"
#include "base/secrets/random.h"
#include "dp/accounting/rdp.h"
#include "dp/losses/pld_accountant.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "dp/mechanisms/rounding.h"
#include "dp/pate/pate.h"
#include "dp/pate/pate_sensitivity.h"
#include "jobs/files/vote_file.h"
#include "jobs/statement/bound_text.h"
#include "runtime/ledger/rdp_orders.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::ordered_json;
using Counts = std::vector<std::int64_t>;
using Votes = std::vector<Counts>;

struct Mechanism {
  std::string name;
  dp::AnswerNoise answer{};
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
  double answers = 0;    ///< expected, over the noise of the threshold
  Curve whatever;        ///< whatever the votes are, all answered
  Curve of_these;        ///< for these votes; confident-gnmax: threshold and answer together
  double min_log_q = 0;  ///< of the answers
  double max_log_q = 0;
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
    mechanism.answer = {.law = dp::VoteNoise::kLaplace,
                        .size = NeededNoise(options.scale, "--scale", mechanism.name)};
  } else {
    RefuseOther(options.scale, "--scale", mechanism.name);
    mechanism.answer = {.law = dp::VoteNoise::kNormal,
                        .size = NeededNoise(options.sigma, "--sigma", mechanism.name)};
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

/// Upwards, as every sum of charges.
void Charge(double& sum, double cost) { sum = dp::SumAbove(sum, 1, cost); }

/// Adds one query to the analysis.
void AddQuery(Analysis& analysis, const Mechanism& mechanism, const Counts& counts) {
  const double log_q = dp::AnswerLogQ(counts, mechanism.answer);
  const auto law = mechanism.confident()
                       ? dp::NoisyThreshold(counts, mechanism.threshold, mechanism.threshold_sigma)
                       : dp::ThresholdLaw{};
  analysis.answers += std::exp(law.log_answered);
  analysis.min_log_q = analysis.queries == 0 ? log_q : std::min(analysis.min_log_q, log_q);
  analysis.max_log_q = analysis.queries == 0 ? log_q : std::max(analysis.max_log_q, log_q);
  ++analysis.queries;
  for (std::size_t i = 0; i < analysis.whatever.orders.size(); ++i) {
    const double order = analysis.whatever.orders[i];
    Charge(analysis.whatever.rdp[i], dp::AnswerRdp(0, mechanism.answer, order));
    const double answer = dp::AnswerRdp(log_q, mechanism.answer, order);
    if (!mechanism.confident()) {
      Charge(analysis.of_these.rdp[i], answer);
      continue;
    }
    const double log_odds = dp::TiltedLogOdds(counts, mechanism.threshold, mechanism.threshold_sigma, order);
    Charge(analysis.whatever.rdp[i], dp::NoisyThresholdRdp(0, mechanism.threshold_sigma, order));
    Charge(analysis.of_these.rdp[i], dp::NoisyThresholdRdp(law.log_q, mechanism.threshold_sigma, order));
    Charge(analysis.of_these.rdp[i], dp::AnsweredRdp(log_odds, answer, order));
  }
}

/// The file's, or its first --queries.
jobs::VoteFile VotesOf(const VoteOptions& options) {
  auto file = jobs::ReadVotes(options.votes);
  const auto queries = options.queries.value_or(static_cast<std::int64_t>(file.counts.size()));
  if (queries > static_cast<std::int64_t>(file.counts.size()))
    throw ConfigError(fmt::format("--queries: found {}, expected at most the {} of {}", queries,
                                  file.counts.size(), options.votes));
  file.counts.resize(static_cast<std::size_t>(queries));
  return file;
}

Analysis Analyse(const jobs::VoteFile& file, const VoteOptions& options, const Mechanism& mechanism) {
  auto orders = runtime::AllOrders(runtime::ParseOrders(options.rdp_orders));
  const auto authors = dp::PateOrders();
  orders.insert(orders.end(), authors.begin(), authors.end());
  Analysis analysis;
  analysis.teachers = file.teachers;
  analysis.whatever = analysis.of_these = {.orders = orders, .rdp = std::vector<double>(orders.size(), 0.0)};
  for (const auto& counts : file.counts) AddQuery(analysis, mechanism, counts);
  return analysis;
}

/// An epsilon of these votes that may be published.
struct Sanitised {
  double order = 0;
  double beta = 0;
  double noise = 0;
  double failure = 0;
  double bound = 0;    ///< on the RDP of the answers, noisy
  double release = 0;  ///< RDP of releasing that
  double epsilon = 0;
  double sensitivity = 0;  ///< smooth: private, as all that is not noisy
};

void CheckSanitise(const SanitiseOptions& options) {
  if (!options.order) {
    for (const auto& [value, option] : {std::pair{options.beta, "--sanitise-beta"},
                                        {options.noise, "--sanitise-noise"},
                                        {options.failure, "--sanitise-failure"}}) {
      if (value)
        throw ConfigError(fmt::format("{}: found {}, expected --sanitise-order too", option, *value));
    }
    return;
  }
  if (!(*options.order > 1 && std::isfinite(*options.order)))
    throw ConfigError(fmt::format("--sanitise-order: found {}, expected a number above 1", *options.order));
  if (!options.noise)
    throw ConfigError("account: missing --sanitise-noise, in units of the smooth sensitivity");
}

/// Of the least whole number of units of 2^-20 that is not below the noisy bound: the units do not depend on
/// the votes, as its last digits would. The noise is discrete, in steps of 2^-44 of the deviation, which does
/// depend on them: so fine that each unit has about 2^24 / deviation of them.
double NoisyBound(double centre, double deviation) {
  constexpr int kBits = 44;  // of a deviation: 40 of them are below 2^53
  auto stream = RandomStream::FromSystem();
  const auto drawn = dp::DiscreteGaussian(dp::Uint256(1) << (2 * kBits)).Sample(stream);
  const double noisy = centre + deviation * std::ldexp(static_cast<double>(drawn), -kBits);
  return std::max(0.0, std::ldexp(std::ceil(std::ldexp(noisy, 20)), -20));
}

Sanitised Sanitise(const Votes& votes, const Mechanism& mechanism, const VoteOptions& options) {
  Sanitised result{.order = *options.sanitise.order,
                   .beta = options.sanitise.beta.value_or(0.2 / *options.sanitise.order),
                   .noise = *options.sanitise.noise,
                   .failure = options.sanitise.failure.value_or(*options.delta)};
  result.release = dp::SmoothNoiseRdp(result.beta, result.noise, result.order);
  const double offset = dp::OffsetOfSmoothBound(result.beta, result.noise, result.failure);
  dp::SmoothVoteSettings settings{.answer = mechanism.answer, .order = result.order, .beta = result.beta};
  if (mechanism.confident()) {
    settings.threshold = mechanism.threshold;
    settings.threshold_sigma = mechanism.threshold_sigma;
  }
  const auto cost = dp::SmoothCostOfVotes(votes, settings);
  result.sensitivity = cost.sensitivity;
  const double own = cost.sensitivity * (1 + offset * std::expm1(result.beta));
  result.bound = NoisyBound(cost.rdp + offset * cost.sensitivity, result.noise * own);
  // What holds whatever the votes are is public.
  double whatever = dp::AnswerRdp(0, mechanism.answer, result.order);
  if (mechanism.confident())
    Charge(whatever, dp::NoisyThresholdRdp(0, mechanism.threshold_sigma, result.order));
  const double all = dp::SumAbove(0, static_cast<double>(votes.size()), whatever);
  const double rdp = dp::SumAbove(std::min(result.bound, all), 1, result.release);
  result.epsilon = dp::RdpToEpsilon({&result.order, 1}, {&rdp, 1}, *options.delta).epsilon;
  return result;
}

struct Epsilons {
  dp::Guarantee improved;
  dp::Guarantee basic;
};

/// The papers' conversion at the papers' orders, so that their figures come out.
Epsilons EpsilonsOf(const Curve& curve, double delta) {
  const auto authors = dp::PateOrders();
  const auto others = curve.orders.size() - authors.size();
  return {.improved = dp::RdpToEpsilon(curve.orders, curve.rdp, delta),
          .basic = dp::RdpToEpsilon(authors, std::span(curve.rdp).subspan(others), delta,
                                    dp::RdpConversion::kBasic)};
}

/// A vote that moves changes two counts by 1, each with noise of its own, and the largest count by 1.
dp::Guarantee ExactWhateverTheVotes(const Analysis& analysis, const Mechanism& mechanism, double delta) {
  dp::PldAccountant accountant;
  if (mechanism.answer.law == dp::VoteNoise::kLaplace) {
    accountant.Add(dp::Laplace{.scale = mechanism.answer.size, .count = 2 * analysis.queries});
  } else {
    accountant.Add(dp::SampledGaussian{.sampling_rate = 1,
                                       .noise_multiplier = mechanism.answer.size / std::sqrt(2.0),
                                       .count = analysis.queries});
  }
  if (mechanism.confident()) {
    accountant.Add(dp::SampledGaussian{
        .sampling_rate = 1, .noise_multiplier = mechanism.threshold_sigma, .count = analysis.queries});
  }
  return accountant.Epsilon(delta);
}

/// Whatever the votes are: LNMax is pure, too.
Epsilons WhateverEpsilons(const Analysis& analysis, const Mechanism& mechanism, double delta) {
  auto epsilons = EpsilonsOf(analysis.whatever, delta);
  const auto exact = ExactWhateverTheVotes(analysis, mechanism, delta);
  if (exact.epsilon < epsilons.improved.epsilon) epsilons.improved = exact;
  if (mechanism.name != "lnmax") return epsilons;
  const double pure = dp::QuotientAbove(2 * static_cast<double>(analysis.queries), mechanism.answer.size);
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
    "the epsilon of these votes depends on them and is private itself: do not publish it; it bounds their "
    "answers against a neighbour's; the other way round the neighbour's own holds, which may be larger";
constexpr const char* kNoise =
    "continuous, as in the papers; a job's is discrete, in parts of its parties: its plan has that epsilon";

std::string Text(const Epsilons& epsilons) {
  const auto how = [](const dp::Guarantee& guarantee) {
    return guarantee.order > 0 ? fmt::format("order {:g}", guarantee.order)
                               : std::string("by the law of the noise");
  };
  return fmt::format("{} ({}); by the basic conversion {} ({})", jobs::BoundText(epsilons.improved.epsilon),
                     how(epsilons.improved), DigitsAbove(epsilons.basic.epsilon, 9), how(epsilons.basic));
}

/// Without what is private.
Json ToJson(const Sanitised& sanitised, double delta) {
  return {{"epsilon", sanitised.epsilon},       {"delta", delta + sanitised.failure},
          {"order", sanitised.order},           {"beta", sanitised.beta},
          {"noise", sanitised.noise},           {"rdp_bound", sanitised.bound},
          {"rdp_of_release", sanitised.release}};
}

std::string Text(const Sanitised& sanitised, double delta) {
  return fmt::format(
      "epsilon, of these votes, sanitised   {} at delta {}: may be published, once\n"
      "  RDP at order {:g}: {} of the answers, noise included, and {} of releasing that (beta {}, "
      "noise {})\n",
      jobs::BoundText(sanitised.epsilon), jobs::DeltaText(delta + sanitised.failure), sanitised.order,
      jobs::BoundText(sanitised.bound), jobs::BoundText(sanitised.release), sanitised.beta,
      jobs::MultiplierText(sanitised.noise));
}

}  // namespace

int AccountVotes(const VoteOptions& options) {
  const auto mechanism = MechanismOf(options);
  if (!options.delta) throw ConfigError("account: missing --delta");
  CheckSanitise(options.sanitise);
  const auto file = VotesOf(options);
  const auto analysis = Analyse(file, options, mechanism);
  const auto whatever = WhateverEpsilons(analysis, mechanism, *options.delta);
  auto of_these = EpsilonsOf(analysis.of_these, *options.delta);
  // What holds for all votes holds for these.
  if (whatever.improved.epsilon < of_these.improved.epsilon) of_these.improved = whatever.improved;
  if (whatever.basic.epsilon < of_these.basic.epsilon) of_these.basic = whatever.basic;
  std::optional<Sanitised> sanitised;
  if (options.sanitise.order) sanitised = Sanitise(file.counts, mechanism, options);
  Json asked = Json::object();
  for (const auto& [text, order] : runtime::ParseOrders(options.rdp_orders)) {
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
              {"log_q", {{"least", analysis.min_log_q}, {"most", analysis.max_log_q}}},
              {"data_independent", ToJson(whatever)},
              {"data_dependent", ToJson(of_these)},
              {"noise", kNoise},
              {"warning", kWarning}};
    if (!asked.empty()) json["rdp"] = asked;
    if (sanitised) {
      json["data_dependent"]["smooth_sensitivity"] = sanitised->sensitivity;
      json["sanitised"] = ToJson(*sanitised, *options.delta);
    }
    std::cout << json.dump(2) << '\n';
    return kDone;
  }
  std::cout << fmt::format(
      "mechanism         {}, {} queries to {} teachers{}\nnoise             {}\ndelta             {}\n"
      "epsilon, whatever the votes are   {}\nepsilon, of these votes           {}\nwarning: {}\n",
      mechanism.name, analysis.queries, analysis.teachers,
      mechanism.confident() ? fmt::format(", {:.1f} answers expected", analysis.answers) : "", kNoise,
      jobs::DeltaText(*options.delta), Text(whatever), Text(of_these), kWarning);
  if (sanitised) std::cout << Text(*sanitised, *options.delta);
  for (const auto& [order, value] : asked.items())
    std::cout << fmt::format("RDP of these votes at order {}: {}\n", order,
                             DigitsAbove(value.get<double>(), 12));
  return kDone;
}

}  // namespace trefoil::apps
