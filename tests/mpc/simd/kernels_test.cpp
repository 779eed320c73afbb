#include "mpc/simd/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/packed.h"
#include "tests/support/protocol_test.h"

namespace trefoil::mpc {
namespace {

using testing_support::RandomWords;

struct Sizes {
  Index rows;
  Index inner;
  Index cols;
};

std::string Name(const Sizes& sizes) {
  return std::to_string(sizes.rows) + "x" + std::to_string(sizes.inner) + "x" + std::to_string(sizes.cols);
}

void PrintTo(const Sizes& sizes, std::ostream* out) { *out << Name(sizes); }

RingMatrix NaiveProduct(const RingMatrix& a, const RingMatrix& b) {
  RingMatrix out = RingMatrix::Zero(a.rows(), b.cols());
  for (Index row = 0; row < a.rows(); ++row) {
    for (Index col = 0; col < b.cols(); ++col) {
      for (Index k = 0; k < a.cols(); ++k) out(row, col) += a(row, k) * b(k, col);
    }
  }
  return out;
}

void ExpectEqual(const RingMatrix& found, const RingMatrix& expected) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  EXPECT_TRUE((found == expected).all());
}

class KernelsTest : public testing::TestWithParam<std::tuple<Sizes, std::size_t>> {};

TEST_P(KernelsTest, MatrixProductIsTheTripleLoop) {
  const auto& [sizes, threads] = GetParam();
  ThreadPool pool(threads);
  const RingMatrix a = RandomWords(1, sizes.rows, sizes.inner);
  const RingMatrix b = RandomWords(2, sizes.inner, sizes.cols);
  ExpectEqual(MatrixProduct(pool, a, b), NaiveProduct(a, b));
}

TEST_P(KernelsTest, TransposedProductIsTheTripleLoop) {
  const auto& [sizes, threads] = GetParam();
  ThreadPool pool(threads);
  const RingMatrix a = RandomWords(3, sizes.inner, sizes.rows);
  const RingMatrix b = RandomWords(4, sizes.inner, sizes.cols);
  ExpectEqual(TransposedProduct(pool, a, b), NaiveProduct(a.transpose(), b));
}

// 31, 32, 33 and 97 lie around multiples of the rows that a thread takes at once.
INSTANTIATE_TEST_SUITE_P(Shapes, KernelsTest,
                         testing::Combine(testing::Values(Sizes{1, 1, 1}, Sizes{1, 7, 1}, Sizes{31, 5, 3},
                                                          Sizes{32, 1, 10}, Sizes{33, 70, 9},
                                                          Sizes{97, 13, 1}, Sizes{3, 129, 65}, Sizes{0, 4, 3},
                                                          Sizes{4, 0, 3}, Sizes{40, 3, 0}, Sizes{0, 0, 0}),
                                          testing::Values(1U, 3U)),
                         [](const auto& info) {
                           return Name(std::get<0>(info.param)) + "_threads_" +
                                  std::to_string(std::get<1>(info.param));
                         });

// Sizes around all multiples that any of them works in, with sums in several parts.
TEST(Products, AreTheSameWithEveryInstructionSet) {
  ThreadPool pool(1);
  const auto targets = testing_support::InstructionSets();
  EXPECT_FALSE(targets.empty());
  for (const auto& sizes : {Sizes{9, 1100, 12}, Sizes{41, 67, 23}, Sizes{35, 33, 130}, Sizes{2, 3, 1}}) {
    const RingMatrix a = RandomWords(5, sizes.rows, sizes.inner);
    const RingMatrix b = RandomWords(6, sizes.inner, sizes.cols);
    const RingMatrix transposed = a.transpose();
    const RingMatrix expected = NaiveProduct(a, b);
    for (const auto target : targets) {
      SCOPED_TRACE(std::string(hwy::TargetName(target)) + " " + Name(sizes));
      const testing_support::ScopedTarget scoped(target);
      ExpectEqual(MatrixProduct(pool, a, b), expected);
      ExpectEqual(TransposedProduct(pool, transposed, b), expected);
    }
  }
}

/// Both products of packed numbers, added below a row of `out` that stays, beside those of their words.
void ComparePacked(ThreadPool& pool, const Sizes& sizes, int width) {
  const PackedMatrix a = testing_support::Packed(RandomWords(7, sizes.rows, sizes.inner), width);
  // Numbers of four bytes are multiplied as half words.
  const int known = width > 24 && width <= 32 ? 32 : 64;
  const RingMatrix words = Widened(a);
  const RingMatrix b = RandomWords(8, sizes.inner, sizes.cols);
  const RingMatrix before = RandomWords(9, sizes.rows + 1, sizes.cols);
  RingMatrix out = before;
  AddMatrixProduct(pool, a, b.transpose(), 1, out);
  RingMatrix expected = before;
  expected.bottomRows(sizes.rows) += NaiveProduct(words, b);
  ExpectEqual(testing_support::Reduced(out, known), testing_support::Reduced(expected, known));

  const RingMatrix errors = RandomWords(10, sizes.rows + 1, sizes.cols);
  RingMatrix sum = RandomWords(11, sizes.inner, sizes.cols);
  const RingMatrix expected_sum = sum + NaiveProduct(words.transpose(), errors.bottomRows(sizes.rows));
  AddTransposedProduct(pool, a, errors, 1, sum);
  ExpectEqual(testing_support::Reduced(sum, known), testing_support::Reduced(expected_sum, known));
}

TEST(PackedProducts, AreThoseOfWordsAtEveryWidthWithEveryInstructionSet) {
  ThreadPool pool(1);
  for (const auto target : testing_support::InstructionSets()) {
    const testing_support::ScopedTarget scoped(target);
    for (int width = 1; width <= 64; ++width) {
      SCOPED_TRACE(std::string(hwy::TargetName(target)) + " " + std::to_string(width) + " bits");
      for (const auto& sizes : {Sizes{5, 21, 11}, Sizes{35, 18, 1}, Sizes{1, 1, 1}})
        ComparePacked(pool, sizes, width);
    }
  }
}

TEST(PackedProducts, AreThoseOfWordsInShapesAroundWholeTasks) {
  for (const std::size_t threads : {1U, 3U}) {
    ThreadPool pool(threads);
    for (const auto& sizes :
         {Sizes{33, 1100, 12}, Sizes{97, 70, 3}, Sizes{31, 33, 10}, Sizes{0, 4, 3}, Sizes{4, 0, 3}}) {
      for (const int width : {32, 40}) ComparePacked(pool, sizes, width);
    }
  }
}

TEST(PackedProducts, RefuseSizesThatDiffer) {
  ThreadPool pool(1);
  const PackedMatrix a(2, 3, 40);
  RingMatrix out = RingMatrix::Zero(2, 4);
  EXPECT_THROW(AddMatrixProduct(pool, a, RingMatrix::Zero(4, 2), 0, out), ContractError);
  EXPECT_THROW(AddMatrixProduct(pool, a, RingMatrix::Zero(4, 3), 1, out), ContractError);
  EXPECT_THROW(AddTransposedProduct(pool, a, RingMatrix::Zero(2, 4), 0, out), ContractError);
  RingMatrix sum = RingMatrix::Zero(3, 4);
  EXPECT_THROW(AddTransposedProduct(pool, a, RingMatrix::Zero(2, 4), 1, sum), ContractError);
}

TEST(MatrixProduct, WrapsModulo2To64) {
  ThreadPool pool(1);
  const RingMatrix ones = RingMatrix::Constant(3, 5, ~Word{0});
  EXPECT_TRUE((MatrixProduct(pool, ones, ones.transpose()) == 5).all());
}

TEST(MatrixProduct, RefusesInnerSizesThatDiffer) {
  ThreadPool pool(1);
  EXPECT_THROW((void)MatrixProduct(pool, RingMatrix::Zero(2, 3), RingMatrix::Zero(2, 3)), ContractError);
  EXPECT_THROW((void)TransposedProduct(pool, RingMatrix::Zero(2, 3), RingMatrix::Zero(3, 2)), ContractError);
}

TEST(ForParts, CoverEveryWordOnce) {
  for (const std::size_t threads : {1U, 3U}) {
    ThreadPool pool(threads);
    for (const Index words : {0, 1, 1000, 1 << 15, (1 << 15) + 1, 200001}) {
      for (const Index times : {1, 7, 1 << 20}) {
        std::vector<int> seen(static_cast<std::size_t>(words), 0);
        std::atomic<int> calls = 0;
        ForParts(pool, words, times, [&](Index first, Index count) {
          ++calls;
          for (Index k = first; k < first + count; ++k) ++seen[static_cast<std::size_t>(k)];
        });
        EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), words);
        const bool enough = words * times > 1 << 15;
        EXPECT_EQ(calls > 1, threads > 1 && words > 1 && enough) << words << " words " << times << " times";
      }
    }
  }
}

}  // namespace
}  // namespace trefoil::mpc
