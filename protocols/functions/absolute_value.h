#pragma once
#include "mpc/cost.h"
#include "mpc/share.h"
#include "protocols/form.h"

namespace trefoil::protocols {

/// |x| of each element, read as signed numbers, exactly: no error and no coin.
/// Pre:    |x| < 2^(width - 1); every ring value at 64 bits, where |-2^63| is -2^63. 2 <= width <= 64.
/// Cost:   AbsoluteValueCost, that of Relu: bulk 11 rounds at 64 bits, latency 3.
/// Throws: ContractError on the width, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] mpc::ArithShare AbsoluteValue(mpc::Context& party, const mpc::ArithShare& x, int width = 64,
                                            Form form = Form::kBulk);
[[nodiscard]] mpc::Cost AbsoluteValueCost(mpc::Index count, int width = 64, Form form = Form::kBulk);

}  // namespace trefoil::protocols
