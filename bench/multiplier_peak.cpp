#include "bench/multiplier_peak.h"

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/multiplier_peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trefoil::bench {
namespace HWY_NAMESPACE {  // NOLINT(google-build-namespaces): Highway's

namespace hn = hwy::HWY_NAMESPACE;

std::int64_t Multiply(std::int64_t count) {
  const hn::ScalableTag<std::uint64_t> tag;
  constexpr std::int64_t kSums = 12;  // enough to hide what one multiplication waits for another
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
  auto factor = hn::Iota(tag, 0x9E3779B97F4A7C15ULL);
  auto other = hn::Iota(tag, 0xD1B54A32D192ED03ULL);
  hn::Vec<decltype(tag)> sums[kSums];  // NOLINT(modernize-avoid-c-arrays)
  for (auto& sum : sums) sum = hn::Zero(tag);
  std::int64_t done = 0;
  for (; done < count; done += kSums * lanes) {
    for (auto& sum : sums) {
      asm volatile("" : "+v"(factor.raw), "+v"(other.raw));  // a product anew, not the last one's
      sum = hn::Add(sum, hn::Mul(factor, other));
    }
  }
  auto total = hn::Zero(tag);
  for (const auto& sum : sums) total = hn::Add(total, sum);
  [[maybe_unused]] const volatile std::uint64_t used = hn::GetLane(hn::SumOfLanes(tag, total));
  return done;
}

}  // namespace HWY_NAMESPACE
}  // namespace trefoil::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trefoil::bench {

HWY_EXPORT(Multiply);

std::int64_t RunMultiplier(std::int64_t count) { return HWY_DYNAMIC_DISPATCH(Multiply)(count); }

}  // namespace trefoil::bench
#endif
