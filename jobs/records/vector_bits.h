#pragma once
#include <cstdint>
#include <optional>

#include "jobs/config/domains.h"

namespace trefoil::jobs {

/// Bits behind the point of what owners deposit.
inline constexpr WholeInterval kStudyBits{8, 24};
/// The most numbers of a row that owners deposit.
inline constexpr std::int64_t kMostRowNumbers = 1'000'000;

/// The most bits that deposited rows of so many numbers and at most this norm have room for; nothing where
/// these are fewer than a study may have (docs/explanation/deposits.md, "The modulus").
[[nodiscard]] std::optional<int> VectorBits(std::int64_t numbers, double norm);

}  // namespace trefoil::jobs
