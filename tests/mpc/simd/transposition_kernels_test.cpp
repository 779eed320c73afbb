#include "mpc/simd/transposition_kernels.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/instruction_sets.h"
#include "tests/support/protocol_test.h"

namespace trefoil::mpc {
namespace {

using testing_support::kUntouched;
using testing_support::RandomWords;

constexpr Index kBeside = 2;  // words between the rows, and behind what is written

bool Bit(const Word* words, Index bit) { return ((words[bit / 64] >> (bit % 64)) & 1U) != 0; }

/// Both transpositions of `count` words from an odd address, bit by bit; what lies beside stays as it was.
void ExpectTransposed(Index count, Index width) {
  const RingMatrix numbers = RandomWords(static_cast<std::uint64_t>(count + 1), count + 1, 1);
  const Word* x = numbers.data() + 1;
  const Index stride = (count + 63) / 64 + kBeside;
  std::vector<Word> planes(static_cast<std::size_t>(width * stride), kUntouched);
  WordsToPlanes(x, count, width, {.data = planes.data(), .stride = stride});
  for (Index plane = 0; plane < width; ++plane) {
    const Word* row = planes.data() + plane * stride;
    for (Index item = 0; item < count; ++item)
      ASSERT_EQ(Bit(row, item), ((x[item] >> plane) & 1U) != 0) << "bit " << plane << " of word " << item;
    for (Index item = count; item < 64 * (stride - kBeside); ++item) ASSERT_FALSE(Bit(row, item));
    for (Index word = stride - kBeside; word < stride; ++word) ASSERT_EQ(row[word], kUntouched);
  }

  std::vector<Word> back(static_cast<std::size_t>(count + kBeside), kUntouched);
  PlanesToWords({.data = planes.data(), .stride = stride}, width, count, back.data());
  const Word mask = width == 64 ? ~Word{0} : (Word{1} << width) - 1;
  for (Index item = 0; item < count; ++item)
    ASSERT_EQ(back[static_cast<std::size_t>(item)], x[item] & mask) << "word " << item;
  for (Index item = count; item < count + kBeside; ++item)
    ASSERT_EQ(back[static_cast<std::size_t>(item)], kUntouched);
}

// One to eight blocks of 64 are a group, by instruction set; around each, and in several groups with a rest.
TEST(Transposition, IsThatOfEveryBitWithEveryInstructionSet) {
  const auto targets = testing_support::InstructionSets();
  EXPECT_FALSE(targets.empty());
  for (const auto target : targets) {
    const testing_support::ScopedTarget scoped(target);
    for (const Index count :
         {0, 1, 2, 63, 64, 65, 127, 128, 129, 192, 193, 255, 256, 257, 320, 511, 512, 513, 1100}) {
      for (const Index width : {1, 2, 3, 7, 8, 9, 31, 33, 63, 64}) {
        SCOPED_TRACE(std::string(hwy::TargetName(target)) + " " + std::to_string(count) + " of " +
                     std::to_string(width) + " bits");
        ASSERT_NO_FATAL_FAILURE(ExpectTransposed(count, width));
      }
    }
  }
}

// A plane that held nothing before must not be read: PlanesToWords takes `width` rows and no more.
TEST(Transposition, IsOfNothingWithoutPlanes) {
  std::vector<Word> x(70, kUntouched);
  PlanesToWords({.data = nullptr, .stride = 2}, 0, 70, x.data());
  EXPECT_EQ(x, std::vector<Word>(70, 0));
}

}  // namespace
}  // namespace trefoil::mpc
