#include "trefoil/share.h"

#include "base/error.h"
#include "mpc/fixed_point.h"

namespace trefoil {
namespace {

/// Of the same scale as `x`.
Share Like(const Share& x, mpc::ArithShare ring) {
  return Share(mpc::FixedShare(std::move(ring), x.fraction_bits()));
}

void RequireSameScale(const Share& a, const Share& b) {
  Require(a.fraction_bits() == b.fraction_bits(), "shares of different fraction bits");
}

}  // namespace

Share::Share() : share_(std::make_shared<const mpc::FixedShare>()) {}
Share::Share(mpc::FixedShare share) : share_(std::make_shared<const mpc::FixedShare>(std::move(share))) {}

Eigen::Index Share::rows() const { return share_->rows(); }
Eigen::Index Share::cols() const { return share_->cols(); }
int Share::fraction_bits() const { return share_->frac_bits(); }

Share operator+(const Share& a, const Share& b) { return Share(a.engine() + b.engine()); }
Share operator-(const Share& a, const Share& b) { return Share(a.engine() - b.engine()); }
Share operator*(std::int64_t factor, const Share& a) {
  return Like(a, static_cast<mpc::Word>(factor) * a.engine().ring());
}

Share Rows(const Share& x, Eigen::Index first, Eigen::Index count) {
  return Like(x, mpc::Rows(x.engine().ring(), first, count));
}

Share Columns(const Share& x, Eigen::Index first, Eigen::Index count) {
  return Like(x, mpc::Columns(x.engine().ring(), first, count));
}

Share Stacked(const Share& top, const Share& bottom) {
  RequireSameScale(top, bottom);
  return Like(top, mpc::Stacked(top.engine().ring(), bottom.engine().ring()));
}

Share SideBySide(const Share& left, const Share& right) {
  RequireSameScale(left, right);
  return Like(left, mpc::SideBySide(left.engine().ring(), right.engine().ring()));
}

Share Transposed(const Share& x) { return Like(x, mpc::Transposed(x.engine().ring())); }
Share RowSums(const Share& x) { return Like(x, mpc::RowSums(x.engine().ring())); }

}  // namespace trefoil
