#include "ml/plan/clip_grid.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace trefoil::ml {
namespace {

constexpr double kRate = 0.2;      // of log C, as Andrew et al. have it
constexpr int kMoveBits = 30;      // fraction bits of moves
constexpr int kWithinBits = 8;     // fraction bits of a number of gradients as it moves the clip
constexpr double kMostWithin = 4;  // expected batches: what is counted beyond is noise

}  // namespace

ClipGrid MakeClipGrid(const TrainingSettings& s) {
  if (!s.adaptive) return {};
  ClipGrid grid;
  for (int k = -kClipReach; k <= kClipReach; ++k) {
    const double scale = std::exp2(-static_cast<double>(k) / kClipPoints);
    grid.scales.push_back(static_cast<mpc::Word>(std::floor(std::ldexp(scale, kClipScaleBits))));
  }
  // Powers of two, whatever exp2 makes of them: the ends are what is planned for.
  grid.scales.front() = mpc::Word{1} << (kClipScaleBits + kClipOctaves);
  grid.scales.back() = mpc::Word{1} << (kClipScaleBits - kClipOctaves);
  const double points = kRate * kClipPoints / std::log(2.0);
  grid.drift = std::llround(std::ldexp(points * (s.adaptive->quantile - 0.5), kMoveBits + kWithinBits));
  grid.pull = std::llround(std::ldexp(points / (2 * s.expected_batch), kMoveBits));
  return grid;
}

mpc::Word ClipScale(const ClipGrid& grid, int k) {
  Require(!grid.scales.empty() && std::abs(k) <= kClipReach, "ClipScale: a point of the grid");
  return grid.scales[static_cast<std::size_t>(k + kClipReach)];
}

double ClipAt(const TrainingSettings& s, const ClipGrid& grid, int k) {
  return s.clip / std::ldexp(static_cast<double>(ClipScale(grid, k)), -kClipScaleBits);
}

std::uint64_t MantissaForClip(const ClipGrid& grid, std::uint64_t largest, int k) {
  const mpc::Word scale = ClipScale(grid, k);
  const mpc::Word at_largest = ClipScale(grid, kClipReach);
  return std::max<std::uint64_t>(1, (largest * at_largest + scale / 2) / scale);
}

int NextClip(const TrainingSettings& s, const ClipGrid& grid, int k, mpc::Word within, int frac_bits) {
  const auto most = static_cast<std::int64_t>(std::ceil(kMostWithin * s.expected_batch)) << frac_bits;
  const std::int64_t counted = (std::clamp(mpc::Signed(within), -most, most) << kWithinBits) >> frac_bits;
  constexpr int kBits = kMoveBits + kWithinBits;
  const std::int64_t moved = grid.drift - grid.pull * counted + (std::int64_t{1} << (kBits - 1));
  return static_cast<int>(std::clamp<std::int64_t>(k + (moved >> kBits), -kClipReach, kClipReach));
}

}  // namespace trefoil::ml
