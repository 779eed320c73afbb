#include "base/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "base/error.h"

namespace trefoil {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> RandomNumbers(std::size_t count) {
  std::mt19937 random(1);
  std::vector<Complex> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.emplace_back(random() % 100U, random() % 100U);
  return numbers;
}

FftBuffer ToBuffer(const std::vector<Complex>& numbers) {
  FftBuffer buffer(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) buffer.data()[i] = std::complex<float>(numbers[i]);
  return buffer;
}

class FftTest : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(FftTest, IsTheSumOfItsDefinitionForwardAndBackward) {
  const auto [rows, columns] = GetParam();
  const auto x = RandomNumbers(static_cast<std::size_t>(rows * columns));
  auto forward = ToBuffer(x);
  auto backward = ToBuffer(x);
  const Fft2d fft(rows, columns);

  fft.Forward(forward);
  fft.Backward(backward);

  for (int k = 0; k < rows * columns; ++k) {
    Complex sum = 0;
    Complex conjugate_sum = 0;
    for (int n = 0; n < rows * columns; ++n) {
      const double turns = static_cast<double>(k / columns * (n / columns)) / rows +
                           static_cast<double>(k % columns * (n % columns)) / columns;
      const Complex wave = std::polar(1.0, -2 * std::numbers::pi * turns);
      sum += x[static_cast<std::size_t>(n)] * wave;
      conjugate_sum += x[static_cast<std::size_t>(n)] * std::conj(wave);
    }
    // Values of magnitude up to 100 sqrt(2) * 144, at float precision with room for a few roundings.
    EXPECT_LT(std::abs(Complex(forward.data()[k]) - sum), 0.02);
    EXPECT_LT(std::abs(Complex(backward.data()[k]) - conjugate_sum), 0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, FftTest,
                         testing::Values(std::pair{1, 1}, std::pair{8, 8}, std::pair{12, 10},
                                         std::pair{3, 32}));

TEST(Fft2d, RefusesOtherSizes) {
  FftBuffer buffer(9);
  EXPECT_THROW(Fft2d(2, 4).Forward(buffer), ContractError);
  EXPECT_THROW(Fft2d(0, 4), ContractError);
}

TEST(FftBuffer, BeginsWithZeros) {
  FftBuffer buffer(100);
  for (std::size_t i = 0; i < buffer.size(); ++i) EXPECT_EQ(buffer.data()[i], std::complex<float>());
}

TEST(Fourier, IsTheSumOfItsDefinition) {
  const std::vector<double> values{0.5, -1, 2, 0.25, 0, 3, -0.125, 1};
  const auto coefficients = Fourier(8).Forward(values);
  ASSERT_EQ(coefficients.size(), 5U);
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      sum += values[i] * std::polar(1.0, -2 * std::acos(-1.0) * static_cast<double>(i * k) / 8);
    EXPECT_LE(std::abs(coefficients[k] - sum), FourierError(8) * 7.875);
  }
}

TEST(Fourier, InvertsItself) {
  std::vector<double> values(1024);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i * i));
  const Fourier fourier(values.size());
  const auto back = fourier.Inverse(fourier.Forward(values));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(back[i], values[i], 1e-13);
}

TEST(Fourier, RefusesOtherSizes) {
  EXPECT_THROW(Fourier(0), ContractError);
  EXPECT_THROW(Fourier(12), ContractError);
  EXPECT_THROW((void)Fourier(8).Forward({1, 2}), ContractError);
  EXPECT_THROW((void)Fourier(8).Inverse({1, 2}), ContractError);
}

}  // namespace
}  // namespace trefoil
