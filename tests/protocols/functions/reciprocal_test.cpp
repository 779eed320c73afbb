#include "protocols/functions/reciprocal.h"

#include <cmath>
#include <random>

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::FixedShare;
using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct ReciprocalCase {
  int frac_bits;
  ReciprocalRange range;
  Form form;
};

void PrintTo(const ReciprocalCase& c, std::ostream* out) {
  *out << "bits " << c.frac_bits << ", 2^" << c.range.lowest_log2 << " to 2^" << c.range.highest_log2
       << (c.form == Form::kBulk ? " bulk" : " latency");
}

/// Log-uniform over the range, every power of two, its neighbours, and the ends.
RingMatrix ReciprocalInputs(const ReciprocalCase& c, Index random) {
  const int lowest = c.frac_bits + c.range.lowest_log2;
  const int highest = c.frac_bits + c.range.highest_log2;
  std::vector<std::int64_t> values{std::int64_t{1} << lowest};
  for (int t = lowest + 1; t <= highest; ++t) {
    const std::int64_t power = std::int64_t{1} << t;
    values.push_back(power - 1);
    values.push_back(power);
    if (t < highest) values.push_back(power + 1);
  }
  std::mt19937_64 generator(7);
  std::uniform_real_distribution<double> exponent(lowest, highest);
  for (Index k = 0; k < random; ++k)
    values.push_back(static_cast<std::int64_t>(std::exp2(exponent(generator))));
  return Column(values);
}

class ReciprocalTest : public testing::TestWithParam<ReciprocalCase> {};

TEST_P(ReciprocalTest, IsWithinItsErrorOnTheWholeRangeAtTheDeclaredCost) {
  const ReciprocalCase c = GetParam();
  const RingMatrix x = ReciprocalInputs(c, c.form == Form::kBulk ? 3000 : 500);
  const Outcome outcome = RunOn(
      Seed{1}, [&](mpc::Context& party) { return FixedShare(InsecureDeal(party, x), c.frac_bits); },
      [&](mpc::Context& party, const FixedShare& share) {
        return Reciprocal(party, share, c.range, c.form).ring();
      });

  const mpc::Cost declared = ReciprocalCost(x.size(), c.frac_bits, c.range, c.form);
  EXPECT_EQ(outcome.cost, Figures(declared));
  EXPECT_LE(declared.rounds(), c.form == Form::kBulk ? 27 : 14);
  const ReciprocalError error = ReciprocalErrorBound(c.frac_bits, c.range);
  if (c.frac_bits - c.range.lowest_log2 <= 32) {
    EXPECT_LE(error.relative, 1e-8);
  }
  for (Index k = 0; k < x.size(); ++k) {
    const long double truth = 1 / std::ldexp(static_cast<long double>(x(k, 0)), -c.frac_bits);
    const long double value =
        std::ldexp(static_cast<long double>(mpc::Signed(outcome.value(k, 0))), -c.frac_bits);
    ASSERT_GE(value, 0) << x(k, 0);
    ASSERT_LE(std::abs(value - truth), truth * static_cast<long double>(error.relative) +
                                           std::ldexp(static_cast<long double>(error.units), -c.frac_bits))
        << x(k, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ranges, ReciprocalTest,
    testing::Values(ReciprocalCase{8, {-8, 54}, Form::kBulk}, ReciprocalCase{8, {0, 4}, Form::kBulk},
                    ReciprocalCase{12, {-12, 20}, Form::kBulk}, ReciprocalCase{16, {-16, 46}, Form::kBulk},
                    ReciprocalCase{16, {0, 5}, Form::kBulk}, ReciprocalCase{20, {-20, 42}, Form::kBulk},
                    ReciprocalCase{20, {-6, 10}, Form::kBulk}, ReciprocalCase{24, {-24, 38}, Form::kBulk},
                    ReciprocalCase{24, {-8, 8}, Form::kBulk}, ReciprocalCase{1, {0, 1}, Form::kBulk},
                    ReciprocalCase{8, {-8, 54}, Form::kLatency},
                    ReciprocalCase{16, {-16, 46}, Form::kLatency}, ReciprocalCase{16, {0, 5}, Form::kLatency},
                    ReciprocalCase{24, {-24, 38}, Form::kLatency}));

class NormalisedReciprocalTest : public testing::TestWithParam<int> {};

TEST_P(NormalisedReciprocalTest, IsWithinItsErrorFromOneHalfToOne) {
  const int bits = GetParam();
  const std::int64_t one = std::int64_t{1} << bits;
  const std::int64_t slack = one >> 10;
  std::vector<std::int64_t> values;
  const std::int64_t step = std::max<std::int64_t>(1, one / 20000);
  for (std::int64_t z = one / 2 - slack; z <= one + slack; z += step) values.push_back(z);
  values.push_back(one + slack);
  const RingMatrix z = Column(values);
  const Outcome outcome = RunOn(
      Seed{2}, [&](mpc::Context& party) { return InsecureDeal(party, z); },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return ReciprocalOfNormalised(party, share, bits);
      });
  EXPECT_EQ(outcome.cost, Figures(ReciprocalOfNormalisedCost(z.size())));
  EXPECT_EQ(outcome.cost.rounds, 8);
  for (Index k = 0; k < z.size(); ++k) {
    const long double product = std::ldexp(static_cast<long double>(mpc::Signed(z(k, 0))), -bits) *
                                std::ldexp(static_cast<long double>(mpc::Signed(outcome.value(k, 0))), -bits);
    ASSERT_LE(std::abs(product - 1), static_cast<long double>(NormalisedReciprocalError(bits))) << z(k, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, NormalisedReciprocalTest, testing::Values(8, 14, 22, 30));

TEST(Reciprocal, RefusesScalesAndRangesBeforeSending) {
  const auto sent = RunParties(Seed{3}, [](mpc::Context& party) {
    const FixedShare x(InsecureDeal(party, RingMatrix::Constant(3, 1, 1)), 16);
    const FixedShare fine(InsecureDeal(party, RingMatrix::Constant(3, 1, 1)), 25);
    EXPECT_THROW((void)Reciprocal(party, fine, {0, 1}), ContractError);
    EXPECT_THROW((void)Reciprocal(party, x, {-17, 1}), ContractError);
    EXPECT_THROW((void)Reciprocal(party, x, {3, 3}), ContractError);
    EXPECT_THROW((void)Reciprocal(party, x, {0, 47}), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
