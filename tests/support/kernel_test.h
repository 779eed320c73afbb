#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/instruction_sets.h"
#include "tests/support/protocol_test.h"

namespace trefoil::testing_support {

/// `count` random words with the ring's edges among them, which begin one word behind where an allocation
/// does, and end where it ends.
class Numbers {
 public:
  Numbers(std::uint64_t seed, mpc::Index count) : words_(RandomWords(seed, count + 1, 1)) {
    using mpc::Word;
    for (const Word edge : {Word{0}, ~Word{0}, Word{1} << 63, (Word{1} << 63) - 1, Word{1}}) {
      if (count > 8)
        words_.data()[1 + static_cast<mpc::Index>((edge ^ seed) % static_cast<Word>(count))] = edge;
    }
  }
  [[nodiscard]] const mpc::Word* data() const { return words_.data() + 1; }
  [[nodiscard]] mpc::Word operator[](mpc::Index k) const { return words_.data()[k + 1]; }

 private:
  mpc::RingMatrix words_;
};

/// What is there after `kernel`, which must write `count` words and no more.
template <typename Kernel>
std::vector<mpc::Word> Written(mpc::Index count, Kernel kernel) {
  std::vector<mpc::Word> out(static_cast<std::size_t>(count + 1), kUntouched);
  kernel(out.data());
  EXPECT_EQ(out.back(), kUntouched);
  out.pop_back();
  return out;
}

/// The same for a kernel that reads what it writes over: the words of `before`.
template <typename Kernel>
std::vector<mpc::Word> WrittenOver(const Numbers& before, mpc::Index count, Kernel kernel) {
  return Written(count, [&](mpc::Word* out) {
    std::copy_n(before.data(), count, out);
    kernel(out);
  });
}

/// The words that `value` gives for each number below `count`.
template <typename Value>
std::vector<mpc::Word> Expected(mpc::Index count, Value value) {
  std::vector<mpc::Word> out;
  for (mpc::Index k = 0; k < count; ++k) out.push_back(value(k));
  return out;
}

}  // namespace trefoil::testing_support
