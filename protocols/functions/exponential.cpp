#include "protocols/functions/exponential.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace trefoil::protocols {
namespace {

constexpr int kKnotBits = 4;  // knots are multiples of 2^-4
constexpr int kCoefficientBits = 53;

/// e^x between two knots as a polynomial of the distance from the middle, never below e^x.
struct Piece {
  int start = 0;  ///< in knots
  int end = 0;
  int exponent = 0;  ///< coefficients stand for themselves times 2^(exponent - 53)
  std::vector<std::int64_t> coefficients;
};

/// Pieces from where e^x is 2^-accuracy_bits, or less, up to 24; a piece is above e^x by at most
/// 2^-accuracy_bits max(1, e^x).
struct Tier {
  int accuracy_bits = 0;
  std::vector<Piece> pieces;
};

const std::vector<Tier>& AllTiers() {
  static const std::vector<Tier> kTiers = {
#include "protocols/functions/exponential_pieces.inc"
  };
  return kTiers;
}

const Tier& TierFor(int accuracy_bits) {
  for (const Tier& tier : AllTiers()) {
    if (accuracy_bits <= tier.accuracy_bits) return tier;
  }
  throw ContractError("MakeExponentialTable: an accuracy of at most 25 bits");
}

/// `bits` fraction bits of x.
std::int64_t Units(double x, int bits) { return std::llround(std::ldexp(x, bits)); }
std::int64_t KnotUnits(int knot, int bits) { return std::int64_t{knot} << (bits - kKnotBits); }

/// A bound on sum |a_j| |u|^j over a piece, at the piece's own scale.
__int128 LargestValue(const Piece& piece) {
  __int128 sum = 0;
  __int128 power = 1;  // of the radius, in units of 2^-5 each
  for (std::size_t j = 0; j < piece.coefficients.size(); ++j) {
    const __int128 size = piece.coefficients[j] < 0 ? -piece.coefficients[j] : piece.coefficients[j];
    sum += ((size * power) >> ((kKnotBits + 1) * static_cast<int>(j))) + 1;
    power *= piece.end - piece.start;
  }
  return sum;
}

/// The largest scale of coefficients at which Horner's rule stays below 2^62 on every piece. The coefficients
/// are about e^c / j!, so no partial result, at most the sum over j >= k of them times r^(j - k), exceeds the
/// whole sum.
int LargestScale(const std::vector<Piece>& pieces, int input_bits) {
  int scale = kCoefficientBits;
  for (const Piece& piece : pieces) {
    scale = std::min(scale, kCoefficientBits - piece.exponent);
    const auto too_large = [&] {
      const int down = kCoefficientBits - piece.exponent - scale;
      return (LargestValue(piece) >> down) >= (__int128{1} << (62 - input_bits)) - 1;
    };
    while (too_large()) --scale;
  }
  return scale;
}

/// Units by which rounded coefficients (half a unit each) and the truncations of Horner's rule (less than one
/// unit each) can move the polynomial, up or down: less than 2 sum reach^j for |u| <= reach.
std::int64_t RoundingMargin(const Piece& piece) {
  const int reach = ((piece.end - piece.start) >> (kKnotBits + 1)) + 1;
  std::int64_t sum = 0;
  for (std::size_t j = 0; j < piece.coefficients.size(); ++j) sum = sum * reach + 1;
  return 2 * sum;
}

/// Coefficients at `scale`, raised by the margin.
std::vector<std::int64_t> Scaled(const Piece& piece, int scale) {
  const int down = kCoefficientBits - piece.exponent - scale;
  std::vector<std::int64_t> out;
  for (const std::int64_t a : piece.coefficients) {
    out.push_back(down == 0 ? a : (a + (std::int64_t{1} << (down - 1))) >> down);
  }
  out.front() += RoundingMargin(piece);
  return out;
}

/// The polynomial at u, by the same rule as on shares.
std::int64_t ValueAt(const std::vector<std::int64_t>& coefficients, std::int64_t u, int input_bits) {
  __int128 y = 0;
  for (std::size_t j = coefficients.size(); j-- > 0;) y = ((y * u) >> input_bits) + coefficients[j];
  return static_cast<std::int64_t>(y);
}

void RequireOptions(const ExponentialOptions& options) {
  Require(options.input_bits >= 8 && options.input_bits <= 24, "MakeExponentialTable: 8 to 24 input bits");
  Require(options.output_bits >= 1 && options.output_bits <= 32, "MakeExponentialTable: 1 to 32 output bits");
  Require(options.lowest >= -32 && options.highest <= 24 &&
              options.highest - options.lowest >= std::ldexp(1.0, -kKnotBits),
          "MakeExponentialTable: a range within -32 and 24");
}

/// Those that meet the range.
std::vector<Piece> PiecesWithin(const Tier& tier, std::int64_t lowest, std::int64_t highest, int bits) {
  std::vector<Piece> pieces;
  for (const Piece& piece : tier.pieces) {
    if (KnotUnits(piece.end, bits) > lowest && KnotUnits(piece.start, bits) < highest)
      pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace

ExponentialTable MakeExponentialTable(const ExponentialOptions& options) {
  RequireOptions(options);
  const int bits = options.input_bits;
  const Tier& tier = TierFor(options.accuracy_bits);
  const std::int64_t lowest = Units(options.lowest, bits);
  const std::int64_t highest = Units(options.highest, bits);
  const std::vector<Piece> pieces = PiecesWithin(tier, lowest, highest, bits);
  Require(!pieces.empty(), "MakeExponentialTable: a range where e^x is above its accuracy");
  const int scale = LargestScale(pieces, bits);
  Require(scale >= 10, "MakeExponentialTable: the largest result needs more bits than the ring has");

  PiecewisePolynomial f;
  std::int64_t margin = 0;
  const auto origin = [&](const Piece& piece) { return KnotUnits(piece.start + piece.end, bits) / 2; };
  const auto constant = [&](const Piece& piece, std::int64_t x) {
    std::vector<std::int64_t> coefficients(piece.coefficients.size(), 0);
    coefficients.front() = ValueAt(Scaled(piece, scale), x - origin(piece), bits);
    return coefficients;
  };
  const bool down_to_zero = lowest <= KnotUnits(tier.pieces.front().start, bits);
  f.coefficients.push_back(down_to_zero ? std::vector<std::int64_t>(pieces.front().coefficients.size(), 0)
                                        : constant(pieces.front(), lowest));
  f.origins.push_back(0);
  for (const Piece& piece : pieces) {
    f.thresholds.push_back(std::max(lowest, KnotUnits(piece.start, bits)));
    f.coefficients.push_back(Scaled(piece, scale));
    f.origins.push_back(origin(piece));
    margin = std::max(margin, RoundingMargin(piece));
  }
  f.thresholds.push_back(highest);
  f.coefficients.push_back(constant(pieces.back(), highest));
  f.origins.push_back(0);
  f.input_bits = bits;
  f.last_shift = scale + bits - options.output_bits;
  f.width = options.width;
  Require(f.last_shift >= 1, "MakeExponentialTable: more output bits than the coefficients have");
  return {.pieces = f,
          .output_bits = options.output_bits,
          .relative = std::ldexp(1.0, -tier.accuracy_bits),
          .absolute =
              std::ldexp(2.0 * static_cast<double>(margin), -scale) + std::ldexp(1.0, -options.output_bits)};
}

mpc::FixedShare Exponential(mpc::Context& party, const ExponentialTable& table, const mpc::FixedShare& x,
                            Form form) {
  Require(x.frac_bits() == table.pieces.input_bits, "Exponential: the scale that the table was made for");
  return {Evaluate(party, table.pieces, x.ring(), form), table.output_bits};
}

mpc::Cost ExponentialCost(const ExponentialTable& table, mpc::Index count, Form form) {
  return EvaluateCost(table.pieces, count, form);
}

}  // namespace trefoil::protocols
