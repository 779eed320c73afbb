#include "ml/on_shares/held_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "ml/on_shares/correct_counts.h"
#include "protocols/arithmetic/multiply.h"
#include "tests/reference/plain_classifier.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// Of a whole number of blocks, and with a part of one; whoever holds them.
TEST(CountHeldOut, AddsUpTheBlocksOfItsHolderAtTheDeclaredCost) {
  for (const HeldOut& declared :
       {HeldOut{.holder = 1, .rows = 2 * kHeldOutBlock + 77}, HeldOut{.holder = 2, .rows = kHeldOutBlock},
        HeldOut{.holder = 0, .rows = 1}}) {
    const StepPlan plan = MakeStepPlan(SmallSettings());
    OwnRecords records = MakeRecords(plan.settings, 4, declared.rows);
    // Blocks that are not alike: the first one's count says nothing of the others'.
    const Index others = std::max<Index>(0, declared.rows - kHeldOutBlock);
    records.x.bottomRows(others) *= -1;
    const RingMatrix model = RandomSigned(5, 7, 3, 18);
    constexpr int kWidth = 44;
    const auto logits_cost = [](Index) { return mpc::Cost(); };
    const Outcome outcome = RunOn(
        Seed{1}, [&](mpc::Context& party) { return InsecureDeal(party, model); },
        [&](mpc::Context& party, const mpc::ArithShare& weights) {
          const OwnRecords own = party.self() == declared.holder ? records : OwnRecords{};
          const auto logits = [&](mpc::Context& branch, const mpc::FixedShare& x) {
            return protocols::LocalMatrixProduct(branch, x.ring(), weights);
          };
          return protocols::Reshare(party, CountHeldOut(party, plan, declared, own, logits, kWidth));
        });
    EXPECT_EQ(outcome.cost, Figures(Then(CountHeldOutCost({}, plan, declared, 1, logits_cost, kWidth),
                                         protocols::ReshareCost(1))));
    const RingMatrix encoded = EncodeRecords(plan, records, AllRows(records), declared.rows);
    EXPECT_EQ(mpc::Signed(outcome.value(0, 0)), reference::PlainCorrect(plan, encoded, model) << 16);
  }
}

TEST(CheckRecords, WantsExactlyTheDeclaredNumberAtTheHolderAlone) {
  const HeldOut declared{.holder = 1, .rows = 20};
  const OwnRecords twenty = MakeRecords(SmallSettings(), 1, 20);
  const OwnRecords fewer = MakeRecords(SmallSettings(), 1, 19);
  const auto error = [&](const OwnRecords& records, int self) -> std::string {
    try {
      CheckRecords(declared, records, self, "evaluation", "evaluation.rows");
    } catch (const DataError& caught) {
      return caught.what();
    }
    return "none";
  };
  EXPECT_EQ(error(twenty, 1), "none");
  EXPECT_EQ(error({}, 0), "none");
  EXPECT_EQ(error(fewer, 1), "evaluation: found 19 records, expected the 20 of evaluation.rows");
  EXPECT_EQ(error(twenty, 2),
            "evaluation: found 20 records, expected none at party 2, which does not hold them");
}

}  // namespace
}  // namespace trefoil::ml
