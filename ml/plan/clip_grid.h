#pragma once
#include <cstdint>
#include <vector>

#include "ml/plan/settings.h"
#include "mpc/ring.h"

namespace trefoil::ml {

/// The clips that an adaptive one takes (TrainingSettings::adaptive): C 2^(k / 64), C the first one, k from
/// -kClipReach to kClipReach. k is public. All is planned for every one of them at once: a step sums not
/// gradients but gradients times C / C_k, clipped to C, so that lattice, sensitivity and noise are those of
/// C, and its learning rate has the C_k / C that this lacks (docs/explanation/privacy.md, "Adaptive clip").

/// Points of an octave, and how many octaves the clip can go either way.
inline constexpr int kClipPoints = 64;
inline constexpr int kClipOctaves = 3;
inline constexpr int kClipReach = kClipPoints * kClipOctaves;

/// Fraction bits of C / C_k.
inline constexpr int kClipScaleBits = 16;

/// Public integers, the same at all parties.
struct ClipGrid {
  /// C / C_k, by k + kClipReach, rounded down but for the last; none: the clip is fixed.
  std::vector<mpc::Word> scales{};
  std::int64_t drift = 0;  ///< points that the clip moves in a step where half of all gradients are within it
  std::int64_t pull = 0;   ///< points that it moves down for a gradient more within it, and one less beyond
};

/// None where the settings have a fixed clip.
[[nodiscard]] ClipGrid MakeClipGrid(const TrainingSettings& settings);

/// C / C_k at kClipScaleBits, at most 2^(kClipScaleBits + kClipOctaves). Pre: a grid with scales, |k| <=
/// kClipReach.
[[nodiscard]] mpc::Word ClipScale(const ClipGrid& grid, int k);

/// C_k. Pre: as ClipScale.
[[nodiscard]] double ClipAt(const TrainingSettings& settings, const ClipGrid& grid, int k);

/// A mantissa for C_kClipReach, the largest clip, becomes one for C_k: to the nearest, at least 1. Pre: below
/// 2^32.
[[nodiscard]] std::uint64_t MantissaForClip(const ClipGrid& grid, std::uint64_t largest, int k);

/// The clip of the next step. `within` is the noisy number of gradients within C_k less that of those beyond,
/// in units of 2^-frac_bits: log C moves by -rate (within / 2b + 1/2 - quantile), b the expected batch, to
/// the nearest point of the grid, and stays on it (Andrew, Thakkar, McMahan, Ramaswamy 2021). Integers only,
/// the same at all parties. Any `within`.
[[nodiscard]] int NextClip(const TrainingSettings& settings, const ClipGrid& grid, int k, mpc::Word within,
                           int frac_bits);

}  // namespace trefoil::ml
