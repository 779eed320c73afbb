#include "protocols/functions/absolute_value.h"

#include <limits>

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(AbsoluteValue, IsExactAtTheDeclaredCostInBothForms) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  const RingMatrix x = mpc::Stacked(Column({0, 1, -1, 2, -2, 7, kLeast, kLeast + 1, -(kLeast + 1)}),
                                    RandomSigned(51, 100, 1, 63));
  for (const Form form : {Form::kBulk, Form::kLatency}) {
    const Outcome outcome = RunOn(
        Seed{1}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
        [&](mpc::Context& party, const mpc::ArithShare& share) {
          return AbsoluteValue(party, share, 64, form);
        });
    EXPECT_EQ(outcome.cost, Figures(AbsoluteValueCost(x.size(), 64, form)));
    EXPECT_TRUE(
        (outcome.value == x.unaryExpr([](Word v) { return mpc::Signed(v) < 0 ? Word{0} - v : v; })).all());
  }
}

TEST(AbsoluteValue, RefusesAWidthBeforeSending) {
  const auto sent = RunParties(Seed{2}, [](mpc::Context& party) {
    const auto x = InsecureDeal(party, RingMatrix::Zero(3, 1));
    for (const int width : {1, 65}) EXPECT_THROW((void)AbsoluteValue(party, x, width), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
