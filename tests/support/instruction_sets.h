#pragma once
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL  // also the set with four AES blocks an instruction
#endif
#include <hwy/targets.h>

#include <cstdint>
#include <vector>

namespace trefoil::testing_support {

/// While one lives, kernels take this instruction set.
class ScopedTarget {
 public:
  explicit ScopedTarget(std::int64_t target) { hwy::SetSupportedTargetsForTest(target); }
  ~ScopedTarget() { hwy::SetSupportedTargetsForTest(0); }
  ScopedTarget(const ScopedTarget&) = delete;
  ScopedTarget& operator=(const ScopedTarget&) = delete;
};

/// Those of this processor that kernels are compiled for, the one without vectors included.
inline std::vector<std::int64_t> InstructionSets() { return hwy::SupportedAndGeneratedTargets(); }

}  // namespace trefoil::testing_support
