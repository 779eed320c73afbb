#pragma once
#include <Eigen/Core>
#include <cstdint>
#include <memory>

#include "trefoil/error.h"

namespace trefoil {

namespace mpc {
class FixedShare;
}

/// Plain numbers.
using Matrix = Eigen::MatrixXd;

/// One party's part of a secret matrix of fixed-point numbers: an integer modulo 2^64, read as signed, stands
/// for itself over 2^fraction_bits. It says nothing about the matrix. There is no way from here to a plain
/// number but Reveal (trefoil/protocols.h), and no printing or comparing. Copies are cheap and share memory.
///
/// Everything here is local: nothing is sent. Sums that reach 2^63 as integers wrap around.
class Share {
 public:
  /// Without elements.
  Share();

  [[nodiscard]] Eigen::Index rows() const;
  [[nodiscard]] Eigen::Index cols() const;
  [[nodiscard]] int fraction_bits() const;

  /// Throw ContractError on different shapes or fraction bits.
  friend Share operator+(const Share& a, const Share& b);
  friend Share operator-(const Share& a, const Share& b);
  /// By a public whole number.
  friend Share operator*(std::int64_t factor, const Share& a);

  explicit Share(mpc::FixedShare share);  ///< not for users of the library, nor is engine()
  [[nodiscard]] const mpc::FixedShare& engine() const { return *share_; }

 private:
  std::shared_ptr<const mpc::FixedShare> share_;
};

/// Parts of a matrix. Throw ContractError where there are no such rows or columns.
[[nodiscard]] Share Rows(const Share& x, Eigen::Index first, Eigen::Index count);
[[nodiscard]] Share Columns(const Share& x, Eigen::Index first, Eigen::Index count);
/// One below the other, and one to the right of the other. Throw ContractError where they do not fit.
[[nodiscard]] Share Stacked(const Share& top, const Share& bottom);
[[nodiscard]] Share SideBySide(const Share& left, const Share& right);
[[nodiscard]] Share Transposed(const Share& x);
/// The sum of each row: one column.
[[nodiscard]] Share RowSums(const Share& x);

}  // namespace trefoil
