#include "protocols/functions/relu.h"

#include "protocols/arithmetic/multiply.h"
#include "protocols/functions/piecewise_polynomial.h"

namespace trefoil::protocols {
namespace {

/// [x >= 0].
PiecewisePolynomial Step(int width) {
  return {.thresholds = {0}, .coefficients = {{0}, {1}}, .input_bits = 0, .last_shift = 0, .width = width};
}

}  // namespace

ReluResult Relu(mpc::Context& party, const mpc::FixedShare& x, int width, Form form) {
  const mpc::ArithShare positive = Reshaped(LookUp(party, Step(width), x.ring(), form), x.rows(), x.cols());
  return {.values = {Multiply(party, positive, x.ring()), x.frac_bits()}, .positive = positive};
}

mpc::Cost ReluCost(mpc::Index count, int width, Form form) {
  return Then(LookUpCost(Step(width), count, form), MultiplyCost(count));
}

}  // namespace trefoil::protocols
