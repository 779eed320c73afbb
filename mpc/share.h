#pragma once
#include <span>
#include <utility>

#include "mpc/bits.h"
#include "mpc/context.h"
#include "mpc/ring.h"
#include "mpc/rows.h"

namespace trefoil::mpc {

/// Party i's part (x_i, x_{i+1}) of a replicated sharing x = x_0 + x_1 + x_2 modulo 2^64, element by element.
/// There is no way from here to a plain value but protocols/arithmetic/reveal.h, and no printing or
/// comparing.
class ArithShare {
 public:
  ArithShare() = default;
  /// Pre: the same shape.
  ArithShare(RingMatrix own, RingMatrix next);
  [[nodiscard]] static ArithShare Zero(Index rows, Index cols);

  [[nodiscard]] const RingMatrix& own() const { return own_; }
  [[nodiscard]] const RingMatrix& next() const { return next_; }
  [[nodiscard]] ShareWords words() const { return {.own = own_.data(), .next = next_.data()}; }
  [[nodiscard]] Index rows() const { return own_.rows(); }
  [[nodiscard]] Index cols() const { return own_.cols(); }
  [[nodiscard]] Index size() const { return own_.size(); }

  friend ArithShare operator+(const ArithShare& a, const ArithShare& b);
  friend ArithShare operator-(const ArithShare& a, const ArithShare& b);
  friend ArithShare operator-(const ArithShare& a);
  /// By a public factor.
  friend ArithShare operator*(Word factor, const ArithShare& a);

 private:
  RingMatrix own_;
  RingMatrix next_;
};

/// x + c for public c of the same shape.
[[nodiscard]] ArithShare AddPublic(const Context& party, const ArithShare& x, const RingMatrix& c);
/// x + c for one public number.
[[nodiscard]] ArithShare AddPublic(const Context& party, const ArithShare& x, Word c);
[[nodiscard]] ArithShare Reshaped(const ArithShare& x, Index rows, Index cols);
[[nodiscard]] ArithShare Rows(const ArithShare& x, Index first, Index count);
[[nodiscard]] ArithShare Stacked(const ArithShare& top, const ArithShare& bottom);
[[nodiscard]] ArithShare Columns(const ArithShare& x, Index first, Index count);
/// Those columns of matrices that stand one below the other, in one pass. Pre: at least one matrix, all with
/// such columns.
[[nodiscard]] ArithShare StackedColumns(std::span<const ArithShare> parts, Index first, Index count);
[[nodiscard]] ArithShare SideBySide(const ArithShare& left, const ArithShare& right);
[[nodiscard]] ArithShare Transposed(const ArithShare& x);
/// A column beside itself, `times` times. Pre: one column.
[[nodiscard]] ArithShare RepeatedColumn(const ArithShare& column, Index times);
/// Sums of the rows' elements: one column.
[[nodiscard]] ArithShare RowSums(const ArithShare& x);

/// Party i's part of z = z_0 + z_1 + z_2 modulo 2^64, where each part is known to one party only: the result
/// of a local product. It is not masked: it must go through Reshare or a truncation before anything of it is
/// sent.
class AdditiveShare {
 public:
  AdditiveShare() = default;
  explicit AdditiveShare(RingMatrix part) : part_(std::move(part)) {}

  [[nodiscard]] const RingMatrix& part() const { return part_; }
  [[nodiscard]] Index rows() const { return part_.rows(); }
  [[nodiscard]] Index cols() const { return part_.cols(); }

  friend AdditiveShare operator+(const AdditiveShare& a, const AdditiveShare& b);
  friend AdditiveShare operator*(Word factor, const AdditiveShare& a);

 private:
  RingMatrix part_;
};

/// The same value as a 3-of-3 sharing: each party keeps its own component.
[[nodiscard]] AdditiveShare ToAdditive(const ArithShare& x);

/// Party i's part (x_i, x_{i+1}) of a replicated sharing of bits, x = x_0 ^ x_1 ^ x_2.
class BoolShare {
 public:
  BoolShare() = default;
  /// Pre: the same shape.
  BoolShare(BitMatrix own, BitMatrix next);

  [[nodiscard]] const BitMatrix& own() const& { return own_; }
  [[nodiscard]] const BitMatrix& next() const& { return next_; }
  /// Out of a share that is not used any more.
  [[nodiscard]] BitMatrix&& own() && { return std::move(own_); }
  [[nodiscard]] BitMatrix&& next() && { return std::move(next_); }
  [[nodiscard]] ShareWords plane(Index k) const { return {.own = own_.plane(k), .next = next_.plane(k)}; }
  [[nodiscard]] Index planes() const { return own_.planes(); }
  [[nodiscard]] Index count() const { return own_.count(); }

  friend BoolShare operator^(const BoolShare& a, const BoolShare& b);

 private:
  BitMatrix own_;
  BitMatrix next_;
};

/// Every bit negated.
[[nodiscard]] BoolShare Not(const Context& party, const BoolShare& x);
[[nodiscard]] BoolShare Planes(const BoolShare& x, Index first, Index planes);
[[nodiscard]] BoolShare Stacked(const BoolShare& top, const BoolShare& bottom);

}  // namespace trefoil::mpc
