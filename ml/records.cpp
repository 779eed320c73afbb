#include "ml/records.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "dp/mechanisms/bernoulli.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

/// Below 1 by more than the roundings of a double-precision norm, so that the lattice norm stays within the
/// bound.
constexpr double kInward = 1 - 1e-12;

/// Writes the row's values on the lattice of rows, scaled down to `largest` where needed, and returns the sum
/// of their squares, at twice the bits.
std::uint64_t EncodeRow(const StepPlan& plan, const OwnRecords& own, Index row, double largest,
                        RingMatrix& out, Index to) {
  const Eigen::RowVectorXd features = own.Row(row).cast<double>();
  return EncodeFeatures(features, row, largest, RowFractionBits(plan.settings),
                        std::span(&out(to, 0), static_cast<std::size_t>(features.size())));
}

/// The mask bit of a record.
Word OneOf(const StepPlan& plan) { return Word{1} << RowFractionBits(plan.settings); }

/// From twice the bits of rows to row_norm_bits, which are no more, upwards.
Word RoundedUp(const StepPlan& plan, std::uint64_t squared) {
  const int shift = 2 * RowFractionBits(plan.settings) - plan.row_norm_bits;
  return (squared + ((std::uint64_t{1} << shift) - 1)) >> shift;
}

/// A target on the lattice of the labels, to the nearest: from 0 to 1.
Word EncodeTarget(const StepPlan& plan, int steps, std::int64_t row) {
  if (steps < 0 || steps > 1 << kTargetBits)
    throw DataError("record " + std::to_string(row + 1) + ": found a target out of its range");
  const int shift = kTargetBits - plan.settings.fraction_bits;
  return static_cast<Word>(shift == 0 ? steps : (steps + (1 << (shift - 1))) >> shift);
}

/// 1 where records have weights of their own, which then are a column.
Index WeightColumns(const StepPlan& plan) { return plan.record_weights.largest > 0 ? 1 : 0; }

/// 1 where rows have their mask bits beside them, which then are a column.
Index MaskColumns(const StepPlan& plan) { return MaskBitsBeside(plan) ? 1 : 0; }

/// A record's own weight in column `col`, if there are such; zero of records without, which are not trained
/// on.
void EncodeWeight(const StepPlan& plan, const OwnRecords& own, std::int64_t row, RingMatrix& out, Index to,
                  Index col) {
  if (WeightColumns(plan) == 0 || own.weights.empty()) return;
  const double weight = own.weights[static_cast<std::size_t>(row)];
  if (!(weight >= 0 && weight <= *plan.settings.max_record_weight))
    throw DataError("record " + std::to_string(row + 1) + ": found a weight out of its range");
  out(to, col) = static_cast<Word>(std::llround(std::ldexp(weight, plan.record_weights.frac_bits)));
}

/// The mask bit and the label of a row, from column `first` on.
void EncodeLabel(const StepPlan& plan, const OwnRecords& own, std::int64_t row, RingMatrix& out, Index to,
                 Index first) {
  const Word one = Word{1} << plan.settings.fraction_bits;
  out(to, first) = OneOf(plan);
  const int label = own.y[static_cast<std::size_t>(row)];
  if (plan.settings.targets) {
    out(to, first + 1) = EncodeTarget(plan, label, row);
    return;
  }
  if (label < 0 || label >= plan.settings.classes) {
    throw DataError("record " + std::to_string(row + 1) + ": found class " + std::to_string(label) +
                    ", expected 0 to " + std::to_string(plan.settings.classes - 1));
  }
  if (plan.columns > 1) {
    out(to, first + 1 + label) = one;
  } else if (label == 1) {
    out(to, first + 1) = one;
  }
}

/// The largest norm within `bound` whose square is a whole number at row_norm_bits: squared norms of blocks
/// within theirs, rounded up, then add up to no more than the squares of the bounds.
double OnNormLattice(const StepPlan& plan, double bound) {
  return std::sqrt(
      std::ldexp(std::floor(std::ldexp(bound * bound, plan.row_norm_bits)), -plan.row_norm_bits));
}

