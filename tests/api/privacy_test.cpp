#include "trefoil/privacy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/data/temporary_folder.h"

namespace trefoil {
namespace {

TEST(Accountant, GivesTheExactEpsilonOfOneGaussian) {
  // Balle and Wang's formula at mu = 1, epsilon = 1: Phi(-1/2) - e Phi(-3/2).
  const auto phi = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  const double delta = phi(-0.5) - std::exp(1.0) * phi(-1.5);
  EXPECT_NEAR(GaussianEpsilon(1, 1, 1, delta), 1, 1e-6);
  EXPECT_GT(GaussianEpsilon(1, 1, 1, delta, Accounting::kRdp), 1);
}

TEST(Accountant, ComposesUnlikeReleases) {
  Accountant accountant;
  EXPECT_EQ(accountant.Epsilon(1e-5), 0);
  accountant.AddPure(0.25, 2);
  EXPECT_NEAR(accountant.Epsilon(1e-9), 0.5, 1e-6);
  accountant.AddGaussian(0.01, 1, 100);
  const double both = accountant.Epsilon(1e-5);
  EXPECT_GT(both, 0.5);
  EXPECT_LE(both, 0.5 + GaussianEpsilon(0.01, 1, 100, 1e-5));
  accountant.AddLaplace(10);
  EXPECT_GT(accountant.Epsilon(1e-5), both);
}

TEST(Accountant, SaysInfinityWhereThereIsNoGuarantee) {
  EXPECT_EQ(GaussianEpsilon(0.01, 0, 1, 1e-5), std::numeric_limits<double>::infinity());
}

TEST(Accountant, RefusesWhatIsOutOfItsDomain) {
  EXPECT_THROW((void)GaussianEpsilon(1.5, 1, 1, 1e-5), ConfigError);
  EXPECT_THROW((void)GaussianEpsilon(0.5, 1, 1, 0), ConfigError);
}

TEST(GaussianMultiplier, IsTheSmallestThatMeetsTheTarget) {
  const double sigma = GaussianMultiplier(2, 1e-5, 0.01, 1000);
  EXPECT_LE(GaussianEpsilon(0.01, sigma, 1000, 1e-5), 2);
  EXPECT_GT(GaussianEpsilon(0.01, sigma * 0.999, 1000, 1e-5), 2);
}

TEST(RecordEpsilons, ReadsWhatARunWrote) {
  const data::TemporaryFolder folder;
  const auto record = folder.Put("record.json", R"({"version": 1, "job_hash": "ab", "run_id": "cd",
    "events": [{"kind": "pure_releases", "count": 3, "epsilon": 0.5}]})");
  const auto epsilons = RecordEpsilons(record, 1e-9);
  EXPECT_NEAR(epsilons.outsider, 1.5, 1e-6);
  EXPECT_NEAR(epsilons.insider, 1.5, 1e-6);
  EXPECT_THROW((void)RecordEpsilons(folder.Put("none.json", "[]"), 1e-9), DataError);
  EXPECT_THROW((void)RecordEpsilons(folder / "absent.json", 1e-9), ConfigError);
}

TEST(EpsilonText, IsNeverBelowTheBound) {
  EXPECT_EQ(EpsilonText(1.26314137), "1.264");
  EXPECT_EQ(EpsilonText(4), "4.000");
  EXPECT_EQ(EpsilonText(std::numeric_limits<double>::infinity()), "infinite");
  EXPECT_EQ(DeltaText(1.00000049e-5), "1.00001e-05");
}

}  // namespace
}  // namespace trefoil
