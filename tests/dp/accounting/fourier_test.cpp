#include "dp/accounting/fourier.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace trefoil::dp {
namespace {

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
}  // namespace trefoil::dp
