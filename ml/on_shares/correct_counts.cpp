#include "ml/on_shares/correct_counts.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ml/dpsgd/hidden_layers.h"
#include "ml/plan/step_privacy.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/functions/maximum.h"

namespace trefoil::ml {
namespace {

using mpc::AdditiveShare;
using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

/// Each row `times` times, one below the other.
RingMatrix RowsRepeated(const RingMatrix& x, Index times) {
  RingMatrix out(x.rows() * times, x.cols());
  for (Index k = 0; k < out.rows(); ++k) out.row(k) = x.row(k / times);
  return out;
}

/// A column a class: a single one tells class 1.
ArithShare LabelsOfClasses(const Batch& batch) {
  const ArithShare& labels = batch.y.ring();
  if (labels.cols() > 1) return labels;
  const ArithShare mask = Columns(WholeRows(batch).ring(), batch.x.cols() - 1, 1);
  return SideBySide(mask - labels, labels);
}

Index Classes(Index columns) { return std::max<Index>(columns, 2); }

}  // namespace

AdditiveShare Logits(mpc::Context& party, const StepPlan& plan, const mpc::FixedShare& x,
                     const mpc::FixedShare& weights) {
  if (IsNetwork(plan)) {
    Batch rows;
    rows.x = x;
    return RunForward(party, WithWholeRows(plan), rows, weights).logits;
  }
  return protocols::LocalMatrixProduct(party, x.ring(), weights.ring());
}

mpc::Cost LogitsCost(const StepPlan& plan, Index rows) {
  return IsNetwork(plan) ? RunForwardCost(WithWholeRows(plan), rows) : mpc::Cost();
}

Word DecisionWord(const StepPlan& plan) {
  if (plan.columns > 1) return 0;
  const double units = std::ldexp(DecisionLogit(plan.settings), 2 * plan.settings.fraction_bits);
  return static_cast<Word>(std::llround(units));
}

AdditiveShare AboveDecision(const mpc::Context& party, const StepPlan& plan, const AdditiveShare& logits) {
  const Word decision = party.self() == 0 ? DecisionWord(plan) : 0;
  return AdditiveShare(logits.part() - decision);
}

ArithShare PredictClasses(mpc::Context& party, const ArithShare& logits, int logit_width) {
  const ArithShare of_classes =
      logits.cols() > 1 ? logits : SideBySide(ArithShare::Zero(logits.rows(), 1), logits);
  return protocols::RowArgMax(party, of_classes, logit_width, protocols::Form::kBulk);
}

mpc::Cost PredictClassesCost(Index rows, Index columns, int logit_width) {
  return protocols::RowArgMaxCost(rows, Classes(columns), logit_width);
}

AdditiveShare CorrectCounts(mpc::Context& party, const Batch& batch, const AdditiveShare& logits,
                            int logit_width) {
  const Index rows = batch.x.rows();
  const Index columns = batch.y.cols();
  const Index models = logits.cols() / columns;
  Require(logits.rows() == rows && logits.cols() == models * columns,
          "CorrectCounts: the logits of every model for every row");
  const ArithShare shared = protocols::Reshare(party, logits);
  const ArithShare of_each = Reshaped(shared, rows * models, columns);  // row j K + k: model k on row j
  const ArithShare predicted = PredictClasses(party, of_each, logit_width);
  const ArithShare labels = LabelsOfClasses(batch);
  const ArithShare repeated(RowsRepeated(labels.own(), models), RowsRepeated(labels.next(), models));
  const AdditiveShare correct = protocols::LocalRowInnerProducts(party, predicted, repeated);
  const RingMatrix of_models = mpc::Reshaped(correct.part(), rows, models);
  return AdditiveShare(of_models.colwise().sum().transpose());
}

mpc::Cost CorrectCountsCost(Index rows, Index columns, Index models, int logit_width) {
  return Then(protocols::ReshareCost(rows * models * columns),
              PredictClassesCost(rows * models, columns, logit_width));
}

AdditiveShare ConfusionCounts(mpc::Context& party, const Batch& batch, const AdditiveShare& logits,
                              int logit_width) {
  Require(logits.rows() == batch.x.rows() && logits.cols() == batch.y.cols(),
          "ConfusionCounts: the logits of every row");
  const ArithShare predicted = PredictClasses(party, protocols::Reshare(party, logits), logit_width);
  const AdditiveShare table = protocols::LocalTransposedProduct(party, LabelsOfClasses(batch), predicted);
  return AdditiveShare(mpc::Reshaped(table.part(), table.rows() * table.cols(), 1));
}

mpc::Cost ConfusionCountsCost(Index rows, Index columns, int logit_width) {
  return Then(protocols::ReshareCost(rows * columns), PredictClassesCost(rows, columns, logit_width));
}

dp::Uint256 CountVariance(double sigma, std::uint64_t sensitivity) {
  return NoiseVariance(OnSigmaLattice(sigma), sensitivity, 1);
}

double CountDeviation(double sigma, std::uint64_t sensitivity) {
  const double deviation = std::sqrt(CountVariance(sigma, sensitivity).convert_to<double>());
  return std::floor(deviation * (1 - 1e-12));
}

StepNoise CountNoise(RandomStream stream, double sigma, std::uint64_t sensitivity, Index counts) {
  const dp::DiscreteGaussian sampler(CountVariance(sigma, sensitivity));
  StepNoise noise(counts, 1);
  for (Index k = 0; k < counts; ++k) noise.values()(k, 0) = static_cast<Word>(sampler.Sample(stream));
  return noise;
}

}  // namespace trefoil::ml