/// Encodes slot k as record rows[k], or, where that is kPadding or there is none, record read[k] into memory
/// that nobody reads, its own row staying zero. encode(row, out, to) writes a record to row `to` of `out`.
template <typename Encode>
RingMatrix EncodeSlots(std::span<const std::int64_t> rows, std::span<const std::int64_t> read, Index columns,
                       Encode encode) {
  RingMatrix out = RingMatrix::Zero(static_cast<Index>(read.size()), columns);
  RingMatrix unread(1, columns);
  for (std::size_t k = 0; k < read.size(); ++k) {
    if (read[k] == kPadding) continue;
    const bool padding = k >= rows.size() || rows[k] == kPadding;
    encode(read[k], padding ? unread : out, padding ? 0 : static_cast<Index>(k));
  }
  return out;
}

/// Columns as EncodeRecords.
RingMatrix EncodeAllColumns(const StepPlan& plan, const OwnRecords& own, std::span<const std::int64_t> rows,
                            std::span<const std::int64_t> read) {
  const Index features = plan.settings.features;
  const Word one = OneOf(plan);
  return EncodeSlots(rows, read, EncodedColumns(plan), [&](std::int64_t row, RingMatrix& out, Index to) {
    const std::uint64_t squared = EncodeRow(plan, own, row, plan.settings.row_norm, out, to);
    EncodeLabel(plan, own, row, out, to, features);
    out(to, features + 1 + plan.columns) = RoundedUp(plan, squared + one * one);
    EncodeWeight(plan, own, row, out, to, features + 1 + plan.columns + 1);
    if (MaskBitsBeside(plan)) out(to, out.cols() - 1) = Word{1} << plan.settings.fraction_bits;
  });
}

/// Rows from 0 to before `count` for which taken(row) is 1 and not 0; without a branch on which those are.
template <typename Taken>
std::vector<std::int64_t> RowsWhere(std::int64_t count, Taken taken) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::size_t found = 0;
  for (std::int64_t row = 0; row < count; ++row) {
    rows[found] = row;
    found += taken(row);
  }
  rows.resize(found);
  return rows;
}

/// A batch of all parts but the first, which are moved from.
Batch WithoutX(const StepPlan& plan, std::span<mpc::ArithShare> others) {
  Batch batch{.y = {std::move(others[0]), plan.settings.fraction_bits},
              .squared_norms = std::move(others[1])};
  if (WeightColumns(plan) > 0) batch.weights = std::move(others[2]);
  if (MaskBitsBeside(plan)) batch.mask_bits = std::move(others.back());
  return batch;
}

}  // namespace

std::uint64_t EncodeFeatures(const Eigen::RowVectorXd& features, std::int64_t row, double largest,
                             int fraction_bits, std::span<Word> out) {
  Require(out.size() == static_cast<std::size_t>(features.size()), "EncodeFeatures: a word a feature");
  Require(std::ldexp(largest, fraction_bits) < 0x1p31, "EncodeFeatures: a squared norm below 2^62");
  const double norm = features.norm();
  if (!std::isfinite(norm))
    throw DataError("record " + std::to_string(row + 1) + ": a feature is not a finite number");
  const double bound = largest * kInward;
  const double factor = std::ldexp(norm > bound ? bound / norm : 1.0, fraction_bits);
  std::uint64_t squared = 0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto value = static_cast<std::int64_t>(features(static_cast<Index>(k)) * factor);  // towards zero
    out[k] = static_cast<Word>(value);
    squared += static_cast<std::uint64_t>(value * value);
  }
  Require(static_cast<double>(squared) <= std::ldexp(largest * largest, 2 * fraction_bits),
          "EncodeFeatures: a row beyond its norm bound");
  return squared;
}

std::uint64_t LargestSquaredNorm(double largest, int fraction_bits) {
  const double squared = std::ldexp(std::nextafter(largest * largest, 0.0), 2 * fraction_bits);
  Require(squared < 0x1p62, "LargestSquaredNorm: a squared norm below 2^62");
  return static_cast<std::uint64_t>(squared);
}

std::uint64_t LargestNorm(std::uint64_t largest_squared_norm) {
  Require(largest_squared_norm <= std::uint64_t{1} << 62, "LargestNorm: a squared norm of at most 2^62");
  auto norm = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(largest_squared_norm)));
  while (norm > 0 && norm * norm >= largest_squared_norm) --norm;
  while (norm * norm < largest_squared_norm) ++norm;
  return norm;
}

