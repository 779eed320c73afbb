#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "mpc/ring.h"

namespace trefoil::mpc {

/// Items by the level at which something is to be done with them.
class DcfSchedule {
 public:
  static constexpr int kNever = 64;

  /// Item k at bit `shifts`[k], 0 to 63, or kNever.
  explicit DcfSchedule(const std::vector<int>& shifts);

  [[nodiscard]] std::span<const std::uint32_t> At(int shift) const {
    const std::uint32_t begin = begins_[static_cast<std::size_t>(shift)];
    return std::span(items_).subspan(begin, begins_[static_cast<std::size_t>(shift) + 1] - begin);
  }

 private:
  std::array<std::uint32_t, kNever + 2> begins_{};
  std::vector<std::uint32_t> items_;
};

/// The paths of the points that are asked of a batch's keys, through the levels of their comparison functions
/// (mpc/dcf/dcf.h). Points of one key that begin with the same bits share a path until they part, since they
/// are differences to nearby thresholds; a path is called after the first of its points in increasing order,
/// which never leaves it.
class DcfPathPlan {
 public:
  struct Point {
    Word value;
    std::uint32_t key;
    std::uint32_t row;
    int unread;
  };

  /// Of keys [begin, end), a column of `inputs` each; `unread`: a number for each row, of the descending ones
  /// that are `offered`.
  DcfPathPlan(const RingMatrix& inputs, const std::vector<int>& unread, const std::vector<int>& offered,
              std::size_t begin, std::size_t end);

  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  /// The path from which path k parts.
  [[nodiscard]] std::uint32_t parent(std::uint32_t k) const { return parents_[k]; }
  /// The path that point k is on where it ends.
  [[nodiscard]] std::uint32_t holder(std::uint32_t k) const { return holders_[k]; }
  /// Paths that begin at a key's root.
  [[nodiscard]] std::vector<std::uint32_t> Roots() const;
  /// The other paths by the bit at which they part from their parents.
  [[nodiscard]] DcfSchedule Births() const;
  /// Points by the last bit that is read.
  [[nodiscard]] DcfSchedule Ends() const;
  /// Paths by the bit, of those at which points may end, after which nobody needs them.
  [[nodiscard]] DcfSchedule Deaths() const { return DcfSchedule(lasts_); }

 private:
  static constexpr int kRoot = 64;  ///< parts above all bits

  void SortFrom(std::size_t from);
  void FindParents(std::size_t from);
  void FindNeeds(std::size_t from);
  void RoundDown(const std::vector<int>& offered);

  std::vector<Point> points_;
  // Of each point, and of the path that is called after it:
  std::vector<int> births_;
  std::vector<std::uint32_t> parents_;
  std::vector<std::uint32_t> holders_;
  std::vector<int> lasts_;  ///< kNever: there is no such path
};

}  // namespace trefoil::mpc
