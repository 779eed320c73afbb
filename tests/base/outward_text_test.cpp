#include "base/outward_text.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <string>

#include "base/error.h"

namespace trefoil {
namespace {

TEST(OutwardText, RoundsABoundAwayFromWhatItBounds) {
  EXPECT_EQ(FixedAbove(2.9994001, 3), "3.000");
  EXPECT_EQ(FixedAbove(0.7880001, 3), "0.789");  // "{:.3f}" says 0.788
  EXPECT_EQ(FixedBelow(0.8879999, 3), "0.887");  // and here 0.888
  EXPECT_EQ(FixedAbove(9.9991, 3), "10.000");
  EXPECT_EQ(FixedBelow(10.0, 3), "10.000");
  EXPECT_EQ(FixedBelow(0.0004, 3), "0.000");
  EXPECT_EQ(FixedAbove(1e-300, 3), "0.001");
  EXPECT_EQ(FixedAbove(0.4, 0), "1");
  EXPECT_EQ(DigitsAbove(2.33284400001, 6), "2.33285");
  EXPECT_EQ(DigitsAbove(0.99999901, 6), "1");
  EXPECT_EQ(DigitsAbove(123456.7, 6), "123457");
  EXPECT_EQ(DigitsAbove(999999.5, 6), "1e+06");
  EXPECT_EQ(DigitsBelow(0.8448917, 6), "0.844891");
  EXPECT_EQ(DigitsBelow(1e300, 6), "1e+300");
  EXPECT_EQ(DigitsBelow(9.87e-14, 1), "9e-14");
  EXPECT_EQ(DigitsBelow(0.9999999, 3), "0.999");
  EXPECT_EQ(DigitsAbove(1.2345678e-5, 3), "1.24e-05");
}

TEST(OutwardText, LeavesWhatTheDigitsShowExactly) {
  for (const double value : {0.0, 1.0, 0.1, 0.3, 2.5, 1e-5, 1e-6, 3e-7, 0.788, 12345.6}) {
    EXPECT_EQ(std::strtod(DigitsAbove(value, 6).c_str(), nullptr), value);
    EXPECT_EQ(DigitsAbove(value, 6), DigitsBelow(value, 6));
  }
  EXPECT_EQ(DigitsAbove(1e-5, 6), "1e-05");
  EXPECT_EQ(FixedAbove(0.788, 3), "0.788");
  EXPECT_EQ(FixedAbove(0, 3), "0.000");
  EXPECT_EQ(DigitsAbove(std::numeric_limits<double>::infinity(), 6), "inf");
}

TEST(OutwardText, NeverCrossesAndStaysWithinOneDigit) {
  std::mt19937_64 coins(7);
  std::uniform_real_distribution<double> logarithm(-30, 30);
  for (int k = 0; k < 20'000; ++k) {
    const double value = std::exp(logarithm(coins));
    const int digits = 1 + static_cast<int>(coins() % 15);
    const double above = std::strtod(DigitsAbove(value, digits).c_str(), nullptr);
    const double below = std::strtod(DigitsBelow(value, digits).c_str(), nullptr);
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - digits + 1) * (1 + 1e-9);
    ASSERT_GE(above, value);
    ASSERT_LE(below, value);
    ASSERT_LE(above - below, unit + 4e-16 * value) << value << " at " << digits;
    const double fixed_above = std::strtod(FixedAbove(value, 3).c_str(), nullptr);
    const double fixed_below = std::strtod(FixedBelow(value, 3).c_str(), nullptr);
    ASSERT_GE(fixed_above, value);
    ASSERT_LE(fixed_below, value);
    ASSERT_LE(fixed_above - fixed_below, 0.001 + 4e-16 * value + 1e-12);
  }
}

std::string Printed(const char* format, int digits, double value) {
  std::array<char, 512> buffer{};
  (void)std::snprintf(buffer.data(), buffer.size(), format, digits, value);
  return buffer.data();
}

/// What printf rounds to is one of both texts: the upper one unless it is below the value.
void ExpectAsPrinted(double value, int digits) {
  const std::string general = Printed("%.*g", digits, value);
  const std::string fixed = Printed("%.*f", digits, value);
  if (!(std::strtod(general.c_str(), nullptr) < value)) {
    ASSERT_EQ(DigitsAbove(value, digits), general);
  }
  if (!(std::strtod(general.c_str(), nullptr) > value)) {
    ASSERT_EQ(DigitsBelow(value, digits), general);
  }
  if (!(std::strtod(fixed.c_str(), nullptr) < value)) {
    ASSERT_EQ(FixedAbove(value, digits), fixed);
  }
  if (!(std::strtod(fixed.c_str(), nullptr) > value)) {
    ASSERT_EQ(FixedBelow(value, digits), fixed);
  }
}

// Of all magnitudes and both signs: doubles with random bits, infinities, NaN, what is hardly above zero or
// below infinity, and numbers just between two texts, and beside them.
TEST(OutwardText, WritesWhatPrintfDoes) {
  using Limits = std::numeric_limits<double>;
  std::mt19937_64 coins(8);
  for (int digits = 1; digits <= 15; ++digits) {
    for (int k = 0; k < 10'000; ++k) ExpectAsPrinted(std::bit_cast<double>(coins()), digits);
    for (int k = 0; k < 2'000; ++k) {
      const double value = static_cast<double>(coins() % 100'000) / 32;
      for (const double near : {value, std::nextafter(value, 1e9), std::nextafter(value, -1.0)})
        ExpectAsPrinted(near, digits);
    }
    for (const double value :
         {0.0, Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(), Limits::min(), Limits::max()}) {
      ExpectAsPrinted(value, digits);
      ExpectAsPrinted(-value, digits);
    }
  }
}

/// While it lives, the process writes decimal commas; not where the machine has and makes no such locale.
class DecimalCommas {
 public:
  DecimalCommas() {
    std::string folder = (std::filesystem::temp_directory_path() / "locale-XXXXXX").string();
    folder_ = mkdtemp(folder.data());
    const std::string make = "localedef -i de_DE -f UTF-8 " + (folder_ / "de_DE.UTF-8").string();
    if (std::system((make + " 2>/dev/null").c_str()) == 0) (void)setenv("LOCPATH", folder_.c_str(), 1);
    (void)std::setlocale(LC_ALL, "de_DE.UTF-8");
  }
  ~DecimalCommas() {
    (void)std::setlocale(LC_ALL, "C");
    (void)unsetenv("LOCPATH");
    std::filesystem::remove_all(folder_);
  }
  DecimalCommas(const DecimalCommas&) = delete;
  DecimalCommas& operator=(const DecimalCommas&) = delete;

 private:
  std::filesystem::path folder_;
};

TEST(OutwardText, IsTheSameWhereTheProcessWritesDecimalCommas) {
  const DecimalCommas commas;
  if (Printed("%.*f", 1, 0.5) != "0,5") GTEST_SKIP() << "no locale with a decimal comma";
  EXPECT_EQ(FixedAbove(0.9994, 3), "1.000");
  EXPECT_EQ(FixedAbove(2.9991, 3), "3.000");
  EXPECT_EQ(FixedBelow(-0.12345, 3), "-0.124");
  EXPECT_EQ(DigitsAbove(9.999992e-06, 6), "1e-05");
  EXPECT_EQ(DigitsAbove(1.9999921e-5, 6), "2e-05");
  EXPECT_EQ(DigitsBelow(1.2649, 4), "1.264");
}

TEST(OutwardText, RoundsNegativeNumbersTheSameWay) {
  EXPECT_EQ(FixedAbove(-0.12345, 3), "-0.123");
  EXPECT_EQ(FixedBelow(-0.12345, 3), "-0.124");
  EXPECT_EQ(DigitsBelow(-1234.5, 2), "-1.3e+03");
}

TEST(OutwardText, RefusesMoreDigitsThanADoubleHas) {
  EXPECT_THROW((void)FixedAbove(1, 16), ContractError);
  EXPECT_THROW((void)DigitsAbove(1, 16), ContractError);
}

}  // namespace
}  // namespace trefoil
