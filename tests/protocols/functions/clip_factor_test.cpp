#include "protocols/functions/clip_factor.h"

#include <cmath>

#include "base/error.h"
#include "tests/reference/plain_polynomial.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct ClipFactorCase {
  double clip;
  double s_max;
  int input_bits;
  Form form;
};

void PrintTo(const ClipFactorCase& c, std::ostream* out) {
  *out << "clip " << c.clip << " bits " << c.input_bits << (c.form == Form::kBulk ? " bulk" : " latency");
}

class ClipFactorTest : public testing::TestWithParam<ClipFactorCase> {};

/// Low bits of s that its comparisons leave out.
int Narrowing(const ClipTable& table) { return table.shift + table.pieces.blur.dropped; }

/// Squared norms from 0 to s_max: dense geometrically (less so for constant pieces, whose extremes lie at the
/// thresholds), and both sides of every threshold.
RingMatrix SquaredNorms(const ClipFactorCase& c, const ClipTable& table) {
  std::vector<std::int64_t> values{0, 1, 2};
  const double top = std::ldexp(c.s_max, c.input_bits);
  const double growth = c.form == Form::kBulk ? 1.0007 : 1.01;
  for (double s = std::ldexp(c.clip * c.clip, c.input_bits) / 4; s <= top; s *= growth) {
    values.push_back(static_cast<std::int64_t>(s));
  }
  for (const std::int64_t threshold : table.pieces.thresholds) {
    for (const std::int64_t beside : {-3, -2, -1, 0, 1, 2, 3}) {
      const std::int64_t base = (threshold + beside) << Narrowing(table);
      const std::int64_t unit = std::int64_t{1} << Narrowing(table);
      for (const std::int64_t s : {base, base + 1, base + unit / 2, base + unit - 1}) {
        if (s >= 0 && s <= static_cast<std::int64_t>(top)) values.push_back(s);
      }
    }
  }
  return Column(values);
}

void CheckBounds(const ClipFactorCase& c, const RingMatrix& s, const RingMatrix& factors) {
  for (Index k = 0; k < s.size(); ++k) {
    const long double norm = std::sqrt(std::ldexp(static_cast<long double>(s(k, 0)), -c.input_bits));
    const long double factor =
        std::ldexp(static_cast<long double>(mpc::Signed(factors(k, 0))), -kClipFactorBits);
    ASSERT_GE(factor, 0);
    ASSERT_LE(factor, 1);
    if (norm > c.clip) {
      ASSERT_LE(factor * norm, static_cast<long double>(c.clip)) << "s = " << s(k, 0);
    }
    const long double best = norm <= c.clip ? 1.0L : c.clip / norm;
    ASSERT_GE(factor, 0.95L * best) << "s = " << s(k, 0);
  }
}

Outcome RunClipFactor(const ClipTable& table, const RingMatrix& s) {
  return RunOn(
      Seed{1}, [&](mpc::Context& party) { return InsecureDeal(party, s); },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return ClipFactor(party, table, ToAdditive(share));
      });
}

TEST_P(ClipFactorTest, IsNeverAboveTheTrueFactorAndAtMostFivePercentBelow) {
  const ClipFactorCase c = GetParam();
  const ClipTable table = MakeClipTable(c.clip, c.s_max, c.input_bits, c.form);
  const RingMatrix s = SquaredNorms(c, table);
  const Outcome outcome = RunClipFactor(table, s);
  EXPECT_EQ(outcome.cost, Figures(ClipFactorCost(table, s.size())));
  EXPECT_LE(outcome.cost.rounds, c.form == Form::kBulk ? 13 : 2);
  CheckBounds(c, s, outcome.value);
}

// Both come of one comparison, so that the bit is that of the factor, coins included.
TEST_P(ClipFactorTest, TellsBesideTheFactorWhetherItIsOne) {
  const ClipFactorCase c = GetParam();
  constexpr int kPlace = 32;
  for (const auto rounding : {Rounding::kStochastic, Rounding::kExact}) {
    const ClipTable table = MakeClipTable(c.clip, c.s_max, c.input_bits, c.form, rounding);
    const RingMatrix s = SquaredNorms(c, table);
    const Outcome outcome = RunOn(
        Seed{1}, [&](mpc::Context& party) { return InsecureDeal(party, s); },
        [&](mpc::Context& party, const mpc::ArithShare& share) {
          const auto [factors, within] = ClipFactorAndWithin(party, table, ToAdditive(share));
          return factors + (Word{1} << kPlace) * within;
        });
    EXPECT_EQ(outcome.cost, Figures(ClipFactorAndWithinCost(table, s.size())));
    const double clip_squared = std::ldexp(c.clip * c.clip, c.input_bits);
    const double resolution = std::ldexp(1.0, Narrowing(table));
    for (Index k = 0; k < s.size(); ++k) {
      const Word within = outcome.value(k, 0) >> kPlace;
      const Word factor = outcome.value(k, 0) & ((Word{1} << kPlace) - 1);
      ASSERT_LE(within, 1U);
      ASSERT_EQ(within == 1, factor == Word{1} << kClipFactorBits) << "s = " << s(k, 0);
      const auto squared = static_cast<double>(s(k, 0));
      if (squared > clip_squared) {
        ASSERT_EQ(within, 0U) << "s = " << s(k, 0);
      }
      if (squared < clip_squared * (1 - 1e-13) - 3 * resolution) {
        ASSERT_EQ(within, 1U) << "s = " << s(k, 0);
      }
    }
  }
}

