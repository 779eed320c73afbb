#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/account/account_votes.h"
#include "apps/account/curve_file.h"
#include "apps/cli/command.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "base/files/output_file.h"
#include "base/outward_text.h"
#include "dp/accounting/any_accountant.h"
#include "dp/accounting/calibration.h"
#include "dp/record/json_number.h"
#include "dp/record/record.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/privacy_statement.h"
#include "jobs/statement/unit_text.h"
#include "runtime/ledger/rdp_orders.h"
#include "runtime/run_directory.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::ordered_json;

struct AccountOptions {
  std::optional<double> sampling_rate;
  std::optional<double> noise_multiplier;
  std::optional<double> target_epsilon;
  std::optional<std::int64_t> steps;
  std::optional<double> delta;
  std::string accountant = "rdp";
  std::string rdp_orders;
  std::string rdp_conversion = "improved";
  std::string record;
  std::string curve;
  bool json = false;
  VoteOptions of_votes;

  [[nodiscard]] bool basic() const { return rdp_conversion == "basic"; }
};

/// What is printed: infinite epsilon means that there is no guarantee.
struct Account {
  double epsilon = 0;
  double noise_multiplier = 0;
  std::optional<double> order{};
  std::optional<double> error{};  ///< how far epsilon is above the exact one, at most
  std::map<std::string, double> rdp_per_step{};
};

template <typename T>
T Needed(const std::optional<T>& value, const char* option) {
  if (!value) throw ConfigError(fmt::format("account: missing {}", option));
  return *value;
}

Account AccountByRdp(const AccountOptions& options) {
  const auto asked = runtime::ParseOrders(options.rdp_orders);
  const auto orders = runtime::AllOrders(asked);
  const double rate = Needed(options.sampling_rate, "--sampling-rate");
  const auto steps = Needed(options.steps, "--steps");
  const double delta = Needed(options.delta, "--delta");
  const auto conversion = options.basic() ? dp::RdpConversion::kBasic : dp::RdpConversion::kImproved;
  const auto guarantee = [&](double multiplier) {
    dp::RdpAccountant accountant(orders);
    accountant.Add(
        dp::SampledGaussian{.sampling_rate = rate, .noise_multiplier = multiplier, .count = steps});
    return accountant.Epsilon(delta, conversion);
  };
  Account account;
  account.noise_multiplier = options.target_epsilon
                                 ? dp::SmallestNoiseMultiplier(*options.target_epsilon,
                                                               [&](double s) { return guarantee(s).epsilon; })
                                 : *options.noise_multiplier;
  const auto result = guarantee(account.noise_multiplier);
  account.epsilon = result.epsilon;
  if (std::isfinite(result.epsilon)) account.order = result.order;
  for (const auto& [text, value] : asked) {
    account.rdp_per_step[text] = dp::SampledGaussianRdp(rate, account.noise_multiplier, value);
  }
  return account;
}

/// Refuses options of RDP where another accountant is asked for.
void CheckNoOrders(const AccountOptions& options) {
  if (!options.rdp_orders.empty())
    throw ConfigError(
        fmt::format("--rdp-orders: found with --accountant {}, which has no orders", options.accountant));
  if (options.basic())
    throw ConfigError(fmt::format("--rdp-conversion: found with --accountant {}, which converts no RDP",
                                  options.accountant));
}

Account AccountByPea(const AccountOptions& options) {
  CheckNoOrders(options);
  const auto steps = Needed(options.steps, "--steps");
  const double delta = Needed(options.delta, "--delta");
  Account account;
  account.noise_multiplier = options.target_epsilon
                                 ? dp::PeaNoiseMultiplier(*options.target_epsilon, steps, delta)
                                 : *options.noise_multiplier;
  account.epsilon = dp::PeaEpsilon(account.noise_multiplier, steps, delta);
  return account;
}

