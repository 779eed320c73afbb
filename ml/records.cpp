#include "ml/records.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "dp/bernoulli.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

/// Below 1 by more than the roundings of a double-precision norm, so that the lattice norm stays within the
/// bound.
constexpr double kInward = 1 - 1e-12;

/// Writes the row's lattice values, scaled down to `largest` where needed, and returns the sum of their
/// squares, at 2f bits.
std::uint64_t EncodeRow(const StepPlan& plan, const OwnRecords& own, Index row, double largest,
                        RingMatrix& out, Index to) {
  const int f = plan.settings.fraction_bits;
  const Eigen::RowVectorXd features = own.Row(row).cast<double>();
  const double norm = features.norm();
  if (!std::isfinite(norm))
    throw DataError("record " + std::to_string(row + 1) + ": a feature is not a finite number");
  const double bound = largest * kInward;
  const double factor = std::ldexp(norm > bound ? bound / norm : 1.0, f);
  std::uint64_t squared = 0;
  for (Index col = 0; col < features.size(); ++col) {
    const auto value = static_cast<std::int64_t>(features(col) * factor);  // towards zero
    out(to, col) = static_cast<Word>(value);
    squared += static_cast<std::uint64_t>(value * value);
  }
  Require(static_cast<double>(squared) <= std::ldexp(largest * largest, 2 * f),
          "EncodeRow: a row beyond its norm bound");
  return squared;
}

/// From 2f to row_norm_bits, upwards.
Word RoundedUp(const StepPlan& plan, std::uint64_t squared) {
  const int shift = 2 * plan.settings.fraction_bits - plan.row_norm_bits;
  return (squared + ((std::uint64_t{1} << shift) - 1)) >> shift;
}

/// The mask bit and the label of a row, from column `first` on.
void EncodeLabel(const StepPlan& plan, const OwnRecords& own, std::int64_t row, RingMatrix& out, Index to,
                 Index first) {
  const Word one = Word{1} << plan.settings.fraction_bits;
  out(to, first) = one;
  const int label = own.y[static_cast<std::size_t>(row)];
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

}  // namespace

Index EncodedColumns(const StepPlan& plan) { return plan.settings.features + 1 + plan.columns + 1; }

RingMatrix EncodeRecords(const StepPlan& plan, const OwnRecords& own, const std::vector<std::int64_t>& rows,
                         std::int64_t height) {
  const Index features = plan.settings.features;
  const Word one = Word{1} << plan.settings.fraction_bits;
  RingMatrix out = RingMatrix::Zero(height, EncodedColumns(plan));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (rows[k] == kPadding) continue;
    const auto to = static_cast<Index>(k);
    const std::uint64_t squared = EncodeRow(plan, own, rows[k], plan.settings.row_norm, out, to);
    EncodeLabel(plan, own, rows[k], out, to, features);
    out(to, features + 1 + plan.columns) = RoundedUp(plan, squared + one * one);
  }
  return out;
}

Index BlockColumns(const StepPlan& plan, int owner) {
  const VerticalSettings& vertical = *plan.settings.vertical;
  return vertical.features.at(static_cast<std::size_t>(owner)) + 1 +
         (owner == vertical.label_party ? 1 + plan.columns : 0);
}

RingMatrix EncodeBlock(const StepPlan& plan, int owner, const OwnRecords& own,
                       const std::vector<std::int64_t>& rows, std::int64_t height) {
  const VerticalSettings& vertical = *plan.settings.vertical;
  const auto self = static_cast<std::size_t>(owner);
  const double bound = OnNormLattice(plan, BlockNorms(plan.settings.row_norm, vertical.features).at(self));
  const Index features = vertical.features.at(self);
  const Word one = Word{1} << plan.settings.fraction_bits;
  const bool labels = owner == vertical.label_party;
  RingMatrix out = RingMatrix::Zero(height, BlockColumns(plan, owner));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (rows[k] == kPadding) continue;
    const auto to = static_cast<Index>(k);
    const std::uint64_t squared = EncodeRow(plan, own, rows[k], bound, out, to);
    out(to, features) = RoundedUp(plan, squared + (labels ? one * one : 0));
    if (labels) EncodeLabel(plan, own, rows[k], out, to, features + 1);
  }
  return out;
}

