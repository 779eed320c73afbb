#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "ml/plan/step_plan.h"
#include "mpc/ring.h"
#include "tests/reference/plain_polynomial.h"

namespace trefoil::reference {

/// A DP-SGD step on factorised norms in plain integers, every truncation rounded down: what the secure step
/// must give bit for bit with exact truncation. Records are as ml/records.h encodes them: a row's x, its mask
/// bit, y, squared norm and, if it has one, its own weight.
class PlainIntegerStep {
 public:
  PlainIntegerStep(const ml::StepPlan& plan, mpc::RingMatrix records)
      : plan_(plan),
        records_(std::move(records)),
        features_(plan.settings.features + 1),
        f_(plan.settings.fraction_bits) {}

  /// Errors of the squared loss: logits, truncated and clamped, plus 1/2 in a single column, minus the
  /// labels. Of Huber's loss what is clamped is that difference.
  [[nodiscard]] mpc::RingMatrix Errors(const mpc::RingMatrix& weights) const {
    const mpc::Word middle = plan_.columns == 1 ? mpc::Word{1} << (f_ - 1) : 0;
    mpc::RingMatrix errors = records_.middleCols(features_, plan_.columns);
    for (mpc::Index row = 0; row < errors.rows(); ++row) {
      for (mpc::Index col = 0; col < errors.cols(); ++col) {
        const mpc::Word logit = (records_.row(row).leftCols(features_) * weights.col(col).transpose()).sum();
        const int row_bits = RowFractionBits(plan_.settings);
        const mpc::Word error = Error(mpc::Signed(logit) >> row_bits, middle - errors(row, col));
        errors(row, col) = OwnWeighted(ClassWeighted(error, row), row);
      }
    }
    return errors;
  }

  /// Of a plan with an adaptive clip: errors as the step clips them.
  [[nodiscard]] mpc::RingMatrix Scaled(const mpc::RingMatrix& errors, int clip_at) const {
    const mpc::Word scale = ClipScale(plan_.grid, clip_at);
    return errors.unaryExpr([scale](mpc::Word error) {
      return static_cast<mpc::Word>(mpc::Signed(scale * error) >> ml::kClipScaleBits);
    });
  }

  /// How many records with these errors are not shortened, less those that are, times 2^RowFractionBits.
  [[nodiscard]] mpc::Word Within(const mpc::RingMatrix& errors) const {
    mpc::Word sum = 0;
    for (mpc::Index row = 0; row < errors.rows(); ++row) {
      const mpc::Word mask = records_(row, features_ - 1);
      sum += SquaredNorm(errors, row) < plan_.clip.pieces.thresholds.front() ? mask : mpc::Word{0} - mask;
    }
    return sum;
  }

  /// What step `number` takes off the weights with these errors and this noise on the sum of clipped
  /// gradients, where the step before took off `before`; with an adaptive clip at this point of its grid.
  [[nodiscard]] mpc::RingMatrix Velocity(const mpc::RingMatrix& before, const mpc::RingMatrix& errors,
                                         const mpc::RingMatrix& noise, int number = 0,
                                         int clip_at = 0) const {
    mpc::RingMatrix sum = noise;
    for (mpc::Index row = 0; row < errors.rows(); ++row) {
      const std::int64_t factor = EvaluateRoundingDown(plan_.clip.pieces, SquaredNorm(errors, row));
      for (mpc::Index col = 0; col < errors.cols(); ++col) {
        const int dropped = f_ - ErrorFractionBits(plan_.settings);
        const std::int64_t clipped =
            (factor * mpc::Signed(errors(row, col))) >> (protocols::kClipFactorBits + dropped);
        sum.col(col) += records_.row(row).leftCols(features_).transpose() * static_cast<mpc::Word>(clipped);
      }
    }
    const int shift =
        RowFractionBits(plan_.settings) + ErrorFractionBits(plan_.settings) - f_ + plan_.step_size.exponent;
    const auto momentum = static_cast<mpc::Word>(std::floor(std::ldexp(plan_.settings.momentum, shift)));
    const auto truncated = [shift](const mpc::RingMatrix& x) -> mpc::RingMatrix {
      return x.unaryExpr(
          [shift](mpc::Word word) { return static_cast<mpc::Word>(mpc::Signed(word) >> shift); });
    };
    const mpc::RingMatrix scaled = MantissaAt(plan_, number, clip_at) * sum;
    const mpc::RingMatrix kept = momentum * before;
    return truncated(scaled + kept);
  }

 private:
  /// Of a row's gradient, at the resolution of the clip table.
  [[nodiscard]] std::int64_t SquaredNorm(const mpc::RingMatrix& errors, mpc::Index row) const {
    const mpc::Word squared = records_(row, features_ + plan_.columns) * errors.row(row).square().sum();
    return mpc::Signed(squared) >> plan_.clip.shift;
  }

  /// Of a truncated logit and what is added to it: 1/2, in a single column, less the label.
  [[nodiscard]] mpc::Word Error(std::int64_t logit, mpc::Word added) const {
    if (plan_.settings.loss != ml::Loss::kHuber)
      return static_cast<mpc::Word>(EvaluateRoundingDown(plan_.activation.clamp, logit)) + added;
    const auto bound = static_cast<std::int64_t>(std::floor(std::ldexp(plan_.settings.huber_threshold, f_)));
    return static_cast<mpc::Word>(std::clamp(logit + mpc::Signed(added), -bound, bound));
  }

  /// An error times the weight of its row's class, rounded down; that of padding, which is multiplied by
  /// zeros, is taken for 0.
  [[nodiscard]] mpc::Word ClassWeighted(mpc::Word error, mpc::Index row) const {
    const auto& weights = plan_.class_weights.of_class;
    if (weights.empty()) return error;
    mpc::Word weight = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const auto label = features_ + (plan_.columns == 1 ? 0 : static_cast<mpc::Index>(k));
      const bool set = records_(row, label) != 0;
      if (records_(row, features_ - 1) != 0 && set == (plan_.columns > 1 || k == 1)) weight = weights[k];
    }
    return static_cast<mpc::Word>(mpc::Signed(weight * error) >> plan_.class_weights.frac_bits);
  }

  /// That times the row's own weight, rounded down.
  [[nodiscard]] mpc::Word OwnWeighted(mpc::Word error, mpc::Index row) const {
    if (plan_.record_weights.largest == 0) return error;
    const mpc::Word weight = records_(row, records_.cols() - 1);
    return static_cast<mpc::Word>(mpc::Signed(weight * error) >> plan_.record_weights.frac_bits);
  }

  const ml::StepPlan& plan_;
  mpc::RingMatrix records_;
  mpc::Index features_;
  int f_;
};

}  // namespace trefoil::reference