Account AccountByPld(const AccountOptions& options) {
  CheckNoOrders(options);
  const double rate = Needed(options.sampling_rate, "--sampling-rate");
  const auto steps = Needed(options.steps, "--steps");
  const double delta = Needed(options.delta, "--delta");
  Account account;
  account.noise_multiplier = options.target_epsilon
                                 ? dp::CalibrateNoiseMultiplier(*options.target_epsilon, delta, rate, steps,
                                                                dp::AccountantKind::kPld)
                                 : *options.noise_multiplier;
  dp::PldAccountant accountant;
  accountant.Add(dp::SampledGaussian{
      .sampling_rate = rate, .noise_multiplier = account.noise_multiplier, .count = steps});
  const auto result = accountant.Epsilon(delta);
  account.epsilon = result.epsilon;
  account.error = result.error;
  return account;
}

Account AccountBy(const AccountOptions& options) {
  switch (dp::AccountantNamed(options.accountant)) {
    case dp::AccountantKind::kRdp:
      return AccountByRdp(options);
    case dp::AccountantKind::kPld:
      return AccountByPld(options);
    case dp::AccountantKind::kPea:
      return AccountByPea(options);
  }
  throw ContractError("AccountBy: unknown accountant");
}

/// What the numbers of a planned training rest on.
std::vector<jobs::StatementEntry> StatementOf(const Account& account, const AccountOptions& options) {
  return jobs::ReleasesStatement(options.accountant == "pea" ? 1 : *options.sampling_rate,
                                 dp::AccountantNamed(options.accountant), account.error.value_or(0));
}

void Print(const Account& account, const AccountOptions& options) {
  if (options.json) {
    Json json{{"epsilon", dp::NumberOrNull(account.epsilon)},
              {"delta", *options.delta},
              {"noise_multiplier", account.noise_multiplier},
              {"accountant", options.accountant},
              {"order", account.order ? Json(*account.order) : Json(nullptr)}};
    if (options.basic()) json["conversion"] = options.rdp_conversion;
    if (!options.rdp_orders.empty()) json["rdp_per_step"] = account.rdp_per_step;
    if (account.error) json["error"] = *account.error;
    json["statement"] = ToJson(StatementOf(account, options));
    std::cout << json.dump(2, ' ', true) << '\n';
    return;
  }
  std::cout << fmt::format(
      "epsilon           {}\ndelta             {}\nnoise multiplier  {}\naccountant        {}{}\n",
      jobs::BoundText(account.epsilon), jobs::DeltaText(*options.delta),
      jobs::MultiplierText(account.noise_multiplier), options.accountant,
      account.order
          ? fmt::format(", order {:g}{}", *account.order, options.basic() ? ", basic conversion" : "")
      : account.error ? fmt::format(", at most {} above the exact epsilon", DigitsAbove(*account.error, 2))
                      : "");
  for (const auto& [order, value] : account.rdp_per_step) {
    std::cout << fmt::format("RDP per step at order {}: {}\n", order, DigitsAbove(value, 12));
  }
  std::cout << '\n' << ToText(StatementOf(account, options));
}

/// The multiplier of a record whose steps all had the same, else nothing.
std::optional<double> MultiplierOf(const dp::TrainingRecord& record) {
  std::optional<double> sigma;
  for (const auto& event : record.events) {
    const auto* steps = std::get_if<dp::DpSgdSteps>(&event);
    if (steps == nullptr) continue;
    if (sigma && *sigma != steps->sigma) return {};
    sigma = steps->sigma;
  }
  return sigma;
}

void WriteCurves(const AccountOptions& options, const PrivacyCurves& curves) {
  WriteTextFile(options.curve, ToJson(curves).dump(1) + '\n');
}

