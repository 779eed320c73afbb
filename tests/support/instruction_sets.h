#pragma once
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL  // also the set with four AES blocks an instruction
#endif
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mpc/ring.h"

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

/// Calls body(count) for counts around whole vectors of every instruction set, with each of them.
inline void ForLengthsOnEverySet(const std::function<void(mpc::Index)>& body) {
  const auto targets = InstructionSets();
  EXPECT_FALSE(targets.empty());
  for (const auto target : targets) {
    const ScopedTarget scoped(target);
    for (const mpc::Index count : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 130}) {
      SCOPED_TRACE(std::string(hwy::TargetName(target)) + " " + std::to_string(count));
      body(count);
    }
  }
}

/// Stands where nothing may be written.
constexpr mpc::Word kUntouched = 0x5AA55AA55AA55AA5ULL;

}  // namespace trefoil::testing_support