mpc::ArithShare JoinBlocks(const StepPlan& plan, const std::array<mpc::ArithShare, 3>& blocks) {
  const VerticalSettings& vertical = *plan.settings.vertical;
  const auto join = [&](const auto& component) {
    RingMatrix out = RingMatrix::Zero(blocks[0].rows(), EncodedColumns(plan));
    Index first = 0;
    for (std::size_t owner = 0; owner < blocks.size(); ++owner) {
      const RingMatrix& block = component(blocks.at(owner));
      const Index features = vertical.features.at(owner);
      out.middleCols(first, features) = block.leftCols(features);
      out.rightCols(1) += block.col(features);
      first += features;
    }
    out.middleCols(first, 1 + plan.columns) =
        component(blocks.at(static_cast<std::size_t>(vertical.label_party))).rightCols(1 + plan.columns);
    return out;
  };
  return {join([](const mpc::ArithShare& block) -> const RingMatrix& { return block.own(); }),
          join([](const mpc::ArithShare& block) -> const RingMatrix& { return block.next(); })};
}

RingMatrix EncodeRows(const StepPlan& plan, const OwnRecords& own, std::int64_t first, std::int64_t count,
                      std::int64_t height) {
  RingMatrix out = RingMatrix::Zero(height, plan.settings.features + 1);
  for (Index k = 0; k < count; ++k) {
    (void)EncodeRow(plan, own, first + k, plan.settings.row_norm, out, k);
    out(k, plan.settings.features) = Word{1} << plan.settings.fraction_bits;
  }
  return out;
}

Batch ToBatch(const StepPlan& plan, std::span<const mpc::ArithShare> encoded) {
  const int f = plan.settings.fraction_bits;
  const Index inputs = plan.settings.features + 1;
  return {.x = {StackedColumns(encoded, 0, inputs), f},
          .y = {StackedColumns(encoded, inputs, plan.columns), f},
          .squared_norms = StackedColumns(encoded, inputs + plan.columns, 1)};
}

std::vector<std::int64_t> CutTo(RandomStream& coins, std::vector<std::int64_t> rows, std::int64_t most) {
  while (static_cast<std::int64_t>(rows.size()) > most) {
    std::swap(rows[dp::UniformBelow<std::uint64_t>(coins, rows.size())], rows.back());
    rows.pop_back();
  }
  return rows;
}

std::vector<std::int64_t> DrawRows(RandomStream& coins, std::int64_t count, double rate, std::int64_t most) {
  std::vector<std::int64_t> rows;
  const bool all = rate >= 1;
  const auto threshold = all ? 0 : static_cast<std::uint64_t>(std::ldexp(rate, 64));
  for (std::int64_t row = 0; row < count; ++row) {
    if (coins.NextWord() < threshold || all) rows.push_back(row);
  }
  return CutTo(coins, std::move(rows), most);
}

std::vector<std::int64_t> DrawGroups(RandomStream& coins, const std::vector<std::int64_t>& groups,
                                     double rate, std::int64_t most) {
  const auto count = static_cast<std::int64_t>(groups.size());
  std::vector<bool> taken(groups.size(), false);
  for (const std::int64_t group : DrawRows(coins, count, rate, count))
    taken[static_cast<std::size_t>(group)] = true;
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < count; ++row) {
    const std::int64_t group = groups[static_cast<std::size_t>(row)];
    Require(group >= 0 && group < count, "DrawGroups: groups numbered from 0, no more than rows");
    if (taken[static_cast<std::size_t>(group)]) rows.push_back(row);
  }
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
