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

/// Writes the row's lattice values and returns the sum of their squares, at 2f bits.
std::uint64_t EncodeRow(const StepPlan& plan, const OwnRecords& own, Index row, RingMatrix& out, Index to) {
  const int f = plan.settings.fraction_bits;
  const double norm = own.x.row(row).cast<double>().norm();
  if (!std::isfinite(norm))
    throw DataError("record " + std::to_string(row + 1) + ": a feature is not a finite number");
  const double bound = plan.settings.row_norm * kInward;
  const double factor = std::ldexp(norm > bound ? bound / norm : 1.0, f);
  std::uint64_t squared = 0;
  for (Index col = 0; col < own.x.cols(); ++col) {
    const auto value =
        static_cast<std::int64_t>(static_cast<double>(own.x(row, col)) * factor);  // towards zero
    out(to, col) = static_cast<Word>(value);
    squared += static_cast<std::uint64_t>(value * value);
  }
  Require(static_cast<double>(squared) <= std::ldexp(plan.settings.row_norm * plan.settings.row_norm, 2 * f),
          "EncodeRow: a row beyond its norm bound");
  return squared;
}

/// From 2f to row_norm_bits, upwards.
Word RoundedUp(const StepPlan& plan, std::uint64_t squared) {
  const int shift = 2 * plan.settings.fraction_bits - plan.row_norm_bits;
  return (squared + ((std::uint64_t{1} << shift) - 1)) >> shift;
}

mpc::ArithShare Columns(const mpc::ArithShare& x, Index first, Index count) {
  return {x.own().middleCols(first, count), x.next().middleCols(first, count)};
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
    const std::uint64_t squared = EncodeRow(plan, own, rows[k], out, to);
    out(to, features) = one;
    const int label = own.y[static_cast<std::size_t>(rows[k])];
    if (label < 0 || label >= plan.settings.classes) {
      throw DataError("record " + std::to_string(rows[k] + 1) + ": found class " + std::to_string(label) +
                      ", expected 0 to " + std::to_string(plan.settings.classes - 1));
    }
    if (plan.columns > 1) {
      out(to, features + 1 + label) = one;
    } else if (label == 1) {
      out(to, features + 1) = one;
    }
    out(to, features + 1 + plan.columns) = RoundedUp(plan, squared + one * one);
  }
  return out;
}

Batch ToBatch(const StepPlan& plan, const mpc::ArithShare& encoded) {
  const int f = plan.settings.fraction_bits;
  const Index inputs = plan.settings.features + 1;
  return {.x = {Columns(encoded, 0, inputs), f},
          .y = {Columns(encoded, inputs, plan.columns), f},
          .squared_norms = Columns(encoded, inputs + plan.columns, 1)};
}

std::vector<std::int64_t> DrawRows(RandomStream& coins, std::int64_t count, double rate, std::int64_t most) {
  std::vector<std::int64_t> rows;
  const bool all = rate >= 1;
  const auto threshold = all ? 0 : static_cast<std::uint64_t>(std::ldexp(rate, 64));
  for (std::int64_t row = 0; row < count; ++row) {
    if (coins.NextWord() < threshold || all) rows.push_back(row);
  }
  while (static_cast<std::int64_t>(rows.size()) > most) {
    std::swap(rows[dp::UniformBelow<std::uint64_t>(coins, rows.size())], rows.back());
    rows.pop_back();
  }
  return rows;
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
