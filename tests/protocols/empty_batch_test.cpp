// An empty batch is a legal step: every protocol works on no elements.

#include "all_protocols.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/multiply.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

class EmptyBatchTest : public testing::TestWithParam<ProtocolCase> {};

TEST_P(EmptyBatchTest, GivesNothingAndSendsNoPayload) {
  const auto outputs =
      RunParties(Seed{1}, [](mpc::Context& party) { return GetParam().run(party, 0, 0x12345); });
  for (const Output& output : outputs) {
    for (const mpc::ArithShare& share : output.arith) EXPECT_EQ(share.size(), 0);
    for (const mpc::BoolShare& share : output.bits) EXPECT_EQ(share.count(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EmptyBatchTest, testing::ValuesIn(AllProtocols()),
                         [](const auto& info) { return CaseName(info.param); });

TEST(EmptyBatch, HasAZeroGradient) {
  const Outcome outcome = RunOn(
      Seed{1},
      [](mpc::Context& party) {
        return std::pair{Trivial(party, 1, 0, 5), Trivial(party, 1, 0, 3)};
      },
      [](mpc::Context& party, const auto& in) {
        return Reshare(party, LocalTransposedProduct(party, in.first, in.second));
      });
  ASSERT_EQ(outcome.value.rows(), 5);
  ASSERT_EQ(outcome.value.cols(), 3);
  EXPECT_TRUE((outcome.value == 0).all());
}

TEST(EmptyBatch, IsInputByOneOwnerBesideTheOthersRows) {
  (void)RunParties(Seed{1}, [](mpc::Context& party) {
    const std::array<Shape, 3> shapes{Shape{2, 3}, Shape{0, 3}, Shape{1, 3}};
    const Shape own = shapes[static_cast<std::size_t>(party.self())];
    const auto shares = InputEach(party, mpc::RingMatrix::Constant(own.rows, own.cols, 7), shapes);
    const mpc::ArithShare all = Stacked(Stacked(shares[0], shares[1]), shares[2]);
    EXPECT_TRUE((Reveal(party, all, ReleaseReason::kTest) == mpc::RingMatrix::Constant(3, 3, 7)).all());
    return 0;
  });
}

}  // namespace
}  // namespace trefoil::protocols
