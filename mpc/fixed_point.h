#pragma once
#include <Eigen/Core>

#include "mpc/share.h"

namespace trefoil::mpc {

/// Shares of fixed-point numbers: the ring element x stands for Signed(x) / 2^frac_bits.
class FixedShare {
 public:
  FixedShare() = default;
  /// Pre: 0 <= frac_bits <= 62.
  FixedShare(ArithShare ring, int frac_bits);

  [[nodiscard]] const ArithShare& ring() const { return ring_; }
  [[nodiscard]] int frac_bits() const { return frac_bits_; }
  [[nodiscard]] Index rows() const { return ring_.rows(); }
  [[nodiscard]] Index cols() const { return ring_.cols(); }

  /// Throw ContractError on different scales or shapes.
  friend FixedShare operator+(const FixedShare& a, const FixedShare& b);
  friend FixedShare operator-(const FixedShare& a, const FixedShare& b);

 private:
  ArithShare ring_;
  int frac_bits_ = 0;
};

/// round(value * 2^frac_bits), ties away from zero.
/// Throws DataError on NaN, infinity, or |value| above `bound`; ContractError where bound * 2^frac_bits
/// reaches 2^62.
[[nodiscard]] Word Encode(double value, int frac_bits, double bound);
[[nodiscard]] RingMatrix Encode(const Eigen::Ref<const Eigen::MatrixXd>& values, int frac_bits, double bound);

[[nodiscard]] double Decode(Word word, int frac_bits);
[[nodiscard]] Eigen::MatrixXd Decode(const RingMatrix& words, int frac_bits);

}  // namespace trefoil::mpc
