#include "mpc/fixed_point.h"

#include <cmath>
#include <utility>

#include "base/error.h"

namespace trefoil::mpc {
namespace {

void RequireSameScale(const FixedShare& a, const FixedShare& b) {
  Require(a.frac_bits() == b.frac_bits(), "fixed-point shares of different scales");
}

}  // namespace

FixedShare::FixedShare(ArithShare ring, int frac_bits) : ring_(std::move(ring)), frac_bits_(frac_bits) {
  Require(frac_bits >= 0 && frac_bits <= 62, "FixedShare: 0 to 62 fraction bits");
}

FixedShare operator+(const FixedShare& a, const FixedShare& b) {
  RequireSameScale(a, b);
  return {a.ring_ + b.ring_, a.frac_bits_};
}

FixedShare operator-(const FixedShare& a, const FixedShare& b) {
  RequireSameScale(a, b);
  return {a.ring_ - b.ring_, a.frac_bits_};
}

Word Encode(double value, int frac_bits, double bound) {
  Require(frac_bits >= 0 && std::ldexp(bound, frac_bits) < std::ldexp(1.0, 62),
          "Encode: the range reaches 2^62");
  if (!std::isfinite(value)) throw DataError("a value to be encoded is not a finite number");
  if (std::abs(value) > bound) throw DataError("a value to be encoded is beyond its declared range");
  return static_cast<Word>(std::llround(std::ldexp(value, frac_bits)));
}

RingMatrix Encode(const Eigen::Ref<const Eigen::MatrixXd>& values, int frac_bits, double bound) {
  RingMatrix out(values.rows(), values.cols());
  for (Index row = 0; row < values.rows(); ++row) {
    for (Index col = 0; col < values.cols(); ++col)
      out(row, col) = Encode(values(row, col), frac_bits, bound);
  }
  return out;
}

double Decode(Word word, int frac_bits) { return std::ldexp(static_cast<double>(Signed(word)), -frac_bits); }

Eigen::MatrixXd Decode(const RingMatrix& words, int frac_bits) {
  Eigen::MatrixXd out(words.rows(), words.cols());
  for (Index row = 0; row < words.rows(); ++row) {
    for (Index col = 0; col < words.cols(); ++col) out(row, col) = Decode(words(row, col), frac_bits);
  }
  return out;
}

}  // namespace trefoil::mpc
