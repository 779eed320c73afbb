#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dp/accounting/accountant.h"
#include "dp/losses/pld_accountant.h"
#include "dp/record/event.h"

namespace trefoil::dp {

/// How a ledger composes jobs. Between jobs their owner sees results, so the next job may depend on them:
/// kRdp and kGdp hold for that, kClosed is for jobs that were all fixed before the first result.
enum class FilterMode { kRdp, kGdp, kClosed };

/// "rdp", "gdp" or "closed".
[[nodiscard]] std::string_view NameOf(FilterMode mode);
/// The inverse. Throws ConfigError for another name.
[[nodiscard]] FilterMode FilterModeNamed(std::string_view name);

/// What a filter has to fix before the first result. The cap is such a number, too; whoever raises it later
/// should know that the promise is for a cap that was chosen without looking (docs/explanation/privacy.md,
/// "Filters").
struct FilterTerms {
  FilterMode mode = FilterMode::kRdp;
  std::vector<double> orders;  ///< kRdp: above 1, each once; else empty
  double delta = 0;            ///< of the whole promise
  double delta_cut = 0;        ///< part of delta that failures may take together; 0 if kClosed

  friend bool operator==(const FilterTerms&, const FilterTerms&) = default;
};

/// Half of delta for failures: a job of the same delta whose noise is calibrated takes at most that for them,
/// but for steps that are done again. `orders` for kRdp: those given, or DefaultFilterOrders where there are
/// none. Throws ConfigError unless delta is in (0, 1), or for orders that are not above 1, repeated or not
/// kRdp's.
[[nodiscard]] FilterTerms MakeFilterTerms(FilterMode mode, double delta, std::vector<double> orders = {});

/// Eight orders from 1.75 to 64. With them a sum of Gaussians is granted an epsilon 9 to 26 % above the one
/// of fixed parameters by DefaultRdpOrders, for caps from 0.25 to 15 and delta from 10^-6 to 10^-5.
[[nodiscard]] std::vector<double> DefaultFilterOrders();

/// The terms as a JSON object: mode, delta, and, but for "closed", delta_cut, and orders for "rdp".
[[nodiscard]] nlohmann::json ToJson(const FilterTerms& terms);
/// The inverse. Throws DataError "found X, expected Y".
[[nodiscard]] FilterTerms FilterTermsFromJson(const nlohmann::json& json);

/// A privacy filter over what one adversary sees: whether all that was added may be released under a cap that
/// was fixed beforehand, though each event's parameters may depend on the results of those before it.
///
/// kRdp: for some order a of the list, or for pure epsilons alone (order infinity), the sum of the Renyi
///       divergences, converted at (delta - delta_cut) / number of orders, is at most the cap.
/// kGdp: unsampled Gaussians only; sum mu^2 = sum 1 / multiplier^2 as one Gaussian at delta - delta_cut. Any
///       other release gives no guarantee.
/// kClosed: no filter: PldAccountant at delta, for parameters that were all fixed before the first result.
/// Failures: IndependentFailure p costs delta p, TotalVariation t (1 + e^cap) t; the sum is at most
/// delta_cut.
/// Source: Feldman, Zrnic (2021) and Lecuyer (2021) for one order; Smith, Thakurta (2022) for Gaussians; the
///         list of orders: docs/explanation/privacy.md, "Filters".
class PrivacyFilter {
 public:
  explicit PrivacyFilter(FilterTerms terms);

  /// Throws ConfigError for a parameter outside its domain.
  void Add(const Event& event);
  void Add(const std::vector<Event>& events);

  /// The smallest cap, to the left of failures, under which all this could have been released; infinity where
  /// failures take more than delta_cut at it, or there is no guarantee.
  [[nodiscard]] double Epsilon() const;
  /// Whether all that was added may be released under this cap, above 0: with delta_cut taken off delta they
  /// are within it, and failures take no more than delta_cut at it.
  [[nodiscard]] bool Allows(double cap) const;
  /// What failures take of delta at this cap.
  [[nodiscard]] double FailuresAt(double cap) const;

 private:
  class GaussianSum {
   public:
    void Add(const Event& event);
    [[nodiscard]] double Epsilon(double delta) const;

   private:
    double squares_ = 0;  ///< sum of mu^2
    double divergence_ = 0;
    bool only_gaussians_ = true;
  };

  [[nodiscard]] double EpsilonBeforeFailures() const;

  FilterTerms terms_;
  std::variant<RdpAccountant, GaussianSum, PldAccountant> sums_;
  double failure_ = 0;
  double distance_ = 0;
};

}  // namespace trefoil::dp
