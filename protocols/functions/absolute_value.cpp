#include "protocols/functions/absolute_value.h"

#include "protocols/functions/relu.h"

namespace trefoil::protocols {

mpc::ArithShare AbsoluteValue(mpc::Context& party, const mpc::ArithShare& x, int width, Form form) {
  const auto positive_part = Relu(party, mpc::FixedShare(x, 0), width, form).values.ring();
  return mpc::Word{2} * positive_part - x;  // |x| = 2 max(x, 0) - x
}

mpc::Cost AbsoluteValueCost(mpc::Index count, int width, Form form) { return ReluCost(count, width, form); }

}  // namespace trefoil::protocols