int AccountRecord(const AccountOptions& options) {
  if (options.sampling_rate || options.noise_multiplier || options.target_epsilon || options.steps) {
    throw ConfigError(
        "account: found --record with options of a planned training, expected --record and --delta only");
  }
  if (!options.rdp_orders.empty())
    throw ConfigError("--rdp-orders: found with --record, which may have unlike steps");
  if (options.basic()) throw ConfigError("--rdp-conversion: found with --record, expected numbers");
  CheckOutputFile("--curve", options.curve, {options.record});
  const double delta = Needed(options.delta, "--delta");
  const auto record = runtime::ReadRecord(options.record);
  const auto kind = dp::AccountantNamed(options.accountant);
  if (!options.curve.empty()) WriteCurves(options, CurvesOf(record));
  const auto epsilons = dp::Epsilons(record, delta, kind);
  const auto of_test_set = dp::TestSetEpsilons(record, delta);
  const auto rows = jobs::EpsilonsOfRows(record, delta, kind);
  const auto statement =
      jobs::PrivacyStatement({.record = record, .delta = delta, .accountant = kind, .rows = rows});
  const auto sigma = MultiplierOf(record);
  const auto presence = dp::PresenceEpsilon(record, delta, kind);
  if (options.json) {
    Json json{{"epsilon", dp::NumberOrNull(std::max(epsilons.outsider, epsilons.insider))},
              {"epsilon_outsider", dp::NumberOrNull(epsilons.outsider)},
              {"epsilon_insider", dp::NumberOrNull(epsilons.insider)},
              {"delta", delta},
              {"unit", record.promise ? Json(jobs::UnitName(record)) : Json(nullptr)},
              {"neighbours", record.promise ? Json(jobs::NeighboursName(record)) : Json(nullptr)},
              {"warnings", record.promise ? Json(record.promise->warnings) : Json(nullptr)},
              {"noise_multiplier", sigma ? Json(*sigma) : Json(nullptr)},
              {"accountant", options.accountant},
              {"order", nullptr},
              {"rows", ToJson(rows)}};
    if (presence) json["epsilon_insider_presence"] = dp::NumberOrNull(*presence);
    if (std::isfinite(of_test_set.insider)) {
      json["test_epsilon_outsider"] = of_test_set.outsider;
      json["test_epsilon_insider"] = of_test_set.insider;
    }
    if (kind == dp::AccountantKind::kPld) json["error"] = epsilons.error;
    json["statement"] = ToJson(statement);
    std::cout << json.dump(2, ' ', true) << '\n';
    return kDone;
  }
  const auto outsider = fmt::format("epsilon outsider  {}\n", jobs::BoundText(epsilons.outsider));
  const auto insider = fmt::format("epsilon insider   {}\n", jobs::BoundText(epsilons.insider));
  // Of a vertical partition what holds for values comes first.
  std::cout << fmt::format(
      "job               {}\n{}{}delta             {}\nunit              {}\nneighbours        {}\n",
      record.job_hash, presence ? insider : outsider, presence ? outsider : insider, jobs::DeltaText(delta),
      jobs::UnitName(record), jobs::NeighboursName(record));
  if (sigma) std::cout << fmt::format("noise multiplier  {}\n", jobs::MultiplierText(*sigma));
  if (std::isfinite(of_test_set.insider)) {
    std::cout << fmt::format(
        "test records      epsilon {} outsider, {} insider, for those of the evaluation\n",
        jobs::BoundText(of_test_set.outsider), jobs::BoundText(of_test_set.insider));
  }
  std::cout << '\n' << ToText(statement);
  return kDone;
}

int AccountOfVotes(const AccountOptions& options) {
  if (options.sampling_rate || options.noise_multiplier || options.target_epsilon || options.steps ||
      !options.record.empty() || !options.curve.empty() || options.accountant != "rdp") {
    throw ConfigError(
        "account: found --votes with options of a training or a record, expected --mechanism and its noise "
        "only");
  }
  auto votes = options.of_votes;
  votes.delta = options.delta;
  votes.rdp_orders = options.rdp_orders;
  votes.json = options.json;
  return AccountVotes(votes);
}

