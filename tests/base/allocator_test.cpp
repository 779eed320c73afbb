#include "base/allocator.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace trefoil {
namespace {

constexpr std::array<std::size_t, 3> kMebibytes{1, 40, 80};  // glibc's largest threshold of mapping is 32
constexpr long kFewFaults = 100;                             // of some 30,000 pages

long Faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// Blocks of all these sizes at once, each byte written.
bool UseBlocks() {
  std::vector<std::vector<char>> blocks;
  for (const std::size_t size : kMebibytes) blocks.emplace_back(size << 20, 1);
  return std::accumulate(blocks.begin(), blocks.end(), 0, [](int sum, const auto& block) {
           return sum + block.back();
         }) == static_cast<int>(kMebibytes.size());
}

// In a process of its own: the other tests keep the C library's defaults.
TEST(KeepFreedMemory, GivesBlocksOfAnySizeOutAgainWithoutFaults) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer allocates by its own rules";
#endif
  EXPECT_EXIT(
      {
        KeepFreedMemory();
        bool written = UseBlocks();
        const long before = Faults();
        for (int k = 0; k < 3; ++k) written = UseBlocks() && written;
        std::exit(written && Faults() - before < kFewFaults ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace trefoil
