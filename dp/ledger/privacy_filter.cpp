#include "dp/ledger/privacy_filter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "dp/accounting/analytic_gaussian.h"
#include "dp/accounting/guarantee.h"
#include "dp/accounting/infinity.h"
#include "dp/mechanisms/rounding.h"
#include "dp/record/domain.h"

namespace trefoil::dp {
namespace {

using Json = nlohmann::json;

constexpr double kShareOfFailures = 0.5;
/// What densities of sums of discrete Gaussians may differ by, in all, in a ledger of Gaussians: in fact it
/// is below 10^-200.
constexpr double kMaxDivergence = 1e-9;
constexpr std::size_t kMaxOrders = 64;
constexpr double kLargestOrder = 100'000;
constexpr std::array<std::pair<FilterMode, const char*>, 3> kModes{
    {{FilterMode::kRdp, "rdp"}, {FilterMode::kGdp, "gdp"}, {FilterMode::kClosed, "closed"}}};

std::string WrongOrders(FilterMode mode, const std::vector<double>& orders) {
  if (mode != FilterMode::kRdp) return orders.empty() ? "" : "orders of a filter that has none";
  if (orders.empty() || orders.size() > kMaxOrders) return "another number of orders than 1 to 64";
  const bool valid = std::all_of(orders.begin(), orders.end(),
                                 [](double order) { return order > 1 && order <= kLargestOrder; });
  if (!valid) return "an order that is not above 1 and at most 100000";
  if (std::set<double>(orders.begin(), orders.end()).size() != orders.size()) return "an order twice";
  return "";
}

double DeltaOf(const Json& json, const char* key) {
  if (!json.contains(key) || !json.at(key).is_number())
    throw DataError(std::string("found a filter without ") + key + ", expected this number");
  const auto delta = json.at(key).get<double>();
  if (!(delta > 0 && delta < 1))
    throw DataError(std::string("found ") + key + " " + json.at(key).dump() +
                    ", expected a number above 0 and below 1");
  return delta;
}

}  // namespace

std::string_view NameOf(FilterMode mode) {
  return std::find_if(kModes.begin(), kModes.end(), [&](const auto& one) { return one.first == mode; })
      ->second;
}

FilterMode FilterModeNamed(std::string_view name) {
  for (const auto& [mode, text] : kModes)
    if (text == name) return mode;
  throw ConfigError("mode of a ledger: found \"" + std::string(name) +
                    "\", expected \"rdp\", \"gdp\" or \"closed\"");
}

std::vector<double> DefaultFilterOrders() { return {1.75, 2.5, 4, 6, 10, 16, 32, 64}; }

FilterTerms MakeFilterTerms(FilterMode mode, double delta, std::vector<double> orders) {
  CheckDelta(delta);
  if (mode == FilterMode::kRdp && orders.empty()) orders = DefaultFilterOrders();
  const auto wrong = WrongOrders(mode, orders);
  if (!wrong.empty()) throw ConfigError("orders of a ledger: found " + wrong + ", expected others");
  return {.mode = mode,
          .orders = std::move(orders),
          .delta = delta,
          .delta_cut = mode == FilterMode::kClosed ? 0 : kShareOfFailures * delta};
}

Json ToJson(const FilterTerms& terms) {
  Json json{{"mode", NameOf(terms.mode)}, {"delta", terms.delta}};
  if (terms.mode != FilterMode::kClosed) json["delta_cut"] = terms.delta_cut;
  if (terms.mode == FilterMode::kRdp) json["orders"] = terms.orders;
  return json;
}

FilterTerms FilterTermsFromJson(const Json& json) {
  if (!json.is_object() || !json.contains("mode") || !json.at("mode").is_string())
    throw DataError("found no mode of a filter, expected \"rdp\", \"gdp\" or \"closed\"");
  FilterTerms terms;
  try {
    terms.mode = FilterModeNamed(json.at("mode").get_ref<const std::string&>());
  } catch (const ConfigError& error) {
    throw DataError(error.what());
  }
  terms.delta = DeltaOf(json, "delta");
  if (terms.mode != FilterMode::kClosed) {
    terms.delta_cut = DeltaOf(json, "delta_cut");
    if (!(terms.delta_cut < terms.delta))
      throw DataError("found delta_cut " + json.at("delta_cut").dump() + ", expected less than delta");
  }
  if (terms.mode == FilterMode::kRdp) {
    const auto orders = json.value("orders", Json());
    if (!orders.is_array() || orders.size() > kMaxOrders ||
        !std::all_of(orders.begin(), orders.end(), [](const Json& one) { return one.is_number(); }))
      throw DataError("found no list of orders, expected one of a filter by RDP");
    terms.orders = orders.get<std::vector<double>>();
    const auto wrong = WrongOrders(terms.mode, terms.orders);
    if (!wrong.empty()) throw DataError("found " + wrong + ", expected others");
  }
  if (ToJson(terms) != json) throw DataError("found an unknown key of a filter, expected those of its mode");
  return terms;
}

void PrivacyFilter::GaussianSum::Add(const Event& event) {
  if (const auto* gaussian = std::get_if<SampledGaussian>(&event)) {
    if (gaussian->count == 0 || gaussian->sampling_rate == 0) return;
    if (gaussian->sampling_rate < 1 || gaussian->noise_multiplier == 0) only_gaussians_ = false;
    const double multiplier = gaussian->noise_multiplier;
    squares_ = SumAbove(squares_, static_cast<double>(gaussian->count),
                        (1 + kClosedFormError) / (multiplier * multiplier));
  } else if (const auto* factor = std::get_if<MaxDivergence>(&event)) {
    if (factor->count > 0)
      divergence_ = SumAbove(divergence_, static_cast<double>(factor->count), factor->bound);
  } else if (const auto* pure = std::get_if<PureDp>(&event)) {
    if (pure->count > 0 && pure->epsilon > 0) only_gaussians_ = false;
  } else if (const auto* laplace = std::get_if<Laplace>(&event)) {
    if (laplace->count > 0) only_gaussians_ = false;
  } else if (const auto* parts = std::get_if<ThreeLaplaceParts>(&event)) {
    if (parts->count > 0) only_gaussians_ = false;
  } else if (std::holds_alternative<BestOfTrials>(event)) {
    only_gaussians_ = false;
  }
}

double PrivacyFilter::GaussianSum::Epsilon(double delta) const {
  if (!only_gaussians_ || !std::isfinite(squares_) || divergence_ > kMaxDivergence) return kInfinity;
  if (squares_ == 0) return 2 * divergence_;
  const double multiplier = (1 - kClosedFormError) / std::sqrt(squares_);
  return SumAbove(AnalyticGaussianEpsilon(multiplier, delta * std::exp(-kMaxDivergence)), 2, divergence_);
}

PrivacyFilter::PrivacyFilter(FilterTerms terms) : terms_(std::move(terms)) {
  if (terms_.mode == FilterMode::kRdp) sums_.emplace<RdpAccountant>(terms_.orders);
  if (terms_.mode == FilterMode::kGdp) sums_.emplace<GaussianSum>();
  if (terms_.mode == FilterMode::kClosed) sums_.emplace<PldAccountant>();
}

void PrivacyFilter::Add(const Event& event) {
  CheckEvent(event);
  if (terms_.mode != FilterMode::kClosed) {
    if (const auto* near = std::get_if<TotalVariation>(&event)) {
      distance_ = SumAbove(distance_, static_cast<double>(near->count), near->distance);
      return;
    }
    if (const auto* failure = std::get_if<IndependentFailure>(&event)) {
      failure_ = SumAbove(failure_, static_cast<double>(failure->count), failure->probability);
      return;
    }
  }
  std::visit([&](auto& sums) { sums.Add(event); }, sums_);
}

void PrivacyFilter::Add(const std::vector<Event>& events) {
  for (const auto& event : events) Add(event);
}

double PrivacyFilter::EpsilonBeforeFailures() const {
  const double delta = terms_.delta - terms_.delta_cut;
  if (const auto* pld = std::get_if<PldAccountant>(&sums_)) return pld->Epsilon(delta).epsilon;
  if (const auto* gaussians = std::get_if<GaussianSum>(&sums_)) return gaussians->Epsilon(delta);
  return std::get<RdpAccountant>(sums_).Epsilon(delta / static_cast<double>(terms_.orders.size())).epsilon;
}

double PrivacyFilter::FailuresAt(double cap) const { return dp::FailuresAt(cap, failure_, distance_); }

double PrivacyFilter::Epsilon() const {
  const double epsilon = EpsilonBeforeFailures();
  return FailuresAt(epsilon) <= terms_.delta_cut ? epsilon : kInfinity;
}

bool PrivacyFilter::Allows(double cap) const {
  return EpsilonBeforeFailures() <= cap && FailuresAt(cap) <= terms_.delta_cut;
}

}  // namespace trefoil::dp
