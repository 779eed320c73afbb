#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ml/plan/step_plan.h"
#include "mpc/share.h"

namespace trefoil::jobs {

/// Bytes of a share of this shape: both components, row by row.
[[nodiscard]] std::size_t ShareBytes(const ml::LayerShape& shape);

/// Writes a share to the beginning of `out` and returns what is behind it.
/// Pre: out.size() is at least ShareBytes of the share's shape.
std::span<std::uint8_t> PutShare(std::span<std::uint8_t> out, const mpc::ArithShare& share);

/// The share at the beginning of `in`. Pre: in.size() is at least ShareBytes(shape).
[[nodiscard]] mpc::ArithShare TakeShare(std::span<const std::uint8_t> in, const ml::LayerShape& shape);

}  // namespace trefoil::jobs
