#include "dp/accounting/any_accountant.h"

#include "base/error.h"
#include "dp/accounting/calibration.h"

namespace trefoil::dp {
namespace {

std::variant<RdpAccountant, PldAccountant, PeaAccountant> Make(AccountantKind kind) {
  switch (kind) {
    case AccountantKind::kRdp:
      return RdpAccountant();
    case AccountantKind::kPld:
      return PldAccountant();
    case AccountantKind::kPea:
      return PeaAccountant();
  }
  throw ContractError("AnyAccountant: unknown kind");
}

}  // namespace

std::string_view NameOf(AccountantKind kind) {
  if (kind == AccountantKind::kRdp) return "rdp";
  return kind == AccountantKind::kPld ? "pld" : "pea";
}

AccountantKind AccountantNamed(std::string_view name) {
  for (const auto kind : {AccountantKind::kRdp, AccountantKind::kPld, AccountantKind::kPea})
    if (NameOf(kind) == name) return kind;
  throw ConfigError("accountant: found \"" + std::string(name) + "\", expected \"rdp\", \"pld\" or \"pea\"");
}

AnyAccountant::AnyAccountant(AccountantKind kind) : accountant_(Make(kind)) {}

void AnyAccountant::Add(const Event& event) {
  std::visit([&](auto& accountant) { accountant.Add(event); }, accountant_);
}

void AnyAccountant::Add(const std::vector<Event>& events) {
  for (const auto& event : events) Add(event);
}

Guarantee AnyAccountant::Epsilon(double delta) const {
  return std::visit([&](const auto& accountant) { return accountant.Epsilon(delta); }, accountant_);
}

double CalibrateNoiseMultiplier(double target_epsilon, double delta, double sampling_rate, std::int64_t steps,
                                AccountantKind kind) {
  return SmallestNoiseMultiplier(target_epsilon, [&](double multiplier) {
    AnyAccountant accountant(kind);
    accountant.Add(SampledGaussian{sampling_rate, multiplier, steps});
    return accountant.Epsilon(delta).epsilon;
  });
}

}  // namespace trefoil::dp
