#include "protocols/functions/relu.h"

#include <limits>

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::FixedShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct ReluCase {
  int width;
  Form form;
};

void PrintTo(const ReluCase& c, std::ostream* out) {
  *out << "width " << c.width << (c.form == Form::kBulk ? " bulk" : " latency");
}

/// Every power of two below the width and its neighbours, of both signs, the range's ends, and random ones.
RingMatrix ReluInputs(int width) {
  std::vector<std::int64_t> values{0, 1, -1};
  for (int t = 1; t < width - 1; ++t) {
    const std::int64_t power = std::int64_t{1} << t;
    for (const std::int64_t v : {power, power - 1, -power, -power + 1}) values.push_back(v);
  }
  if (width == 64) {
    values.push_back(std::numeric_limits<std::int64_t>::min());
    values.push_back(std::numeric_limits<std::int64_t>::max());
  }
  return mpc::Stacked(Column(values), RandomSigned(31, 300, 1, width - 1));
}

class ReluTest : public testing::TestWithParam<ReluCase> {};

TEST_P(ReluTest, IsExactWithItsDerivativeAtTheDeclaredCost) {
  const ReluCase c = GetParam();
  const RingMatrix x = ReluInputs(c.width);
  const Outcome outcome = RunOn(
      Seed{1}, [&](mpc::Context& party) { return FixedShare(InsecureDeal(party, x), 16); },
      [&](mpc::Context& party, const FixedShare& share) {
        const ReluResult result = Relu(party, share, c.width, c.form);
        EXPECT_EQ(result.values.frac_bits(), 16);
        return Stacked(result.values.ring(), result.positive);
      });

  const mpc::Cost declared = ReluCost(x.size(), c.width, c.form);
  EXPECT_EQ(outcome.cost, Figures(declared));
  EXPECT_LE(declared.rounds(), c.form == Form::kBulk ? 11 : 3);
  for (Index k = 0; k < x.size(); ++k) {
    const std::int64_t value = mpc::Signed(x(k, 0));
    ASSERT_EQ(mpc::Signed(outcome.value(k, 0)), std::max<std::int64_t>(value, 0)) << value;
    ASSERT_EQ(outcome.value(x.size() + k, 0), value >= 0 ? 1U : 0U) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, ReluTest,
                         testing::Values(ReluCase{64, Form::kBulk}, ReluCase{64, Form::kLatency},
                                         ReluCase{24, Form::kBulk}, ReluCase{24, Form::kLatency},
                                         ReluCase{3, Form::kBulk}));

TEST(Relu, KeepsTheShapeOfAMatrix) {
  const RingMatrix x = RandomSigned(32, 7, 5, 62);
  const Outcome outcome = RunOn(
      Seed{2}, [&](mpc::Context& party) { return FixedShare(InsecureDeal(party, x), 16); },
      [](mpc::Context& party, const FixedShare& share) { return Relu(party, share).values.ring(); });
  EXPECT_TRUE((outcome.value == x.unaryExpr([](Word v) { return mpc::Signed(v) < 0 ? 0 : v; })).all());
}

TEST(Relu, RefusesAWidthBeforeSending) {
  const auto sent = RunParties(Seed{3}, [](mpc::Context& party) {
    const FixedShare x(InsecureDeal(party, RingMatrix::Zero(3, 1)), 16);
    for (const Form form : {Form::kBulk, Form::kLatency}) {
      EXPECT_THROW((void)Relu(party, x, 1, form), ContractError);
      EXPECT_THROW((void)Relu(party, x, 65, form), ContractError);
    }
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
