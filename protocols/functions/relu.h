#pragma once
#include "mpc/cost.h"
#include "mpc/fixed_point.h"
#include "protocols/form.h"

namespace trefoil::protocols {

/// max(x, 0) and where it is x itself.
struct ReluResult {
  mpc::FixedShare values;    ///< at the scale of x
  mpc::ArithShare positive;  ///< 1 where x >= 0, else 0: the derivative, as ring elements without a scale
};

/// The rectifier of each element, exactly: no error and no coin.
/// Pre:    |x| < 2^(width - 1) as ring elements; every ring value at 64 bits. 2 <= width <= 64.
/// Cost:   bulk 10 rounds at 64 bits, latency 3; see ReluCost.
/// Throws: ContractError on the width, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] ReluResult Relu(mpc::Context& party, const mpc::FixedShare& x, int width = 64,
                              Form form = Form::kBulk);
[[nodiscard]] mpc::Cost ReluCost(mpc::Index count, int width = 64, Form form = Form::kBulk);

}  // namespace trefoil::protocols
