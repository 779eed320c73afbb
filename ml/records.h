#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/secrets/random.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/dpsgd/training.h"
#include "ml/plan/step_plan.h"
#include "protocols/arithmetic/input.h"

namespace trefoil::ml {

/// A slot of a batch without a record.
inline constexpr std::int64_t kPadding = -1;

/// A row's features on the lattice of `fraction_bits`, one word each, scaled down to the norm `largest` where
/// needed and rounded towards zero, so that the lattice norm is no larger. Returns the sum of their squares.
/// Throws DataError, naming the row from 1, where one is not finite.
std::uint64_t EncodeFeatures(const Eigen::RowVectorXd& features, std::int64_t row, double largest,
                             int fraction_bits, std::span<mpc::Word> out);

/// The most that the squares of a row's features of EncodeFeatures add up to, rounded downwards: no row is
/// longer than `largest`, and those that EncodeFeatures scales down are shorter by more than a rounding. Pre:
/// below 2^62.
[[nodiscard]] std::uint64_t LargestSquaredNorm(double largest, int fraction_bits);
/// The least whole number whose square is no smaller: a bound on the norm of what LargestSquaredNorm bounds.
/// Pre: at most 2^62.
[[nodiscard]] std::uint64_t LargestNorm(std::uint64_t largest_squared_norm);

/// For each of `height` slots the record that is read for it: rows[k], or some other of those that are `held`
/// where that is kPadding or there is none; kPadding for all where none is held. So as many are read however
/// many were drawn, and they lie as far apart in memory or in a file as those.
[[nodiscard]] std::vector<std::int64_t> RowsToRead(const std::vector<std::int64_t>& rows, std::int64_t held,
                                                   std::int64_t height);

/// A party's own records as it inputs them: slot k holds record rows[k], or zeros where that is kPadding or
/// there is none up to `height`; in place of those it encodes others of its records and throws them away, so
/// that the time does not depend on how many slots have one. Columns: x (p), the mask bit, y (c), the squared
/// row norm and, where the plan has such, the record's own weight, to the nearest number of its lattice, 0 of
/// records without, which are held out; and, with MaskBitsBeside, the mask bit at f bits. A target is rounded
/// to the nearest number of the lattice, from 0 to 1. A row's lattice norm never exceeds R: it is scaled down
/// to it where needed, and rounded towards zero. Throws: DataError on a value that is not finite or a class,
/// target or weight out of range, of the records listed or of another.
[[nodiscard]] mpc::RingMatrix EncodeRecords(const StepPlan& plan, const OwnRecords& own,
                                            const std::vector<std::int64_t>& rows, std::int64_t height);

/// The slots of a whole batch, for those who encode it piece by piece. Were it chosen for each piece by
/// itself what is read in place of padding, it would tell how many were drawn: a piece of padding alone would
/// always read the same.
struct BatchSlots {
  BatchSlots() = default;
  /// `held`: how many records the owner has.
  BatchSlots(std::vector<std::int64_t> of_batch, std::int64_t held)
      : rows(std::move(of_batch)), read(RowsToRead(rows, held, static_cast<std::int64_t>(rows.size()))) {}

  std::vector<std::int64_t> rows;  ///< kPadding where there is no record
  std::vector<std::int64_t> read;  ///< RowsToRead
};

/// The same of slots [first, first + count).
[[nodiscard]] mpc::RingMatrix EncodeRecords(const StepPlan& plan, const OwnRecords& own,
                                            const BatchSlots& slots, std::int64_t first, std::int64_t count);

/// Rows `first` to `first` + count - 1 of `own` and their mask bits alone, (p + 1) columns, then zeros up to
/// `height`, in a time as EncodeRecords. Labels are not used. Throws: DataError as EncodeRecords.
[[nodiscard]] mpc::RingMatrix EncodeRows(const StepPlan& plan, const OwnRecords& own, std::int64_t first,
                                         std::int64_t count, std::int64_t height);

/// Columns of EncodeRecords.
[[nodiscard]] mpc::Index EncodedColumns(const StepPlan& plan);

/// A party's columns of the rows, where the partition is vertical, as it inputs them: slots as
/// EncodeRecords(). Columns: x (its features), the squared norm of these; at the party that holds the labels,
/// whose squared norm counts the mask bit, also the mask bit, y (c) and the record's own weight, if any. A
/// block is scaled down to its bound (BlockNorms) where needed, and rounded towards zero; the squared norms
/// of a row, rounded up, add up to at most R^2 + 1. Throws as EncodeRecords().
[[nodiscard]] mpc::RingMatrix EncodeBlock(const StepPlan& plan, int owner, const OwnRecords& own,
                                          const std::vector<std::int64_t>& rows, std::int64_t height);

/// Columns of EncodeBlock.
[[nodiscard]] mpc::Index BlockColumns(const StepPlan& plan, int owner);

/// The parties' shared blocks as records that EncodeRecords() might have made. Local.
[[nodiscard]] mpc::ArithShare JoinBlocks(const StepPlan& plan, const std::array<mpc::ArithShare, 3>& blocks);

/// How many columns of EncodeRecords() become a batch's x, y, squared norms and, where the plan has such,
/// weights and mask bits, in this order.
[[nodiscard]] std::vector<mpc::Index> BatchWidths(const StepPlan& plan);

/// A batch of its parts, which are as wide as BatchWidths() says; with narrow rows of all but the first.
[[nodiscard]] Batch BatchOf(const StepPlan& plan, std::vector<mpc::ArithShare> parts);
[[nodiscard]] Batch BatchOf(const StepPlan& plan, mpc::PackedShare narrow_x,
                            std::vector<mpc::ArithShare> others);

/// Splits shared encoded records, in matrices that stand one below the other, into the parts of a batch.
[[nodiscard]] Batch ToBatch(const StepPlan& plan, std::span<const mpc::ArithShare> encoded);
[[nodiscard]] inline Batch ToBatch(const StepPlan& plan, const mpc::ArithShare& encoded) {
  return ToBatch(plan, std::span(&encoded, 1));
}

/// Rows from `rows` dropped at random until there are at most `most`.
[[nodiscard]] std::vector<std::int64_t> CutTo(RandomStream& coins, std::vector<std::int64_t> rows,
                                              std::int64_t most);

/// Each of `count` rows with probability `rate` (to 2^-64) by private coins; above `most`, rows are dropped
/// at random.
[[nodiscard]] std::vector<std::int64_t> DrawRows(RandomStream& coins, std::int64_t count, double rate,
                                                 std::int64_t most);

/// The rows of each group with probability `rate` (to 2^-64), all of a group or none, by private coins; above
/// `most`, rows are dropped at random. `groups`: of each row, any numbers from 0 up to less than the number
/// of rows.
[[nodiscard]] std::vector<std::int64_t> DrawGroups(RandomStream& coins,
                                                   const std::vector<std::int64_t>& groups, double rate,
                                                   std::int64_t most);

/// The rows in slots that are drawn uniformly, the other of `height` slots being padding. The coins of
/// truncations are known by slot; with private slots, two data sets that differ by a record give the same
/// distribution of all other rows over coins (docs/explanation/privacy.md).
[[nodiscard]] std::vector<std::int64_t> PlaceRows(RandomStream& coins, std::vector<std::int64_t> rows,
                                                  std::int64_t height);

}  // namespace trefoil::ml