int RunAccount(const AccountOptions& options) {
  if (!options.of_votes.votes.empty()) return AccountOfVotes(options);
  if (!options.record.empty()) return AccountRecord(options);
  if (options.noise_multiplier.has_value() == options.target_epsilon.has_value()) {
    throw ConfigError(
        fmt::format("account: found {} of --noise-multiplier and --target-epsilon, expected one of them",
                    options.noise_multiplier ? "both" : "neither"));
  }
  const auto account = AccountBy(options);
  if (!options.curve.empty()) {
    const double rate = Needed(options.sampling_rate, "--sampling-rate");
    WriteCurves(options, CurvesOf(dp::SampledGaussian{rate, account.noise_multiplier, *options.steps}));
  }
  Print(account, options);
  return kDone;
}

}  // namespace

void AddAccount(CLI::App& program, Action& action) {
  auto options = std::make_shared<AccountOptions>();
  auto* command = program.add_subcommand(
      "account",
      "Epsilon of a planned training, of a training record or of teachers' votes, or sigma for it");
  command->add_option("--sampling-rate", options->sampling_rate,
                      "Probability that a record is in a step's batch");
  command->add_option("--noise-multiplier", options->noise_multiplier, "Noise deviation over sensitivity");
  command->add_option("--target-epsilon", options->target_epsilon,
                      "Find the smallest noise multiplier for this epsilon");
  command->add_option("--steps", options->steps, "Number of steps")
      ->check(CLI::Range(INT64_C(1), INT64_C(1) << 53));
  command->add_option("--delta", options->delta, "Delta, above 0 and below 1");
  command
      ->add_option("--accountant", options->accountant,
                   "rdp; pld, which is tighter; or pea, the closed form without sampling")
      ->check(CLI::IsMember({"rdp", "pea", "pld"}))
      ->capture_default_str();
  command->add_option("--rdp-orders", options->rdp_orders, "Orders to add and to show, as 1.5,2,32");
  command
      ->add_option("--rdp-conversion", options->rdp_conversion,
                   "From RDP to epsilon: improved; or basic, which gives more, to compare with older figures")
      ->check(CLI::IsMember({"improved", "basic"}))
      ->capture_default_str();
  command->add_option("--record", options->record, "A training's record.json, in place of the numbers");
  command->add_option(
      "--curve", options->curve,
      "Write the whole promise to this file, as JSON: delta at every epsilon, mu where there is "
      "one, and the trade-off curve, for both adversaries (of numbers, the multiplier is the "
      "insider's)");
  auto* votes = command->add_option(
      "--votes", options->of_votes.votes,
      "Votes of teachers in the clear (PATE): NPY or CSV, a row a query, a column a class");
  const auto of_votes = [&](const char* name, auto& value, const char* what) {
    return command->add_option(name, value, what)->needs(votes);
  };
  of_votes("--mechanism", options->of_votes.mechanism, "With --votes: lnmax, gnmax or confident-gnmax")
      ->check(CLI::IsMember({"lnmax", "gnmax", "confident-gnmax"}));
  of_votes("--scale", options->of_votes.scale, "lnmax: scale of the Laplace noise, 1 / gamma");
  of_votes("--sigma", options->of_votes.sigma, "gnmax, confident-gnmax: deviation of an answer's noise");
  of_votes("--threshold", options->of_votes.threshold, "confident-gnmax: votes that the most must be above");
  of_votes("--threshold-sigma", options->of_votes.threshold_sigma,
           "confident-gnmax: deviation of the threshold's noise");
  auto& sanitise = options->of_votes.sanitise;
  of_votes("--sanitise-order", sanitise.order,
           "Print an epsilon of these votes at this order that may be published");
  of_votes("--sanitise-noise", sanitise.noise, "With it: deviation of its noise, in smooth sensitivities");
  of_votes("--sanitise-beta", sanitise.beta,
           "With it: how smooth the sensitivity is; the default is 0.2 over the order");
  of_votes("--sanitise-failure", sanitise.failure,
           "With it: probability that the answers cost more; the default is --delta, to which it is added");
  of_votes("--queries", options->of_votes.queries, "Only the first so many queries; the default is all")
      ->check(CLI::Range(INT64_C(1), INT64_C(1) << 53));
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] { action = [options] { return RunAccount(*options); }; });
}

}  // namespace trefoil::apps
