#include "trefoil/protocols.h"

#include <algorithm>
#include <cmath>

#include "api/session_impl.h"
#include "base/error.h"
#include "mpc/fixed_point.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/comparison/threshold_comparison.h"
#include "protocols/functions/inverse_sqrt.h"
#include "protocols/functions/maximum.h"
#include "protocols/functions/reciprocal.h"
#include "protocols/functions/sigmoid.h"

namespace trefoil {
namespace {

const mpc::ArithShare& Ring(const Share& x) { return x.engine().ring(); }

Share Fixed(mpc::ArithShare ring, int fraction_bits) {
  return Share(mpc::FixedShare(std::move(ring), fraction_bits));
}

protocols::Form Inner(Form form) {
  return form == Form::kLatency ? protocols::Form::kLatency : protocols::Form::kBulk;
}

mpc::RingMatrix Encoded(const Matrix& values, int fraction_bits) {
  Require(fraction_bits >= 0 && fraction_bits <= 60, "0 to 60 fraction bits");
  return mpc::Encode(values, fraction_bits, std::ldexp(1.0, 61 - fraction_bits));
}

/// Keeps for the program what is about to be opened.
void Note(Session& session, const Share& x, const std::vector<int>& to, const std::string& reason) {
  Require(!reason.empty(), "a reason for which a value may be opened");
  session.impl().openings.push_back({.reason = reason, .elements = Ring(x).size(), .to = to});
}

}  // namespace

Share Input(Session& session, int owner, const Matrix& own, Shape shape, int fraction_bits) {
  Require(owner >= 0 && owner < net::kParties, "Input: owner 0, 1 or 2");
  return Over(session, [&](mpc::Context& context) {
    const Matrix mine = session.party() == owner ? own : Matrix();
    return Fixed(protocols::Input(context, owner, Encoded(mine, fraction_bits), {shape.rows, shape.cols}),
                 fraction_bits);
  });
}

Share AddPublic(Session& session, const Share& x, const Matrix& c) {
  return Over(session, [&](mpc::Context& context) {
    return Fixed(mpc::AddPublic(context, Ring(x), Encoded(c, x.fraction_bits())), x.fraction_bits());
  });
}

Share Multiply(Session& session, const Share& x, const Share& y) {
  return Over(session, [&](mpc::Context& context) {
    const auto [fewer, more] = std::minmax({x.fraction_bits(), y.fraction_bits()});
    if (fewer == 0) return Fixed(protocols::Multiply(context, Ring(x), Ring(y)), more);
    return Fixed(protocols::MultiplyTruncate(context, Ring(x), Ring(y), fewer), more);
  });
}

Share MultiplyMatrices(Session& session, const Share& x, const Share& y) {
  return Over(session, [&](mpc::Context& context) {
    const auto [fewer, more] = std::minmax({x.fraction_bits(), y.fraction_bits()});
    if (fewer == 0) return Fixed(protocols::MatMul(context, Ring(x), Ring(y)), more);
    return Fixed(protocols::MatMulTruncate(context, Ring(x), Ring(y), fewer), more);
  });
}

Share Less(Session& session, const Share& x, const Share& y, Form form) {
  return Over(session, [&](mpc::Context& context) {
    const auto difference = (x - y).engine().ring();
    const auto bits = form == Form::kLatency
                          ? protocols::BelowThresholds(context, difference, {0})
                          : protocols::BitToArith(context, protocols::LessThanZero(context, difference));
    return Fixed(mpc::Reshaped(bits, x.rows(), x.cols()), 0);
  });
}

Share Select(Session& session, const Share& bits, const Share& one, const Share& zero) {
  Require(bits.fraction_bits() == 0, "Select: bits without fraction bits");
  return zero + Multiply(session, bits, one - zero);
}

Share RowMaximum(Session& session, const Share& x, Form form) {
  return Over(session, [&](mpc::Context& context) {
    return Fixed(protocols::RowMaximum(context, Ring(x), 64, Inner(form)), x.fraction_bits());
  });
}

Share RowArgMax(Session& session, const Share& x, Form form) {
  return Over(session, [&](mpc::Context& context) {
    return Fixed(protocols::RowArgMax(context, Ring(x), 64, Inner(form)), 0);
  });
}

Share Sigmoid(Session& session, const Share& x, double bound) {
  return Over(session, [&](mpc::Context& context) {
    const auto words = x.fraction_bits() <= protocols::kMostBitsOfHalfWords ? protocols::SeriesWords::kHalf
                                                                            : protocols::SeriesWords::kWhole;
    return Share(
        protocols::Sigmoid(context, x.engine(), protocols::SigmoidSeriesFor(bound), {.words = words}));
  });
}

Share Reciprocal(Session& session, const Share& x, int lowest, int highest, Form form) {
  return Over(session, [&](mpc::Context& context) {
    return Share(protocols::Reciprocal(context, x.engine(), {.lowest_log2 = lowest, .highest_log2 = highest},
                                       Inner(form)));
  });
}

Share InverseSqrt(Session& session, const Share& x, Form form) {
  return Over(session, [&](mpc::Context& context) {
    return Share(protocols::InverseSqrt(context, x.engine(), Inner(form)));
  });
}

Matrix Reveal(Session& session, const Share& x, const std::string& reason) {
  Note(session, x, {0, 1, 2}, reason);
  return Over(session, [&](mpc::Context& context) {
    return mpc::Decode(protocols::Reveal(context, Ring(x), protocols::ReleaseReason::kEmbeddingProgram),
                       x.fraction_bits());
  });
}

std::optional<Matrix> RevealTo(Session& session, const std::vector<int>& to, const Share& x,
                               const std::string& reason) {
  for (const int party : to) Require(party >= 0 && party < net::kParties, "RevealTo: parties 0, 1 and 2");
  Note(session, x, to, reason);
  return Over(session, [&](mpc::Context& context) -> std::optional<Matrix> {
    const auto opened =
        protocols::RevealToEach(context, to, Ring(x), protocols::ReleaseReason::kEmbeddingProgram);
    if (!opened) return {};
    return mpc::Decode(*opened, x.fraction_bits());
  });
}

void Barrier(Session& session) {
  Over(session, [](mpc::Context& context) { protocols::Barrier(context); });
}

}  // namespace trefoil
