#include "protocols/functions/exponential.h"

#include <cmath>

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::FixedShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct ExponentialCase {
  ExponentialOptions options;
  Form form;
};

void PrintTo(const ExponentialCase& c, std::ostream* out) {
  *out << c.options.lowest << " to " << c.options.highest << ", bits " << c.options.input_bits << " to "
       << c.options.output_bits << ", accuracy " << c.options.accuracy_bits
       << (c.form == Form::kBulk ? " bulk" : " latency");
}

/// The range densely, each side of every threshold, and beyond it up to 2^62.
RingMatrix ExponentialInputs(const ExponentialOptions& options, const ExponentialTable& table, Index dense) {
  const double lowest = std::ldexp(options.lowest, options.input_bits);
  const double highest = std::ldexp(options.highest, options.input_bits);
  std::vector<std::int64_t> values;
  for (Index k = 0; k <= dense; ++k) {
    values.push_back(static_cast<std::int64_t>(lowest + (highest - lowest) * static_cast<double>(k) /
                                                            static_cast<double>(dense)));
  }
  for (const std::int64_t threshold : table.pieces.thresholds) {
    for (const std::int64_t beside : {-2, -1, 0, 1}) values.push_back(threshold + beside);
  }
  const int reach = std::min(62, options.width - 2);
  for (int t = 20; t <= reach; ++t) {
    const std::int64_t power = (std::int64_t{1} << t) - 1;
    values.push_back(power);
    values.push_back(-power);
  }
  return Column(values);
}

Outcome RunExponential(const ExponentialTable& table, const RingMatrix& x, Form form) {
  return RunOn(
      Seed{1},
      [&](mpc::Context& party) { return FixedShare(InsecureDeal(party, x), table.pieces.input_bits); },
      [&](mpc::Context& party, const FixedShare& share) {
        const FixedShare y = Exponential(party, table, share, form);
        EXPECT_EQ(y.frac_bits(), table.output_bits);
        return y.ring();
      });
}

class ExponentialTest : public testing::TestWithParam<ExponentialCase> {};

TEST_P(ExponentialTest, IsWithinItsErrorEverywhereAtTheDeclaredCost) {
  const ExponentialCase c = GetParam();
  const ExponentialTable table = MakeExponentialTable(c.options);
  const RingMatrix x = ExponentialInputs(c.options, table, c.form == Form::kBulk ? 4000 : 400);
  const Outcome outcome = RunExponential(table, x, c.form);

  EXPECT_EQ(outcome.cost, Figures(ExponentialCost(table, x.size(), c.form)));
  EXPECT_LE(outcome.cost.rounds, c.form == Form::kBulk ? 20 : 12);
  // Good to a few units of the scale at which it is used.
  EXPECT_LE(table.relative + table.absolute, 4 * std::ldexp(1.0, -c.options.accuracy_bits));
  const auto rounded = [bits = c.options.input_bits](double end) {
    return std::ldexp(static_cast<long double>(std::llround(std::ldexp(end, bits))), -bits);
  };
  const long double lowest = rounded(c.options.lowest);
  const long double highest = rounded(c.options.highest);
  for (Index k = 0; k < x.size(); ++k) {
    const long double at = std::ldexp(static_cast<long double>(mpc::Signed(x(k, 0))), -c.options.input_bits);
    const long double truth = std::exp(std::clamp(at, lowest, highest));
    const std::int64_t units = mpc::Signed(outcome.value(k, 0));
    const long double value = std::ldexp(static_cast<long double>(units), -c.options.output_bits);
    ASSERT_GE(units, 0) << at;
    ASSERT_LE(std::abs(value - truth), static_cast<long double>(table.relative) * std::max(1.0L, truth) +
                                           static_cast<long double>(table.absolute))
        << at;
    if (truth > static_cast<long double>(table.relative)) {
      ASSERT_GT(value, truth - std::ldexp(1.0L, -c.options.output_bits)) << at;
    }
  }
}

ExponentialOptions Options(double lowest, double highest, int bits, int width = 64) {
  return {.lowest = lowest,
          .highest = highest,
          .input_bits = bits,
          .output_bits = bits,
          .accuracy_bits = bits,
          .width = width};
}

