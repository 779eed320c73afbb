// Which machine code jumps on a secret, or takes an address from one: of the functions that make and evaluate
// keys. Run by valgrind (tests/constant_time/CMakeLists.txt); without it there is nothing to see.

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "base/secrets/constant_time.h"
#include "mpc/dcf/dcf.h"
#include "tests/constant_time/secrets.h"
#include "tests/support/instruction_sets.h"

namespace trefoil::mpc {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

class DcfConstantTimeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!IsWatched()) GTEST_SKIP() << "not run by valgrind";
  }
};

/// As the key generation had it once: the compiler may make a jump of it, and here it must.
[[gnu::noinline]] Word SignedByAJump(Word bit, Word value) {
  if ((bit & 1) != 0) {
    asm volatile("");  // keeps the jump a jump
    return Word{0} - value;
  }
  return value;
}

// What is looked for is found.
TEST_F(DcfConstantTimeTest, SeesAJumpAndAnAddressThatDependOnASecret) {
  RingMatrix secret = RingMatrix::Constant(1, 1, 5);
  RingMatrix table = RingMatrix::Zero(1, 64);
  MarkSecret(secret);
  EXPECT_GT(DependenciesIn([&] { (void)SignedByAJump(secret(0, 0), 7); }), 0U);
  EXPECT_GT(DependenciesIn([&] { table.data()[secret(0, 0) & 63] = 1; }), 0U);
  EXPECT_EQ(
      DependenciesIn([&] { table(0, 0) = Select(MaskOf(secret(0, 0)), 3, 4) + IsEqual(secret(0, 0), 5); }),
      0U);
}

TEST_F(DcfConstantTimeTest, MakesAndEvaluatesKeysWithEveryInstructionSet) {
  constexpr Index kKeys = 21;
  const DcfShape shape(20, {7, 0});
  for (const auto target : InstructionSets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const ScopedTarget scoped(target);
    std::mt19937_64 generator(1);
    RingMatrix points(1, kKeys);
    RingMatrix payloads(1, kKeys);
    std::array<std::vector<Block>, 2> roots;
    for (Index key = 0; key < kKeys; ++key) {
      points(0, key) = generator() & 0xFFFFF;
      payloads(0, key) = generator();
      for (auto& of_party : roots) of_party.push_back({.low = generator(), .high = generator()});
    }
    RingMatrix inputs(3, kKeys);
    for (Index row = 0; row < 3; ++row)
      inputs.row(row) =
          (points.row(0) + static_cast<Word>(row)).unaryExpr([](Word x) { return x & 0xFFFFF; });
    MarkSecret(points);
    MarkSecret(payloads);
    for (const auto& of_party : roots) MarkSecret(of_party);
    MarkPublic(inputs);
    DcfCorrections corrections;
    EXPECT_EQ(DependenciesIn([&] {
                corrections = DcfGenerate(shape, HashKey{1}, points, payloads, roots[0], roots[1]);
              }),
              0U);
    ThreadPool pool(1);
    for (const bool first : {true, false}) {
      EXPECT_EQ(DependenciesIn([&] {
                  (void)DcfEvaluate(pool, first, corrections, roots[first ? 0 : 1], inputs, {0, 7, 0});
                }),
                0U);
    }
  }
}

// Where a key has several thresholds, paths are planned by the opened values, which
// docs/explanation/threat_model.md says.
TEST_F(DcfConstantTimeTest, WalksKeysOfSeveralThresholdsByTheOpenedValues) {
  const DcfShape shape(20);
  const std::array<std::vector<Block>, 2> roots{{{{.low = 1, .high = 2}}, {{.low = 3, .high = 4}}}};
  const RingMatrix point = RingMatrix::Constant(1, 1, 77);
  const auto corrections = DcfGenerate(shape, HashKey{1}, point, point, roots[0], roots[1]);
  RingMatrix opened(3, 1);
  opened << 500, 400, 300;
  MarkSecret(opened);
  ThreadPool pool(1);
  EXPECT_GT(DependenciesIn([&] { (void)DcfEvaluate(pool, true, corrections, roots[0], opened); }), 0U);
}

}  // namespace
}  // namespace trefoil::mpc
