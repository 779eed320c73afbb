#pragma once
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "dp/accounting/accountant.h"
#include "dp/accounting/pea_accountant.h"
#include "dp/losses/pld_accountant.h"

namespace trefoil::dp {

enum class AccountantKind { kRdp, kPld, kPea };

/// "rdp", "pld" or "pea".
[[nodiscard]] std::string_view NameOf(AccountantKind kind);
/// The inverse. Throws ConfigError for another name.
[[nodiscard]] AccountantKind AccountantNamed(std::string_view name);

/// Any of the accountants, with default orders.
class AnyAccountant {
 public:
  explicit AnyAccountant(AccountantKind kind = AccountantKind::kRdp);

  /// Throws ConfigError for a parameter outside its domain.
  void Add(const Event& event);
  void Add(const std::vector<Event>& events);

  /// An upper bound on epsilon at `delta` in (0, 1). Cost: as the accountant's; adding is always cheap.
  [[nodiscard]] Guarantee Epsilon(double delta) const;

 private:
  std::variant<RdpAccountant, PldAccountant, PeaAccountant> accountant_;
};

/// The noise multiplier of SmallestNoiseMultiplier for `steps` releases of one sampled Gaussian.
[[nodiscard]] double CalibrateNoiseMultiplier(double target_epsilon, double delta, double sampling_rate,
                                              std::int64_t steps, AccountantKind kind = AccountantKind::kRdp);

}  // namespace trefoil::dp
