#include "trefoil/privacy.h"

#include "dp/record/record.h"
#include "jobs/statement/bound_text.h"
#include "runtime/run_directory.h"

namespace trefoil {
namespace {

dp::AccountantKind Inner(Accounting accounting) {
  return accounting == Accounting::kPld ? dp::AccountantKind::kPld : dp::AccountantKind::kRdp;
}

}  // namespace

struct Accountant::Impl {
  dp::AnyAccountant accountant;
};

Accountant::Accountant(Accounting accounting)
    : impl_(std::make_unique<Impl>(Impl{dp::AnyAccountant(Inner(accounting))})) {}
Accountant::Accountant(Accountant&&) noexcept = default;
Accountant& Accountant::operator=(Accountant&&) noexcept = default;
Accountant::~Accountant() = default;

void Accountant::AddGaussian(double sampling_rate, double noise_multiplier, std::int64_t count) {
  impl_->accountant.Add(dp::SampledGaussian{
      .sampling_rate = sampling_rate, .noise_multiplier = noise_multiplier, .count = count});
}

void Accountant::AddLaplace(double scale, std::int64_t count) {
  impl_->accountant.Add(dp::Laplace{.scale = scale, .count = count});
}

void Accountant::AddPure(double epsilon, std::int64_t count) {
  impl_->accountant.Add(dp::PureDp{.epsilon = epsilon, .count = count});
}

double Accountant::Epsilon(double delta) const { return impl_->accountant.Epsilon(delta).epsilon; }

double GaussianEpsilon(double sampling_rate, double noise_multiplier, std::int64_t count, double delta,
                       Accounting accounting) {
  Accountant accountant(accounting);
  accountant.AddGaussian(sampling_rate, noise_multiplier, count);
  return accountant.Epsilon(delta);
}

double GaussianMultiplier(double epsilon, double delta, double sampling_rate, std::int64_t count,
                          Accounting accounting) {
  return dp::CalibrateNoiseMultiplier(epsilon, delta, sampling_rate, count, Inner(accounting));
}

Epsilons RecordEpsilons(const std::filesystem::path& record, double delta, Accounting accounting) {
  const auto epsilons = dp::Epsilons(runtime::ReadRecord(record), delta, Inner(accounting));
  return {.outsider = epsilons.outsider, .insider = epsilons.insider};
}

std::string EpsilonText(double epsilon) { return jobs::EpsilonText(epsilon); }

std::string DeltaText(double delta) { return jobs::DeltaText(delta); }

}  // namespace trefoil
