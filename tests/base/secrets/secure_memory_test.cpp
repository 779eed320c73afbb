#include "base/secrets/secure_memory.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <ostream>
#include <type_traits>
#include <utility>

namespace trefoil {
namespace {

template <typename T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};

static_assert(!std::is_copy_constructible_v<SecretKey>);
static_assert(!std::equality_comparable<SecretKey>);
static_assert(!Printable<SecretKey>);

TEST(SecretKey, StartsAsZerosAndMovesItsBytes) {
  SecretKey key;
  for (const auto byte : key.bytes()) ASSERT_EQ(byte, 0);
  key.bytes()[5] = 42;
  const SecretKey moved = std::move(key);
  EXPECT_EQ(moved.bytes()[5], 42);
}

TEST(Wipe, OverwritesEveryWordAndTakesNoneToo) {
  std::array<std::uint64_t, 5> words{1, 2, 3, 4, 5};
  Wipe(std::span(words).subspan(1, 3));
  EXPECT_EQ(words, (std::array<std::uint64_t, 5>{1, 0, 0, 0, 5}));
  Wipe(std::span<std::uint64_t>{});
}

TEST(DisableCoreDumps, LeavesNoCoreFileLimit) {
  EXPECT_EXIT(
      {
        DisableCoreDumps();
        rlimit limit{};
        getrlimit(RLIMIT_CORE, &limit);
        std::exit(limit.rlim_max == 0 && prctl(PR_GET_DUMPABLE) == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace trefoil
