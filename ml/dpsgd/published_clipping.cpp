#include "ml/dpsgd/published_clipping.h"

#include <cmath>

#include "ml/dpsgd/dp_sgd.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/functions/inverse_sqrt.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::FixedShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using protocols::Range;
using protocols::Rounding;

/// Column k of the result is column k / c of x (rows of the gradient matrix run over x's columns).
RingMatrix RepeatEach(const RingMatrix& x, Index times) {
  RingMatrix out(x.rows(), x.cols() * times);
  for (Index col = 0; col < x.cols(); ++col)
    out.middleCols(col * times, times) = x.col(col).replicate(1, times);
  return out;
}

/// The examples' gradients x_j (outer) e_j, a row each, at f bits.
ArithShare ExampleGradients(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                            const FixedShare& errors) {
  const ArithShare& x = WholeRows(batch).ring();
  const ArithShare rows{RepeatEach(x.own(), errors.cols()), RepeatEach(x.next(), errors.cols())};
  const ArithShare columns{errors.ring().own().replicate(1, x.cols()),
                           errors.ring().next().replicate(1, x.cols())};
  return protocols::MultiplyTruncate(party, rows, columns, batch.x.frac_bits(), Range::kSigned,
                                     plan.settings.truncation);
}

Word FixedClip(const StepPlan& plan) {
  return static_cast<Word>(std::floor(std::ldexp(plan.settings.clip, plan.settings.fraction_bits)));
}

}  // namespace

ArithShare ClipPublishedGradients(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                  const FixedShare& errors) {
  const int f = plan.settings.fraction_bits;
  const Rounding rounding = plan.settings.truncation;
  const Word one = Word{1} << f;
  // 5
  const ArithShare gradients = ExampleGradients(party, plan, batch, errors);
  // 8; one unit more keeps the squared norm positive and never below the exact one.
  const mpc::AdditiveShare product = protocols::LocalRowInnerProducts(party, gradients, gradients);
  const ArithShare squared =
      AddPublic(party, protocols::Truncate(party, product, f, Range::kSigned, rounding), Word{1});
  // 9
  const FixedShare inverse = protocols::InverseSqrtPublished(party, FixedShare(squared, f), rounding);
  const ArithShare factor =
      protocols::Truncate(party, FixedClip(plan) * inverse.ring(), f, Range::kSigned, rounding);
  // 10
  const mpc::BoolShare is_clip = protocols::LessThanZero(party, AddPublic(party, factor, Word{0} - one));
  // 11
  const ArithShare clipped = protocols::MultiplyTruncate(
      party, gradients, RepeatedColumn(factor, gradients.cols()), f, Range::kSigned, rounding);
  // 12
  const ArithShare chosen = Reshaped(protocols::BitToArith(party, is_clip), gradients.rows(), 1);
  return gradients +
         protocols::Multiply(party, RepeatedColumn(chosen, gradients.cols()), clipped - gradients);
}

ArithShare SumPublishedGradients(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                                 const FixedShare& errors) {
  const ArithShare clipped = ClipPublishedGradients(party, plan, batch, errors);
  // 13
  const ArithShare sum{clipped.own().colwise().sum(), clipped.next().colwise().sum()};
  return Reshaped(sum, batch.x.cols(), errors.cols());
}

mpc::Cost SumPublishedGradientsCost(const StepPlan& plan, Index batch_rows) {
  const int f = plan.settings.fraction_bits;
  const Rounding rounding = plan.settings.truncation;
  const Index elements = batch_rows * (plan.settings.features + 1) * plan.columns;
  const mpc::Cost of_elements = protocols::TruncateProductCost(elements, f, rounding);
  mpc::Cost cost = Then(of_elements, protocols::TruncateProductCost(batch_rows, f, rounding));
  cost = Then(cost, protocols::InverseSqrtPublishedCost(batch_rows, f, rounding));
  cost = Then(Then(cost, protocols::TruncateCost(batch_rows, f, rounding)), protocols::MsbCost(batch_rows));
  cost = Then(Then(cost, of_elements), protocols::BitToArithCost(1, batch_rows));
  return Then(cost, protocols::MultiplyCost(elements));
}

}  // namespace trefoil::ml
