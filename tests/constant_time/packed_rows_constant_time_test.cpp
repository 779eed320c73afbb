// The same of rows that stay packed: from what an owner inputs to both products. Streams are secret, as
// tests/constant_time/protocols_constant_time_test.cpp has them.

#include <gtest/gtest.h>

#include "protocols/arithmetic/input_ahead.h"
#include "protocols/arithmetic/multiply.h"
#include "tests/constant_time/secrets.h"
#include "tests/protocols/all_protocols.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/run_parties.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

// More rows than are made at a time.
TEST(PackedRowsConstantTime, NeitherJumpOnASecretNorUseOneAsAnAddress) {
  if (!IsWatched()) GTEST_SKIP() << "not run by valgrind";
  constexpr Index kColumns = 21;
  constexpr std::array<Shape, 3> kRows{Shape{70, kColumns + 2}, Shape{3, kColumns + 2},
                                       Shape{65, kColumns + 2}};
  constexpr std::array<Index, 1> kOthers{2};
  for (const auto target : InstructionSets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const ScopedTarget scoped(target);
    for (const int width : {32, 40, 48}) {
      mpc::Word secret = 5;
      MarkSecret(&secret, sizeof secret);
      const auto step = [&](mpc::Context& party) {
        const auto make = [&](Index, Index count) -> RingMatrix {
          return RingMatrix::Constant(count, kColumns + 2, secret);
        };
        InputAhead inputs(make, kRows, {.columns = kColumns, .width = width});
        const auto [packed, others] = inputs.NextStacked(party, kOthers);
        const mpc::AdditiveShare forward =
            LocalMatrixProduct(party, *packed, Trivial(party, secret, kColumns, 11));
        const mpc::AdditiveShare back =
            LocalTransposedProduct(party, *packed, Trivial(party, secret, packed->rows(), 11));
        return forward.rows() + back.rows() + others.at(0).rows();
      };
      EXPECT_EQ(DependenciesIn([&] { (void)RunParties(Seed{1}, step); }), 0U);
    }
  }
}

}  // namespace
}  // namespace trefoil::protocols