std::vector<std::int64_t> RowsToRead(const std::vector<std::int64_t>& rows, std::int64_t held,
                                     std::int64_t height) {
  std::vector<std::int64_t> read;
  read.reserve(static_cast<std::size_t>(height));
  std::uint64_t state = std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});  // others in each batch
  for (std::size_t k = 0; k < static_cast<std::size_t>(height); ++k) {
    state = (state + static_cast<std::uint64_t>(k)) * 0x9E3779B97F4A7C15ULL;
    const std::int64_t row = k < rows.size() ? rows[k] : kPadding;
    const auto other = static_cast<std::int64_t>((state >> 32) %
                                                 static_cast<std::uint64_t>(std::max<std::int64_t>(held, 1)));
    // Where nothing is held nothing can be drawn, so that there is nothing to hide.
    read.push_back(row == kPadding && held > 0 ? other : row);
  }
  return read;
}

Index EncodedColumns(const StepPlan& plan) {
  return plan.settings.features + 1 + plan.columns + 1 + WeightColumns(plan) + MaskColumns(plan);
}

RingMatrix EncodeRecords(const StepPlan& plan, const OwnRecords& own, const std::vector<std::int64_t>& rows,
                         std::int64_t height) {
  return EncodeAllColumns(plan, own, rows, RowsToRead(rows, own.rows(), height));
}

RingMatrix EncodeRecords(const StepPlan& plan, const OwnRecords& own, const BatchSlots& slots,
                         std::int64_t first, std::int64_t count) {
  const auto piece = [&](const std::vector<std::int64_t>& of_slots) {
    return std::span(of_slots).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  };
  return EncodeAllColumns(plan, own, piece(slots.rows), piece(slots.read));
}

Index BlockColumns(const StepPlan& plan, int owner) {
  const VerticalSettings& vertical = *plan.settings.vertical;
  return vertical.features.at(static_cast<std::size_t>(owner)) + 1 +
         (owner == vertical.label_party ? 1 + plan.columns + WeightColumns(plan) : 0);
}

RingMatrix EncodeBlock(const StepPlan& plan, int owner, const OwnRecords& own,
                       const std::vector<std::int64_t>& rows, std::int64_t height) {
  const VerticalSettings& vertical = *plan.settings.vertical;
  const auto self = static_cast<std::size_t>(owner);
  const double bound = OnNormLattice(plan, BlockNorms(plan.settings.row_norm, vertical.features).at(self));
  const Index features = vertical.features.at(self);
  const Word one = OneOf(plan);
  const bool labels = owner == vertical.label_party;
  return EncodeSlots(rows, RowsToRead(rows, own.rows(), height), BlockColumns(plan, owner),
                     [&](std::int64_t row, RingMatrix& out, Index to) {
                       const std::uint64_t squared = EncodeRow(plan, own, row, bound, out, to);
                       out(to, features) = RoundedUp(plan, squared + (labels ? one * one : 0));
                       if (!labels) return;
                       EncodeLabel(plan, own, row, out, to, features + 1);
                       EncodeWeight(plan, own, row, out, to, features + 1 + 1 + plan.columns);
                     });
}

mpc::ArithShare JoinBlocks(const StepPlan& plan, const std::array<mpc::ArithShare, 3>& blocks) {
  const VerticalSettings& vertical = *plan.settings.vertical;
  const Index norms = plan.settings.features + 1 + plan.columns;
  const Index weights = WeightColumns(plan);
  const auto join = [&](const auto& component) {
    RingMatrix out = RingMatrix::Zero(blocks[0].rows(), EncodedColumns(plan));
    Index first = 0;
    for (std::size_t owner = 0; owner < blocks.size(); ++owner) {
      const RingMatrix& block = component(blocks.at(owner));
      const Index features = vertical.features.at(owner);
      out.middleCols(first, features) = block.leftCols(features);
      out.col(norms) += block.col(features);
      first += features;
    }
    const auto holder = static_cast<std::size_t>(vertical.label_party);
    const RingMatrix& block = component(blocks.at(holder));
    const Index labels = vertical.features.at(holder) + 1;
    out.middleCols(first, 1 + plan.columns) = block.middleCols(labels, 1 + plan.columns);
    out.rightCols(weights) = block.rightCols(weights);
    return out;
  };
  return {join([](const mpc::ArithShare& block) -> const RingMatrix& { return block.own(); }),
          join([](const mpc::ArithShare& block) -> const RingMatrix& { return block.next(); })};
}

