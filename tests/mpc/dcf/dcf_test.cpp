#include "mpc/dcf/dcf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "base/error.h"
#include "tests/support/instruction_sets.h"

namespace trefoil::mpc {
namespace {

constexpr HashKey kHashKey{0x24, 0x3F, 0x6A, 0x88};

std::vector<Block> RandomBlocks(std::mt19937_64& generator, std::size_t count) {
  std::vector<Block> blocks(count);
  for (auto& block : blocks) block = {.low = generator(), .high = generator()};
  return blocks;
}

struct Batch {
  DcfCorrections corrections;
  std::vector<Block> first;
  std::vector<Block> second;
};

Batch MakeBatch(const DcfShape& shape, const RingMatrix& points, const RingMatrix& payloads,
                std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  Batch batch;
  batch.first = RandomBlocks(generator, static_cast<std::size_t>(points.size()));
  batch.second = RandomBlocks(generator, static_cast<std::size_t>(points.size()));
  batch.corrections = DcfGenerate(shape, kHashKey, points, payloads, batch.first, batch.second);
  return batch;
}

RingMatrix Sum(const Batch& batch, const RingMatrix& inputs, std::size_t threads = 1,
               const std::vector<int>& unread = {}) {
  ThreadPool pool(threads);
  return DcfEvaluate(pool, true, batch.corrections, batch.first, inputs, unread) +
         DcfEvaluate(pool, false, batch.corrections, batch.second, inputs, unread);
}

TEST(Dcf, IsRightForEveryPointAndInputOfEightBits) {
  RingMatrix points(1, 256);
  RingMatrix payloads(1, 256);
  RingMatrix inputs(256, 256);
  for (Index key = 0; key < 256; ++key) {
    points(0, key) = static_cast<Word>(key);
    payloads(0, key) = 0x9E3779B97F4A7C15ULL * static_cast<Word>(key + 1);
    inputs.row(key).setConstant(static_cast<Word>(key));
  }
  const RingMatrix sums = Sum(MakeBatch(DcfShape(8), points, payloads, 1), inputs, 2);
  for (Index x = 0; x < 256; ++x) {
    for (Index key = 0; key < 256; ++key)
      ASSERT_EQ(sums(x, key), x < key ? payloads(0, key) : 0U) << x << ' ' << key;
  }
}

class DcfWidthTest : public testing::TestWithParam<int> {};

TEST_P(DcfWidthTest, IsRightOnRandomAndEdgeInputs) {
  const int bits = GetParam();
  const Word top = ~Word{0} >> (64 - bits);
  std::mt19937_64 generator(2);
  constexpr Index kKeys = 200;
  RingMatrix points(1, kKeys);
  RingMatrix payloads(1, kKeys);
  for (Index key = 0; key < kKeys; ++key) {
    points(0, key) = generator() & top;
    payloads(0, key) = generator();
  }
  points(0, 0) = 0;
  points(0, 1) = top;
  points(0, 2) = Word{1} << (bits - 1);
  payloads(0, 3) = 0;
  payloads(0, 4) = 1;
  RingMatrix inputs(9, kKeys);
  for (Index key = 0; key < kKeys; ++key) {
    const Word point = points(0, key);
    const std::array<Word, 9> beside{0,         top,         point,       point - 1, point + 1,
                                     point ^ 1, generator(), generator(), point >> 1};
    for (Index row = 0; row < 9; ++row) inputs(row, key) = beside[static_cast<std::size_t>(row)] & top;
  }
  const RingMatrix sums = Sum(MakeBatch(DcfShape(bits), points, payloads, 3), inputs);
  for (Index row = 0; row < 9; ++row) {
    for (Index key = 0; key < kKeys; ++key) {
      ASSERT_EQ(sums(row, key), inputs(row, key) < points(0, key) ? payloads(0, key) : 0U)
          << row << ' ' << key;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, DcfWidthTest, testing::Values(1, 2, 17, 32, 62, 63, 64));

// Points of a key as differences to thresholds of every size, some of them the same, so that paths part at
// every bit; numbers of keys and points around what a vector and a task hold.
TEST(Dcf, IsTheSameWithEveryInstructionSetWhereverPathsPart) {
  constexpr int kBits = 63;
  constexpr Word kTop = ~Word{0} >> (64 - kBits);
  std::mt19937_64 generator(7);
  const auto targets = testing_support::InstructionSets();
  EXPECT_FALSE(targets.empty());
  for (const Index keys : {1, 3, 21}) {
    RingMatrix points(1, keys);
    RingMatrix payloads(1, keys);
    for (Index key = 0; key < keys; ++key) {
      points(0, key) = generator() & kTop;
      payloads(0, key) = generator();
    }
    RingMatrix inputs(2 * kBits + 3, keys);
    for (Index row = 0; row < inputs.rows(); ++row) {
      const Word threshold = row == 0 ? 0 : generator() >> (64 - (row + 1) / 2);
      for (Index key = 0; key < keys; ++key) inputs(row, key) = (points(0, key) - threshold) & kTop;
    }
    inputs.row(inputs.rows() - 1) = inputs.row(0);
    const Batch batch = MakeBatch(DcfShape(kBits), points, payloads, 8);
    for (const auto target : targets) {
      SCOPED_TRACE(hwy::TargetName(target));
      const testing_support::ScopedTarget scoped(target);
      const RingMatrix sums = Sum(batch, inputs, 2);
      for (Index row = 0; row < inputs.rows(); ++row) {
        for (Index key = 0; key < keys; ++key) {
          ASSERT_EQ(sums(row, key), inputs(row, key) < points(0, key) ? payloads(0, key) : 0U)
              << row << ' ' << key;
        }
      }
    }
  }
}

// All inputs and points of six bits, with each number of bits left unread that the keys offer: in the least
// order for the walk (the rows' numbers go up and down), and with some that are not asked for.
TEST(Dcf, ComparesWithoutTheBitsThatARowLeavesUnread) {
  constexpr int kBits = 6;
  constexpr Index kValues = 1 << kBits;
  RingMatrix points(1, kValues);
  RingMatrix payloads(1, kValues);
  RingMatrix inputs(3 * kValues, kValues);
  for (const std::vector<int>& offered :
       std::vector<std::vector<int>>{{0}, {3}, {5, 0}, {4, 3, 1}, {5, 4, 3, 2, 1, 0}}) {
    std::vector<int> unread;
    for (Index row = 0; row < inputs.rows(); ++row) {
      unread.push_back(offered[static_cast<std::size_t>(row * 7 % 5) % offered.size()]);
      inputs.row(row).setConstant(static_cast<Word>(row * 11 % kValues));
    }
    for (Index key = 0; key < kValues; ++key) {
      points(0, key) = static_cast<Word>(key);
      payloads(0, key) = 0x9E3779B97F4A7C15ULL * static_cast<Word>(key + 1);
    }
    const DcfShape shape(kBits, offered);
    const Batch batch = MakeBatch(shape, points, payloads, 10);
    EXPECT_EQ(batch.corrections.levels.size() + batch.corrections.last.size(), DcfWords(shape, kValues));
    const RingMatrix sums = Sum(batch, inputs, 2, unread);
    for (Index row = 0; row < inputs.rows(); ++row) {
      const int left_out = unread[static_cast<std::size_t>(row)];
      for (Index key = 0; key < kValues; ++key) {
        const bool below = inputs(row, key) >> left_out < points(0, key) >> left_out;
        ASSERT_EQ(sums(row, key), below ? payloads(0, key) : 0U)
            << inputs(row, key) << " < " << key << " without " << left_out << " bits";
      }
    }
  }
}

// Differences to the powers of two, each as fine as its power: the paths of a key come and go.
TEST(Dcf, EndsPathsOfWideInputsWhereverTheirLastBitIs) {
  constexpr int kBits = 63;
  constexpr Word kTop = ~Word{0} >> (64 - kBits);
  constexpr Index kKeys = 37;
  std::mt19937_64 generator(11);
  std::vector<int> offered;
  for (int bits = 52; bits >= 0; bits -= 4) offered.push_back(bits);
  RingMatrix points(1, kKeys);
  RingMatrix payloads(1, kKeys);
  RingMatrix inputs(kBits, kKeys);
  std::vector<int> unread;
  for (Index key = 0; key < kKeys; ++key) {
    points(0, key) = (generator() & kTop) >> (key % 30);
    payloads(0, key) = generator();
  }
  for (Index row = 0; row < kBits; ++row) {
    unread.push_back(std::max(0, static_cast<int>(row) - 10) / 4 * 4);
    for (Index key = 0; key < kKeys; ++key)
      inputs(row, key) = (points(0, key) + (generator() >> (generator() % 64)) - (Word{1} << row)) & kTop;
  }
  const Batch batch = MakeBatch(DcfShape(kBits, offered), points, payloads, 12);
  for (const auto target : testing_support::InstructionSets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const testing_support::ScopedTarget scoped(target);
    const RingMatrix sums = Sum(batch, inputs, 2, unread);
    for (Index row = 0; row < kBits; ++row) {
      const int left_out = unread[static_cast<std::size_t>(row)];
      for (Index key = 0; key < kKeys; ++key) {
        const bool below = inputs(row, key) >> left_out < points(0, key) >> left_out;
        ASSERT_EQ(sums(row, key), below ? payloads(0, key) : 0U) << row << ' ' << key;
      }
    }
  }
}

// Two batches whose hashes have different keys: nothing of the one helps with the other, so all corrections
// differ; and an evaluation under another key gives neither the payload nor zero.
TEST(Dcf, ExpandsSeedsUnderItsOwnKey) {
  constexpr Index kKeys = 50;
  std::mt19937_64 generator(13);
  const auto first = RandomBlocks(generator, kKeys);
  const auto second = RandomBlocks(generator, kKeys);
  const RingMatrix points = RingMatrix::Constant(1, kKeys, 200);
  const RingMatrix payloads = RingMatrix::Constant(1, kKeys, 7);
  const HashKey other{0x24, 0x3F, 0x6A, 0x89};
  const DcfCorrections a = DcfGenerate(DcfShape(8, {3, 0}), kHashKey, points, payloads, first, second);
  const DcfCorrections b = DcfGenerate(DcfShape(8, {3, 0}), other, points, payloads, first, second);
  EXPECT_FALSE((a.levels.col(1) == b.levels.col(1)).any());
  EXPECT_FALSE((a.levels.col(2) == b.levels.col(2)).any());
  EXPECT_FALSE((a.last == b.last).any());
  Batch mixed{.corrections = a, .first = first, .second = second};
  const RingMatrix inputs = RingMatrix::Constant(1, kKeys, 100);
  EXPECT_TRUE((Sum(mixed, inputs) == 7U).all());
  mixed.corrections.hash_key = other;
  EXPECT_FALSE((Sum(mixed, inputs) == 7U).any());
}

// The library is the oracle: it has its own key schedule and rounds.
TEST(SeedHash, IsTheLibrarysWithEveryInstructionSetAndKey) {
  std::mt19937_64 generator(9);
  for (const auto target : testing_support::InstructionSets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const testing_support::ScopedTarget scoped(target);
    for (const std::size_t count : {0, 1, 2, 3, 4, 7, 8, 31, 32, 33, 69}) {
      HashKey key{};
      for (unsigned char& byte : key) byte = static_cast<unsigned char>(generator());
      const SeedHash hash(key);
      const auto in = RandomBlocks(generator, count);
      std::vector<Block> expected(count);
      hash.HashByLibrary(in, expected);
      std::vector<Block> out(count);
      hash.Hash(in, out);
      const auto same = [](const Block& a, const Block& b) { return a.low == b.low && a.high == b.high; };
      EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin(), same)) << count;
    }
  }
}

TEST(Dcf, CountsItsWords) {
  const Batch batch =
      MakeBatch(DcfShape(63), RingMatrix::Constant(1, 5, 9), RingMatrix::Constant(1, 5, 1), 4);
  EXPECT_EQ(batch.corrections.levels.size() + batch.corrections.last.size(), DcfWords(DcfShape(63), 5));
}

TEST(Dcf, RefusesShapesThatDoNotFit) {
  std::mt19937_64 generator(5);
  const auto roots = RandomBlocks(generator, 3);
  EXPECT_THROW((void)DcfShape(0), ContractError);
  EXPECT_THROW((void)DcfShape(65), ContractError);
  EXPECT_THROW(
      (void)DcfGenerate(DcfShape(8), kHashKey, RingMatrix::Zero(1, 2), RingMatrix::Zero(1, 3), roots, roots),
      ContractError);
  const Batch batch = MakeBatch(DcfShape(8), RingMatrix::Zero(1, 3), RingMatrix::Zero(1, 3), 6);
  for (const std::vector<int>& unread : std::vector<std::vector<int>>{{}, {8}, {-1}, {1, 1}, {1, 2}}) {
    EXPECT_THROW((void)DcfShape(8, unread), ContractError);
  }
  ThreadPool pool(1);
  EXPECT_THROW((void)DcfEvaluate(pool, true, batch.corrections, batch.first, RingMatrix::Zero(1, 4)),
               ContractError);
  const RingMatrix inputs = RingMatrix::Zero(2, 3);
  EXPECT_THROW((void)DcfEvaluate(pool, true, batch.corrections, batch.first, inputs, {0}), ContractError);
  EXPECT_THROW((void)DcfEvaluate(pool, true, batch.corrections, batch.first, inputs, {0, 1}), ContractError);
}

}  // namespace
}  // namespace trefoil::mpc
