#include "protocols/functions/softmax.h"

#include <cmath>

#include "base/error.h"
#include "protocols/arithmetic/truncate.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::FixedShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

void PrintCase(const SoftmaxOptions& options, std::ostream* out) {
  *out << options.classes << " classes, bits " << options.frac_bits << ", width " << options.width;
  if (options.logit_bound) *out << ", bound " << *options.logit_bound;
  *out << (options.form == Form::kBulk ? " bulk" : " latency");
}

struct SoftmaxCase {
  SoftmaxOptions options;
  friend void PrintTo(const SoftmaxCase& c, std::ostream* out) { PrintCase(c.options, out); }
};

SoftmaxCase WithMaximum(Index classes, int bits, Form form = Form::kBulk, int width = 64) {
  return {{.classes = classes, .frac_bits = bits, .logit_bound = {}, .width = width, .form = form}};
}

SoftmaxCase Bounded(Index classes, int bits, double bound, Form form = Form::kBulk, int width = 64) {
  return {{.classes = classes, .frac_bits = bits, .logit_bound = bound, .width = width, .form = form}};
}

Outcome RunSoftmax(const SoftmaxTable& table, const RingMatrix& x) {
  return RunOn(
      Seed{1},
      [&](mpc::Context& party) { return FixedShare(InsecureDeal(party, x), table.options.frac_bits); },
      [&](mpc::Context& party, const FixedShare& share) { return Softmax(party, table, share).ring(); });
}

/// Uniform rows of several spreads, one logit above the others, all equal; and each class the only large one.
RingMatrix OrdinaryLogits(const SoftmaxOptions& options, Index random) {
  const double reach = options.logit_bound ? 1.3 * *options.logit_bound : 20;
  const int bits = std::ilogb(std::ldexp(reach, options.frac_bits));
  RingMatrix x = RandomSigned(71, random, options.classes, bits);
  x = mpc::Stacked(x, RandomSigned(72, random, options.classes, options.frac_bits));
  RingMatrix ladder = RingMatrix::Zero(options.classes + 2, options.classes);
  for (Index k = 0; k < options.classes; ++k) ladder(k, k) = Word{1} << bits;
  ladder.row(options.classes).setConstant(Word{0} - (Word{1} << bits));
  return mpc::Stacked(x, ladder);
}

/// Whatever the width admits: random, and every pattern of the ends and zero in the first three classes.
RingMatrix ExtremeLogits(const SoftmaxOptions& options, Index random) {
  const Word limit = (Word{1} << (options.width - 3)) - 1;
  const std::array<Word, 7> ends{limit, Word{0} - limit, 0, 1, ~Word{0}, limit - 1, limit / 2};
  RingMatrix x(343, options.classes);
  for (Index row = 0; row < x.rows(); ++row) {
    Index rest = row;
    for (Index col = 0; col < x.cols(); ++col, rest /= 7)
      x(row, col) = ends[static_cast<std::size_t>(rest % 7)];
  }
  return mpc::Stacked(x, RandomSigned(73, random, options.classes, options.width - 3));
}

/// In [0, 1 + excess], and as near to every one-hot row as the table says.
void CheckBounds(const SoftmaxTable& table, const RingMatrix& p) {
  for (Index row = 0; row < p.rows(); ++row) {
    long double squares = 0;
    long double least = 2;
    for (Index col = 0; col < p.cols(); ++col) {
      const long double value =
          std::ldexp(static_cast<long double>(mpc::Signed(p(row, col))), -table.options.frac_bits);
      ASSERT_GE(value, 0) << row << ' ' << col;
      ASSERT_LE(value, 1 + static_cast<long double>(table.excess)) << row << ' ' << col;
      squares += value * value;
      least = std::min(least, value);
    }
    // The one-hot row that is furthest has its 1 where p is least.
    ASSERT_LE(std::sqrt(squares - 2 * least + 1), static_cast<long double>(table.distance)) << row;
  }
}

class SoftmaxTest : public testing::TestWithParam<SoftmaxCase> {};

TEST_P(SoftmaxTest, IsWithinItsErrorAtTheDeclaredCost) {
  const SoftmaxOptions options = GetParam().options;
  const SoftmaxTable table = MakeSoftmaxTable(options);
  const RingMatrix x = OrdinaryLogits(options, options.form == Form::kBulk ? 300 : 40);
  const Outcome outcome = RunSoftmax(table, x);

  const mpc::Cost declared = SoftmaxCost(table, x.rows());
  EXPECT_EQ(outcome.cost, Figures(declared));
  if (options.logit_bound) {
    EXPECT_LE(declared.rounds(), options.form == Form::kBulk ? 48 : 26);
  }
  CheckBounds(table, outcome.value);
  for (Index row = 0; row < x.rows(); ++row) {
    std::vector<long double> powers;
    long double sum = 0;
    for (Index col = 0; col < x.cols(); ++col) {
      long double logit = std::ldexp(static_cast<long double>(mpc::Signed(x(row, col))), -options.frac_bits);
      if (options.logit_bound) {
        const auto bound = static_cast<long double>(*options.logit_bound);
        logit = std::clamp(logit, -bound, bound);
      }
      powers.push_back(std::exp(logit));
      sum += powers.back();
    }
    for (Index col = 0; col < x.cols(); ++col) {
      const long double value =
          std::ldexp(static_cast<long double>(mpc::Signed(outcome.value(row, col))), -options.frac_bits);
      ASSERT_LE(std::abs(value - powers[static_cast<std::size_t>(col)] / sum),
                static_cast<long double>(table.error))
          << row << ' ' << col;
    }
  }
}