TEST_P(ClipFactorTest, IsPlainIntegerArithmeticWithinTheSameBoundsWhenExact) {
  const ClipFactorCase c = GetParam();
  const ClipTable table = MakeClipTable(c.clip, c.s_max, c.input_bits, c.form, Rounding::kExact);
  const RingMatrix s = SquaredNorms(c, table);
  const Outcome outcome = RunClipFactor(table, s);
  EXPECT_EQ(outcome.cost, Figures(ClipFactorCost(table, s.size())));
  CheckBounds(c, s, outcome.value);
  for (Index k = 0; k < s.size(); ++k) {
    const std::int64_t narrowed = mpc::Signed(s(k, 0)) >> table.shift;
    ASSERT_EQ(mpc::Signed(outcome.value(k, 0)), reference::EvaluateRoundingDown(table.pieces, narrowed));
  }
}

TEST_P(ClipFactorTest, IsOneEverywhereWhenTheClipIsBeyondEveryGradient) {
  const ClipFactorCase c = GetParam();
  const double top = std::ldexp(c.s_max, c.input_bits);
  std::vector<std::int64_t> values{0, 1, static_cast<std::int64_t>(top / 3), static_cast<std::int64_t>(top)};
  for (const double times : {2.0, 4.0, 100.0, 1e9}) {
    const ClipTable table = MakeClipTable(times * std::sqrt(c.s_max), c.s_max, c.input_bits, c.form);
    const Outcome outcome = RunOn(
        Seed{3}, [&](mpc::Context& party) { return InsecureDeal(party, Column(values)); },
        [&](mpc::Context& party, const mpc::ArithShare& share) {
          return ClipFactor(party, table, ToAdditive(share));
        });
    EXPECT_TRUE((outcome.value == mpc::Word{1} << kClipFactorBits).all()) << times;
  }
}

TEST_P(ClipFactorTest, IsZeroAboveTheRange) {
  const ClipFactorCase c = GetParam();
  const ClipTable table = MakeClipTable(c.clip, c.s_max, c.input_bits, c.form);
  const auto above =
      static_cast<std::int64_t>(std::ldexp(c.s_max, c.input_bits)) + (std::int64_t{4} << Narrowing(table));
  const Outcome outcome = RunOn(
      Seed{2},
      [&](mpc::Context& party) {
        return InsecureDeal(party, Column({above, above + above / 4}));
      },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return ClipFactor(party, table, ToAdditive(share));
      });
  EXPECT_TRUE((outcome.value == 0).all());
}

INSTANTIATE_TEST_SUITE_P(
    Tables, ClipFactorTest,
    testing::Values(ClipFactorCase{0.5, 20.2, 48, Form::kBulk}, ClipFactorCase{0.1, 20.2, 48, Form::kBulk},
                    ClipFactorCase{1.0, 2.02, 40, Form::kBulk}, ClipFactorCase{0.1, 1000, 30, Form::kBulk},
                    ClipFactorCase{2.0, 20.2, 24, Form::kBulk}, ClipFactorCase{1.5, 4.0, 56, Form::kBulk},
                    ClipFactorCase{0.7, 3.2e7, 34, Form::kBulk}, ClipFactorCase{1.0, 6.7e7, 34, Form::kBulk},
                    ClipFactorCase{0.7, 3.2e7, 34, Form::kLatency},
                    ClipFactorCase{0.5, 20.2, 48, Form::kLatency},
                    ClipFactorCase{0.1, 20.2, 48, Form::kLatency},
                    ClipFactorCase{2.0, 20.2, 24, Form::kLatency},
                    ClipFactorCase{1.5, 4.0, 56, Form::kLatency}));

TEST(MakeClipTable, RefusesAClipSoFarBelowTheLargestGradientThatRoundingWouldShow) {
  for (const Form form : {Form::kBulk, Form::kLatency}) {
    EXPECT_THROW((void)MakeClipTable(1e-4, 170, 46, form), ConfigError);
    EXPECT_THROW((void)MakeClipTable(3e-5, 8000, 48, form), ConfigError);
    EXPECT_THROW((void)MakeClipTable(0.7, 7e7, 34, form), ConfigError);
  }
}

TEST(MakeClipTable, RefusesAClipBelowTheResolution) {
  EXPECT_THROW((void)MakeClipTable(0.001, 20, 24), ConfigError);
}

}  // namespace
}  // namespace trefoil::protocols
