#include "dp/accounting/analytic_gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "tests/dp/reference_vectors.h"

namespace trefoil::dp {
namespace {

TEST(AnalyticGaussian, MatchesTheReferenceVectors) {
  const auto vectors = ReferenceVectors("accounting.json");
  for (const auto& row : vectors.at("analytic_gaussian")) {
    const double expected = row.at("epsilon");
    EXPECT_NEAR(AnalyticGaussianEpsilon(row.at("sigma"), row.at("delta")), expected, 1e-11 * expected) << row;
  }
}

struct Reference {
  double sigma;
  double delta;
  long double epsilon;
};

// With mpmath, 60 digits: the root of Q(e s - 1 / (2 s)) - exp(e) Q(e s + 1 / (2 s)) = d, Q(x) = erfc(x /
// sqrt(2)) / 2, by 220 bisections; s and d are the doubles that are written here.
const std::vector<Reference> kReferences{
    {0.001, 0.3, 500523.4007751495210531406L},
    {0.001, 0.001, 503089.2338484387695844429L},
    {0.001, 1e-05, 504263.892920654059094049L},
    {0.001, 1e-09, 505996.8100023017660564644L},
    {0.001, 1e-20, 509261.3446928940032963995L},
    {0.001, 1e-100, 521272.4640495208277015235L},
    {0.05, 0.3, 209.501668906845377346292L},
    {0.05, 1e-05, 284.3918494977424507235434L},
    {0.05, 1e-09, 319.0819663753643391311094L},
    {0.05, 1e-20, 384.4253443721258481160958L},
    {0.5, 0.3, 2.193464604743078826583496L},
    {0.5, 0.001, 7.581279924570113796967854L},
    {0.5, 1e-05, 9.997256146434300359114773L},
    {0.5, 1e-09, 13.53477221916553763487123L},
    {0.5, 1e-20, 20.15186801770597097870489L},
    {0.5, 1e-100, 44.31616770840800830089518L},
    {1, 0.3, 0.2766173988968495488610768L},
    {1, 0.001, 3.138670548582939201996513L},
    {1, 1e-05, 4.377178095681224608553986L},
    {1, 1e-09, 6.173935046670907940809431L},
    {1, 1e-20, 9.5109362405743804713292L},
    {1, 1e-100, 21.62750809364838220955564L},
    {4, 1e-05, 0.9263415039982294394834048L},
    {4, 1e-09, 1.395615713857718579717052L},
    {4, 1e-20, 2.248179410040225181412079L},
    {8, 0.001, 0.2586463174059276549406125L},
    {8, 1e-05, 0.4344163800904968419338419L},
    {8, 1e-09, 0.675331672999049979586894L},
    {8, 1e-20, 1.106884632553505404723641L},
    {8, 1e-100, 2.636711388562983263490379L},
    {100, 1e-05, 0.02721941981457713529424927L},
    {100, 1e-09, 0.04886639301570327241993806L},
    {100, 1e-20, 0.08514352611820974958812775L},
    {10000, 1e-05, 0.00009023709432563503337205103L},
    {10000, 1e-09, 0.0003923606369749010631252925L},
    {10000, 1e-20, 0.0007965874845149415821972888L},
    {10000, 1e-100, 0.002069124899141161083857605L},
    {1000000, 1e-09, 0.000002717805928797222765473745L},
    {1000000, 1e-20, 0.000007384659656092545744204769L},
    {1000000, 1e-100, 0.00002046847317762364275279202L},
    {10000000, 1e-09, 0.0000001938356344155163103269503L},
    {10000000, 1e-20, 0.0000007077384334102893813812539L},
    {10000000, 1e-100, 0.000002035620421567067808252959L},
};

// As it stands the formula is below by 1e-8 and more where sigma is large.
TEST(AnalyticGaussian, IsNeverOnTheWrongSideOfTheReference) {
  for (const auto& [sigma, delta, epsilon] : kReferences) {
    const long double above = AnalyticGaussianEpsilon(sigma, delta);
    const long double below = AnalyticGaussianEpsilonBelow(sigma, delta);
    EXPECT_GE(above, epsilon) << sigma << ' ' << delta;
    EXPECT_LE(above, epsilon * (1 + 3e-12L)) << sigma << ' ' << delta;
    EXPECT_LE(below, epsilon) << sigma << ' ' << delta;
    EXPECT_GE(below, epsilon * (1 - 3e-12L)) << sigma << ' ' << delta;
  }
}

TEST(AnalyticGaussian, HasBoundsWhereNumbersEnd) {
  EXPECT_EQ(AnalyticGaussianEpsilon(1, 1e-310), std::numeric_limits<double>::infinity());
  EXPECT_GT(AnalyticGaussianEpsilon(1e-160, 1e-5), 1e300);
  EXPECT_EQ(AnalyticGaussianEpsilon(1e300, 1e-5), 0);
  EXPECT_EQ(AnalyticGaussianEpsilonBelow(10, 0.5), 0);
  EXPECT_GE(AnalyticGaussianEpsilonBelow(1, 1e-300), 0);
}

TEST(AnalyticGaussian, FallsWithNoiseAndWithDelta) {
  double previous = std::numeric_limits<double>::infinity();
  for (double sigma = 0.001; sigma < 1e7; sigma *= 3) {
    const double epsilon = AnalyticGaussianEpsilon(sigma, 1e-9);
    EXPECT_GE(epsilon, 0);
    EXPECT_LE(epsilon, previous) << sigma;
    EXPECT_LE(AnalyticGaussianEpsilon(sigma, 1e-3), epsilon);
    EXPECT_GE(AnalyticGaussianEpsilon(sigma, 1e-300), epsilon);
    previous = epsilon;
  }
  EXPECT_EQ(AnalyticGaussianEpsilon(10, 0.5), 0);  // total variation 0.04
}

TEST(AnalyticGaussian, RefusesWhatIsOutsideItsDomain) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const double sigma : {0.0, -1.0, kNan, std::numeric_limits<double>::infinity()})
    EXPECT_THROW((void)AnalyticGaussianEpsilon(sigma, 1e-5), ConfigError) << sigma;
  for (const double delta : {0.0, 1.0, kNan})
    EXPECT_THROW((void)AnalyticGaussianEpsilon(1, delta), ConfigError);
}

}  // namespace
}  // namespace trefoil::dp
