#include "ml/batches/deposited_rows.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "ml/records.h"
#include "protocols/arithmetic/lift.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/truncate.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::Word;
using protocols::Range;
using protocols::Rounding;

/// From the squares of features to row_norm_bits.
int NormShift(const StepPlan& plan) { return 2 * plan.settings.fraction_bits - plan.row_norm_bits; }

/// Squared norms with the mask bit, rounded up as the norms of a party's own records are: by adding what
/// lacks one unit to a unit, to records alone, before it is rounded down.
ArithShare SquaredNorms(mpc::Context& party, const StepPlan& plan, const ArithShare& features,
                        const ArithShare& mask) {
  const Word one = Word{1} << plan.settings.fraction_bits;
  const Word upwards = (Word{1} << NormShift(plan)) - 1;
  const mpc::AdditiveShare squared =
      protocols::LocalRowInnerProducts(party, features, features) + (one * one + upwards) * ToAdditive(mask);
  return protocols::Truncate(party, squared, NormShift(plan), Range::kNonNegative, Rounding::kExact);
}

ArithShare LabelsOf(mpc::Context& party, const StepPlan& plan, const ArithShare& labels,
                    const ArithShare& mask) {
  if (!plan.settings.targets) return (Word{1} << plan.settings.fraction_bits) * labels;
  return RoundTargets(party, labels, mask, plan.settings.fraction_bits);
}

}  // namespace

ArithShare RoundTargets(mpc::Context& party, const ArithShare& targets, const ArithShare& mask,
                        int fraction_bits) {
  const int shift = kTargetBits - fraction_bits;
  if (shift <= 0) return targets;
  const Word half = Word{1} << (shift - 1);  // to the nearest
  return protocols::Truncate(party, targets + half * mask, shift, Range::kNonNegative, Rounding::kExact);
}

mpc::Cost RoundTargetsCost(Index rows, int fraction_bits) {
  const int shift = kTargetBits - fraction_bits;
  return shift <= 0 ? mpc::Cost() : protocols::TruncateCost(rows, shift, Rounding::kExact);
}

Index DepositedColumns(const StepPlan& plan) { return plan.settings.features + 1 + plan.columns; }

int DepositedFeatureBits(double row_norm, int fraction_bits) {
  const double largest = std::ldexp(row_norm, fraction_bits);
  int bits = 3;
  while (bits < 31 && largest >= std::ldexp(1.0, bits - 2)) ++bits;
  return bits;
}

bool DepositedNormsFit(std::int64_t features, double row_norm, int fraction_bits) {
  const int bits = DepositedFeatureBits(row_norm, fraction_bits);
  const double norms = std::ldexp(static_cast<double>(features) + 1, 2 * bits + 2);
  return std::ldexp(row_norm, fraction_bits) < std::ldexp(1.0, bits - 2) && norms < 0x1p63;
}

std::optional<int> MostDepositedBits(std::int64_t features, double row_norm, int least, int most) {
  for (int bits = most; bits >= least; --bits)
    if (DepositedNormsFit(features, row_norm, bits)) return bits;
  return {};
}

ArithShare LiftDeposited(mpc::Context& party, const StepPlan& plan, const ArithShare& rows) {
  Require(rows.cols() == DepositedColumns(plan), "LiftDeposited: features, a mask bit and a label");
  const Index features = plan.settings.features;
  const int bits = DepositedFeatureBits(plan.settings.row_norm, plan.settings.fraction_bits);
  return SideBySide(protocols::Lift(party, Columns(rows, 0, features), bits),
                    Columns(rows, features, rows.cols() - features));
}

mpc::Cost LiftDepositedCost(const StepPlan& plan, Index rows) {
  return protocols::LiftCost(rows * plan.settings.features);
}

ArithShare EncodeDeposited(mpc::Context& party, const StepPlan& plan, const ArithShare& rows) {
  Require(rows.cols() == DepositedColumns(plan), "EncodeDeposited: features, a mask bit and a label");
  const Index features = plan.settings.features;
  const ArithShare x = Columns(rows, 0, features);
  const ArithShare mask = Columns(rows, features, 1);
  const ArithShare y = LabelsOf(party, plan, Columns(rows, features + 1, plan.columns), mask);
  const ArithShare norms = SquaredNorms(party, plan, x, mask);
  return SideBySide(SideBySide(x, (Word{1} << plan.settings.fraction_bits) * mask), SideBySide(y, norms));
}

mpc::Cost EncodeDepositedCost(const StepPlan& plan, Index rows) {
  const mpc::Cost norms = protocols::TruncateProductCost(rows, NormShift(plan), Rounding::kExact);
  if (!plan.settings.targets) return norms;
  return Then(RoundTargetsCost(rows, plan.settings.fraction_bits), norms);
}

std::vector<ArithShare> EncodeAllDeposited(mpc::Context& party, const StepPlan& plan,
                                           std::vector<ArithShare> deposited, Index height) {
  std::vector<ArithShare> encoded;
  Index taken = 0;
  for (ArithShare& rows : deposited) {
    encoded.push_back(EncodeDeposited(party, plan, std::exchange(rows, {})));
    taken += encoded.back().rows();
  }
  Require(taken <= height, "EncodeAllDeposited: at most as many rows as the height");
  if (taken < height) encoded.push_back(ArithShare::Zero(height - taken, EncodedColumns(plan)));
  return encoded;
}

Batch BatchOfDeposited(mpc::Context& party, const StepPlan& plan, std::vector<ArithShare> deposited) {
  return ToBatch(plan, EncodeAllDeposited(party, plan, std::move(deposited), plan.batch_rows));
}

}  // namespace trefoil::ml
