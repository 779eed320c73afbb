#pragma once
#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "trefoil/session.h"
#include "trefoil/share.h"

/// What three parties compute on shares. Every function is called by all three, in the same order; it blocks
/// until this party has its part of the result. Costs are rounds, and words of 8 bytes an element that all
/// three send together. All throw NetworkError and ProtocolError where a peer fails, and ContractError,
/// before anything is sent, where shapes, fraction bits or ranges in the arguments do not fit.
namespace trefoil {

inline constexpr int kFractionBits = 16;

/// Two ways to compare with the same result: less traffic, or fewer rounds.
enum class Form { kBulk, kLatency };

struct Shape {
  Eigen::Index rows = 0;
  Eigen::Index cols = 0;
};

/// A matrix of party `owner` becomes shared, each number rounded to `fraction_bits` (0 to 60). Of the others
/// the shape is used, and their matrix is ignored. Throws DataError on a number that is not finite or beyond
/// 2^(61 - fraction_bits). Cost: 1 round, 1 word.
[[nodiscard]] Share Input(Session& session, int owner, const Matrix& own, Shape shape,
                          int fraction_bits = kFractionBits);

/// x + c for a public matrix of the same shape, the same at all three. Local. Throws DataError as Input.
[[nodiscard]] Share AddPublic(Session& session, const Share& x, const Matrix& c);

/// The product element by element, and the matrix product; the result has the larger number of fraction bits.
/// Pre:   |result| < 2^(62 - fraction bits of x - fraction bits of y).
/// Error: below 2^-(fraction bits of the result), by a coin whose mean is zero; none where either factor has
/// no
///        fraction bits, which also lifts the condition to 2^(63 - fraction bits).
/// Cost:  2 rounds, 8 words an element of the result; without fraction bits 1 round, 3 words.
[[nodiscard]] Share Multiply(Session& session, const Share& x, const Share& y);
[[nodiscard]] Share MultiplyMatrices(Session& session, const Share& x, const Share& y);

/// 1 where x < y, else 0, without fraction bits. Exact.
/// Pre:  |x - y| < 2^(63 - fraction_bits).
/// Cost: bulk 9 rounds, at most 12 words; latency 2 rounds, and two hundred words, most of them offline.
[[nodiscard]] Share Less(Session& session, const Share& x, const Share& y, Form form = Form::kBulk);

/// `one` where the bit is 1, `zero` where it is 0. Pre: `bits` is 0 or 1 without fraction bits, as of Less.
/// Exact.
/// Cost: 1 round, 3 words.
[[nodiscard]] Share Select(Session& session, const Share& bits, const Share& one, const Share& zero);

/// The largest element of each row, exactly: one column; and where it is: 1 there (at the first of equal
/// ones) and 0 elsewhere, without fraction bits. Pre: at least one column; |x - y| < 2^(63 - fraction_bits)
/// within a row.
/// Cost: for c columns at most ceil(log2 c) times 11 rounds (bulk) or 3 (latency); the place at most
/// ceil(log2 c) - 1 rounds more.
[[nodiscard]] Share RowMaximum(Session& session, const Share& x, Form form = Form::kBulk);
[[nodiscard]] Share RowArgMax(Session& session, const Share& x, Form form = Form::kBulk);

/// 1 / (1 + e^-x), for |x| <= bound, 0 < bound <= 64. Far beyond the bound the result means nothing. Error:
/// at most 0.005. Cost: 3 rounds. Source: docs/reference/protocols.md, "Trigonometric series".
[[nodiscard]] Share Sigmoid(Session& session, const Share& x, double bound = 64);
/// 1 / x for 2^lowest <= x <= 2^highest. Cost: at most 27 rounds (bulk), 14 (latency).
/// Source: docs/reference/protocols.md, "Reciprocal".
[[nodiscard]] Share Reciprocal(Session& session, const Share& x, int lowest, int highest,
                               Form form = Form::kBulk);
/// 1 / sqrt(x) for x > 0, of 8 to 24 fraction bits. Error: 0.009 % to 0.89 % below the true value, and
/// roundings.
/// Cost: 21 rounds (bulk), 8 (latency). Source: PEA (IEEE S&P 2023), Protocol 1.
[[nodiscard]] Share InverseSqrt(Session& session, const Share& x, Form form = Form::kBulk);

/// Opens x to all three, or to the parties of `to`; the others get nothing. `reason` says in a phrase why
/// those may know it: what noise it has, or that it is a result that the owners agreed on. It is kept in
/// session.openings(), and may not be empty. Whoever gets a value learns all that follows from it together
/// with its own data.
/// Cost: 1 round, 3 words; or 1 word an element and receiver.
[[nodiscard]] Matrix Reveal(Session& session, const Share& x, const std::string& reason);
[[nodiscard]] std::optional<Matrix> RevealTo(Session& session, const std::vector<int>& to, const Share& x,
                                             const std::string& reason);

/// Nobody passes before everybody has arrived. Cost: 1 round.
void Barrier(Session& session);

}  // namespace trefoil
