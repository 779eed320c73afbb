#pragma once
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::protocols {

/// What rows have to be that somebody handed in for whom nobody answers. A row is its features, a mask bit
/// (1: a record, 0: padding) and the words of its label, side by side; mask bit and label have no scale.
struct RowBounds {
  mpc::Index features = 1;
  mpc::Word largest_squared_norm = 0;  ///< of the features, in their own units
  mpc::Index label_words = 1;
  mpc::Word largest_label =
      1;  ///< of a label of one word: from 0 to this; of more words one is 1, the others are 0
};

/// Which rows are not as the bounds say, one shared bit a row; nothing opens. A row is as they say if and
/// only if its mask bit is 0 or 1; every word of its label, modulo 2^64, is from 0 to largest_label times the
/// mask bit; with more than one word they add up to the mask bit; and the sum of squares of its features is
/// at most largest_squared_norm times the mask bit. So padding is zeros throughout. Mask bits and labels may
/// be any words of the ring.
///
/// Pre:     features + 1 + label_words columns; features whose squares add up to less than 2^62 among the
///          integers, as those of Lift do where features times 2^(2 bits) <= 2^62; largest_squared_norm <
///          2^62; 1 <= largest_label < 2^62, and 1 with more than one word; at least one feature and one
///          word.
/// Cost:    a product a row, then a comparison of 64 bits for each of 3 + 2 label_words numbers (2 more with
///          more than one word), rows rounded up to a multiple of 64, then an OR of their signs: 11 rounds at
///          most with one word, 13 with ten.
/// Throws:  ContractError if shape or bounds are out of range, before anything is sent; NetworkError,
///          ProtocolError.
/// Secrecy: as re-share, comparison and AND; nothing depends on the rows but shares.
/// Source:  docs/reference/protocols.md, "Checks of rows".
[[nodiscard]] mpc::BoolShare FaultyRows(mpc::Context& party, const RowBounds& bounds,
                                        const mpc::ArithShare& rows);
[[nodiscard]] mpc::Cost FaultyRowsCost(const RowBounds& bounds, mpc::Index rows);
/// Computation of its comparisons, as ComparisonSeconds (protocols/cost_model.h).
[[nodiscard]] double FaultyRowsSeconds(const RowBounds& bounds, mpc::Index rows);

}  // namespace trefoil::protocols