RingMatrix EncodeRows(const StepPlan& plan, const OwnRecords& own, std::int64_t first, std::int64_t count,
                      std::int64_t height) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), first);
  const StepPlan whole = WithWholeRows(plan);
  return EncodeSlots(rows, RowsToRead(rows, own.rows(), height), plan.settings.features + 1,
                     [&](std::int64_t row, RingMatrix& out, Index to) {
                       (void)EncodeRow(whole, own, row, plan.settings.row_norm, out, to);
                       out(to, plan.settings.features) = OneOf(whole);
                     });
}

std::vector<Index> BatchWidths(const StepPlan& plan) {
  std::vector<Index> widths{plan.settings.features + 1, plan.columns, 1};
  widths.insert(widths.end(), static_cast<std::size_t>(WeightColumns(plan) + MaskColumns(plan)), 1);
  return widths;
}

Batch BatchOf(const StepPlan& plan, std::vector<mpc::ArithShare> parts) {
  Require(parts.size() == BatchWidths(plan).size(), "BatchOf: the parts of a batch");
  Batch batch = WithoutX(plan, std::span(parts).subspan(1));
  batch.x = {std::move(parts[0]), RowFractionBits(plan.settings)};
  return batch;
}

Batch BatchOf(const StepPlan& plan, mpc::PackedShare narrow_x, std::vector<mpc::ArithShare> others) {
  Require(others.size() + 1 == BatchWidths(plan).size(), "BatchOf: the parts of a batch");
  Batch batch = WithoutX(plan, others);
  batch.narrow_x = std::move(narrow_x);
  return batch;
}

Batch ToBatch(const StepPlan& plan, std::span<const mpc::ArithShare> encoded) {
  std::vector<mpc::ArithShare> parts;
  Index first = 0;
  for (const Index width : BatchWidths(plan)) {
    parts.push_back(StackedColumns(encoded, first, width));
    first += width;
  }
  return BatchOf(plan, std::move(parts));
}

std::vector<std::int64_t> CutTo(RandomStream& coins, std::vector<std::int64_t> rows, std::int64_t most) {
  while (static_cast<std::int64_t>(rows.size()) > most) {
    std::swap(rows[dp::UniformBelow<std::uint64_t>(coins, rows.size())], rows.back());
    rows.pop_back();
  }
  return rows;
}

std::vector<std::int64_t> DrawRows(RandomStream& coins, std::int64_t count, double rate, std::int64_t most) {
  const bool all = rate >= 1;
  const auto threshold = all ? 0 : static_cast<std::uint64_t>(std::ldexp(rate, 64));
  auto rows = RowsWhere(count, [&](std::int64_t) {
    return static_cast<std::size_t>(coins.NextWord() < threshold) | static_cast<std::size_t>(all);
  });
  return CutTo(coins, std::move(rows), most);
}

std::vector<std::int64_t> DrawGroups(RandomStream& coins, const std::vector<std::int64_t>& groups,
                                     double rate, std::int64_t most) {
  const auto count = static_cast<std::int64_t>(groups.size());
  std::vector<unsigned char> taken(groups.size(), 0);
  for (const std::int64_t group : DrawRows(coins, count, rate, count))
    taken[static_cast<std::size_t>(group)] = 1;
  auto rows = RowsWhere(count, [&](std::int64_t row) -> std::size_t {
    const std::int64_t group = groups[static_cast<std::size_t>(row)];
    Require(group >= 0 && group < count, "DrawGroups: groups numbered from 0, no more than rows");
    return taken[static_cast<std::size_t>(group)];
  });
  return CutTo(coins, std::move(rows), most);
}

std::vector<std::int64_t> PlaceRows(RandomStream& coins, std::vector<std::int64_t> rows,
                                    std::int64_t height) {
  Require(static_cast<std::int64_t>(rows.size()) <= height, "PlaceRows: more rows than slots");
  rows.resize(static_cast<std::size_t>(height), kPadding);
  // Fisher and Yates.
  for (std::size_t k = rows.size(); k > 1; --k)
    std::swap(rows[k - 1], rows[dp::UniformBelow<std::uint64_t>(coins, k)]);
  return rows;
}

}  // namespace trefoil::ml