TEST_P(SoftmaxTest, StaysWithinItsBoundsForEveryLogitThatItsWidthAdmits) {
  const SoftmaxOptions options = GetParam().options;
  const SoftmaxTable table = MakeSoftmaxTable(options);
  const RingMatrix x = ExtremeLogits(options, 100);
  CheckBounds(table, RunSoftmax(table, x).value);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, SoftmaxTest,
    testing::Values(WithMaximum(2, 8), WithMaximum(10, 12), WithMaximum(10, 16), WithMaximum(3, 20),
                    WithMaximum(10, 24), WithMaximum(40, 16), WithMaximum(10, 16, Form::kBulk, 30),
                    WithMaximum(10, 16, Form::kLatency), WithMaximum(3, 24, Form::kLatency), Bounded(2, 8, 4),
                    Bounded(10, 12, 8), Bounded(10, 16, 8), Bounded(3, 20, 6), Bounded(10, 24, 4),
                    Bounded(2, 16, 0.125), Bounded(10, 16, 8, Form::kBulk, 30),
                    Bounded(10, 16, 8, Form::kLatency), Bounded(3, 24, 4, Form::kLatency)));

TEST(Softmax, StaysWithinItsBoundsOnATruncatedProductWhateverTheRingHolds) {
  for (const SoftmaxCase& c : {WithMaximum(4, 16), Bounded(4, 16, 8)}) {
    const SoftmaxTable table = MakeSoftmaxTable(c.options);
    RingMatrix x = RandomWords(74, 300, 4);
    x.row(0).setConstant(Word{1} << 63);
    x(0, 1) = (Word{1} << 63) - 1;
    x(0, 2) = 0;
    const Outcome outcome = RunOn(
        Seed{4}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
        [&](mpc::Context& party, const mpc::ArithShare& product) {
          return Softmax(party, table, FixedShare(Truncate(party, product, 16), 16)).ring();
        });
    CheckBounds(table, outcome.value);
  }
}

TEST(MakeSoftmaxTable, StatesErrorsOfAFewUnits) {
  EXPECT_LE(MakeSoftmaxTable(WithMaximum(10, 16).options).error, std::ldexp(7.0, -16));
  EXPECT_LE(MakeSoftmaxTable(Bounded(10, 16, 8).options).error, std::ldexp(3.0, -16));
  EXPECT_LE(MakeSoftmaxTable(WithMaximum(10, 24).options).error, std::ldexp(10.0, -24));
  EXPECT_LE(MakeSoftmaxTable(WithMaximum(10, 16).options).distance, std::sqrt(2.0) + std::ldexp(4.0, -16));
}

TEST(MakeSoftmaxTable, RefusesOptionsThatItCannotKeep) {
  EXPECT_THROW((void)MakeSoftmaxTable(WithMaximum(1, 16).options), ContractError);
  EXPECT_THROW((void)MakeSoftmaxTable(WithMaximum(2000, 16).options), ContractError);
  EXPECT_THROW((void)MakeSoftmaxTable(WithMaximum(10, 7).options), ContractError);
  EXPECT_THROW((void)MakeSoftmaxTable(WithMaximum(10, 16, Form::kBulk, 23).options), ContractError);
  EXPECT_THROW((void)MakeSoftmaxTable(Bounded(10, 16, 0).options), ContractError);
  EXPECT_THROW((void)MakeSoftmaxTable(Bounded(10, 16, 12.5).options), ContractError);
  EXPECT_THROW((void)MakeSoftmaxTable(Bounded(10, 24, 12).options), ContractError);
}

TEST(Softmax, RefusesOtherShapesBeforeSending) {
  const SoftmaxTable table = MakeSoftmaxTable(WithMaximum(3, 16).options);
  const auto sent = RunParties(Seed{3}, [&](mpc::Context& party) {
    EXPECT_THROW((void)Softmax(party, table, FixedShare(InsecureDeal(party, RingMatrix::Zero(2, 4)), 16)),
                 ContractError);
    EXPECT_THROW((void)Softmax(party, table, FixedShare(InsecureDeal(party, RingMatrix::Zero(2, 3)), 15)),
                 ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
