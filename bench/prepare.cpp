#include "bench/prepare.h"

#include "base/random.h"
#include "protocols/arithmetic/input.h"

namespace trefoil::bench {

using mpc::Index;
using mpc::RingMatrix;

RingMatrix RandomNumbers(Index rows, Index cols, int bits, bool positive) {
  RandomStream stream = RandomStream::FromSystem();
  RingMatrix values(rows, cols);
  for (Index k = 0; k < values.size(); ++k) {
    const mpc::Word word = stream.NextWord() >> (63 - bits);
    values.data()[k] = positive ? (word >> 1) + 1 : word - (mpc::Word{1} << bits);
  }
  return values;
}

mpc::ArithShare RandomShare(mpc::Context& party, Index rows, Index cols, int bits, bool positive) {
  const RingMatrix own = party.self() == 0 ? RandomNumbers(rows, cols, bits, positive) : RingMatrix();
  return protocols::Input(party, 0, own, {rows, cols});
}

mpc::BitMatrix RandomBits(Index planes, Index count) {
  return mpc::ToPlanes(RandomNumbers(count, 1, 63), static_cast<int>(planes));
}

mpc::BoolShare RandomBitShare(mpc::Context& party, Index planes, Index count) {
  return protocols::InputBits(party, 0, RandomBits(planes, count), planes, count);
}

protocols::PiecewisePolynomial EightLinearPieces() {
  protocols::PiecewisePolynomial f;
  for (int k = 1; k < 8; ++k) f.thresholds.push_back(k);
  f.coefficients.assign(8, {0, 0});
  f.input_bits = kFractionBits;
  f.last_shift = kFractionBits;
  return f;
}

protocols::LeadingBitTables SixteenLeadingBits() {
  return {.lowest = 8, .tables = {std::vector<mpc::Word>(16, 0)}};
}

protocols::SmallTables TableOf256() { return {.bits = 8, .tables = {std::vector<mpc::Word>(256, 0)}}; }

}  // namespace trefoil::bench
