#include "protocols/arithmetic/lift.h"

#include "base/error.h"
#include "protocols/arithmetic/truncate.h"

namespace trefoil::protocols {

// x 2^d modulo 2^64, with d = 64 - bits, is the number modulo 2^bits in the upper bits of a word; the lower
// ones are zeros, so that dividing by 2^d rounds nothing. What a truncation gives of words beyond its range
// is in the document's section.
mpc::ArithShare Lift(mpc::Context& party, const mpc::ArithShare& x, int bits) {
  Require(bits >= 2 && bits <= 63, "Lift: 2 to 63 bits");
  const int shift = 64 - bits;
  return Truncate(party, (mpc::Word{1} << shift) * x, shift);
}

mpc::Cost LiftCost(mpc::Index count) { return TruncateCost(count); }

}  // namespace trefoil::protocols