INSTANTIATE_TEST_SUITE_P(Ranges, ExponentialTest,
                         testing::Values(ExponentialCase{Options(-32, 0, 8), Form::kBulk},
                                         ExponentialCase{Options(-32, 0, 12), Form::kBulk},
                                         ExponentialCase{Options(-32, 0, 16), Form::kBulk},
                                         ExponentialCase{Options(-32, 0, 20), Form::kBulk},
                                         ExponentialCase{Options(-32, 0, 24), Form::kBulk},
                                         ExponentialCase{Options(-5, 5, 16), Form::kBulk},
                                         ExponentialCase{Options(-8, 8, 12, 40), Form::kBulk},
                                         ExponentialCase{Options(-4.3, 3.7, 20), Form::kBulk},
                                         ExponentialCase{Options(-2, 2, 24, 32), Form::kBulk},
                                         ExponentialCase{Options(1, 9, 16), Form::kBulk},
                                         ExponentialCase{Options(-3, -1, 16), Form::kBulk},
                                         ExponentialCase{Options(-32, 0, 16), Form::kLatency},
                                         ExponentialCase{Options(-32, 0, 8), Form::kLatency},
                                         ExponentialCase{Options(-5, 5, 16, 40), Form::kLatency},
                                         ExponentialCase{Options(-4, 4, 24), Form::kLatency},
                                         ExponentialCase{ExponentialOptions{.lowest = 0,
                                                                            .highest = 16,
                                                                            .input_bits = 16,
                                                                            .output_bits = 20,
                                                                            .accuracy_bits = 14,
                                                                            .width = 64},
                                                         Form::kBulk}));

TEST(MakeExponentialTable, StaysAboveTheTrueValueUnderTheWorstCoinsOfHornersRule) {
  for (const ExponentialOptions& options : {Options(-32, 0, 8), Options(-32, 0, 16), Options(-32, 0, 24),
                                            Options(0, 16, 16), Options(-4, 4, 24)}) {
    const ExponentialTable table = MakeExponentialTable(options);
    const PiecewisePolynomial& f = table.pieces;
    const int scale = f.last_shift - options.input_bits + options.output_bits;
    for (std::size_t k = 1; k + 1 < f.coefficients.size(); ++k) {
      for (int step = 0; step <= 1000; ++step) {
        const std::int64_t x =
            f.thresholds[k - 1] + (f.thresholds[k] - 1 - f.thresholds[k - 1]) * step / 1000;
        const long double u = std::ldexp(static_cast<long double>(x - f.origins[k]), -options.input_bits);
        long double value = 0;
        long double coins =
            0;  // less than one unit after every product but the last, which has a real result
        for (std::size_t j = f.coefficients[k].size(); j-- > 0;) {
          value = value * u + static_cast<long double>(f.coefficients[k][j]);
          coins = coins * std::abs(u) + (j > 0 && j + 1 < f.coefficients[k].size() ? 1 : 0);
        }
        const long double truth =
            std::ldexp(std::exp(std::ldexp(static_cast<long double>(x), -options.input_bits)), scale);
        ASSERT_GE(value - coins, truth) << options.input_bits << " bits, x = " << x;
      }
    }
  }
}

TEST(Exponential, IsOneOrAUnitMoreFromZeroOnAndExactlyZeroFarBelow) {
  const ExponentialTable table = MakeExponentialTable(Options(-32, 0, 16));
  const Outcome outcome = RunExponential(
      table, Column({0, 1, 1 << 30, -(32 << 16), -(40 << 16), -(std::int64_t{1} << 61)}), Form::kBulk);
  for (Index k = 0; k < 3; ++k) {
    EXPECT_GE(outcome.value(k, 0), Word{1} << 16);
    EXPECT_LE(outcome.value(k, 0), (Word{1} << 16) + 1);
  }
  for (Index k = 3; k < 6; ++k) EXPECT_EQ(outcome.value(k, 0), 0U);
}

TEST(MakeExponentialTable, RefusesWhatItCannotRepresent) {
  EXPECT_THROW((void)MakeExponentialTable(Options(-32, 0, 7)), ContractError);
  EXPECT_THROW((void)MakeExponentialTable(Options(-33, 0, 16)), ContractError);
  EXPECT_THROW((void)MakeExponentialTable(Options(-32, 24.5, 16)), ContractError);
  EXPECT_THROW((void)MakeExponentialTable(Options(1, 1, 16)), ContractError);
  EXPECT_THROW((void)MakeExponentialTable(Options(-32, -31, 16)), ContractError);
  EXPECT_THROW((void)MakeExponentialTable(Options(0, 20, 24)), ContractError);
}

TEST(Exponential, RefusesAnotherScaleBeforeSending) {
  const ExponentialTable table = MakeExponentialTable(Options(-32, 0, 16));
  const auto sent = RunParties(Seed{3}, [&](mpc::Context& party) {
    const FixedShare x(InsecureDeal(party, RingMatrix::Zero(3, 1)), 15);
    EXPECT_THROW((void)Exponential(party, table, x), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
