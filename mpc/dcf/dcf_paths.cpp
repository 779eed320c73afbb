#include "mpc/dcf/dcf_paths.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

namespace trefoil::mpc {

DcfSchedule::DcfSchedule(const std::vector<int>& shifts) : items_(shifts.size()) {
  for (const int shift : shifts) ++begins_[static_cast<std::size_t>(shift) + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  std::array<std::uint32_t, kNever + 1> next{};
  std::copy_n(begins_.begin(), next.size(), next.begin());
  for (std::size_t k = 0; k < shifts.size(); ++k)
    items_[next[static_cast<std::size_t>(shifts[k])]++] = static_cast<std::uint32_t>(k);
}

DcfPathPlan::DcfPathPlan(const RingMatrix& inputs, const std::vector<int>& unread,
                         const std::vector<int>& offered, std::size_t begin, std::size_t end) {
  const auto keys = static_cast<std::size_t>(inputs.cols());
  const std::size_t points = unread.size() * (end - begin);
  points_.reserve(points);
  births_.assign(points, kRoot);
  parents_.assign(points, 0);
  holders_.assign(points, 0);
  lasts_.assign(points, DcfSchedule::kNever);
  for (std::size_t key = begin; key < end; ++key) {
    const std::size_t from = points_.size();
    for (std::size_t row = unread.size(); row-- > 0;) {
      points_.push_back({inputs.data()[row * keys + key], static_cast<std::uint32_t>(key),
                         static_cast<std::uint32_t>(row), unread[row]});
    }
    SortFrom(from);
    FindParents(from);
    FindNeeds(from);
  }
  RoundDown(offered);
}

std::vector<std::uint32_t> DcfPathPlan::Roots() const {
  std::vector<std::uint32_t> roots;
  for (std::size_t k = 0; k < births_.size(); ++k) {
    if (births_[k] == kRoot) roots.push_back(static_cast<std::uint32_t>(k));
  }
  return roots;
}

DcfSchedule DcfPathPlan::Births() const {
  std::vector<int> shifts(births_.size());
  for (std::size_t k = 0; k < shifts.size(); ++k)
    shifts[k] = births_[k] == kRoot || lasts_[k] == DcfSchedule::kNever ? DcfSchedule::kNever : births_[k];
  return DcfSchedule(shifts);
}

DcfSchedule DcfPathPlan::Ends() const {
  std::vector<int> shifts(points_.size());
  std::transform(points_.begin(), points_.end(), shifts.begin(),
                 [](const Point& point) { return point.unread; });
  return DcfSchedule(shifts);
}

/// Differences to ascending thresholds, the last one first, are in order but for one place where they wrap.
void DcfPathPlan::SortFrom(std::size_t from) {
  const auto by_value = [](const Point& a, const Point& b) { return a.value < b.value; };
  const auto begin = points_.begin() + static_cast<std::ptrdiff_t>(from);
  std::rotate(begin, std::is_sorted_until(begin, points_.end(), by_value), points_.end());
  if (!std::is_sorted(begin, points_.end(), by_value)) std::sort(begin, points_.end(), by_value);
}

/// A point parts from its neighbour before it at the highest bit in which they differ (-1: equal), and so
/// from the path of the last point before it that parted at a higher bit.
void DcfPathPlan::FindParents(std::size_t from) {
  std::array<std::uint32_t, kRoot + 2> open{};
  std::size_t depth = 0;
  open[depth++] = static_cast<std::uint32_t>(from);
  for (std::size_t k = from + 1; k < points_.size(); ++k) {
    births_[k] = static_cast<int>(std::bit_width(points_[k].value ^ points_[k - 1].value)) - 1;
    while (births_[open[depth - 1]] <= births_[k]) --depth;
    parents_[k] = open[depth - 1];
    open[depth++] = static_cast<std::uint32_t>(k);
  }
}

/// Who holds a point at its end, and so until when a path is needed: for those, and for the paths that part
/// from it.
void DcfPathPlan::FindNeeds(std::size_t from) {
  for (std::size_t k = points_.size(); k-- > from;) {
    auto holder = static_cast<std::uint32_t>(k);
    while (births_[holder] < points_[k].unread) holder = parents_[holder];
    holders_[k] = holder;
    lasts_[holder] = std::min(lasts_[holder], points_[k].unread);
    if (k > from && lasts_[k] != DcfSchedule::kNever)
      lasts_[parents_[k]] = std::min(lasts_[parents_[k]], births_[k]);
  }
}

/// Paths die where points end.
void DcfPathPlan::RoundDown(const std::vector<int>& offered) {
  std::array<int, DcfSchedule::kNever + 1> down{};
  down.fill(DcfSchedule::kNever);
  for (std::size_t n = offered.size(); n-- > 0;)
    std::fill(down.begin() + offered[n], down.end() - 1, offered[n]);
  for (int& last : lasts_) last = down[static_cast<std::size_t>(last)];
}

}  // namespace trefoil::mpc
