#include "base/length_prefix.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trefoil {
namespace {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace): for texts with zeros

TEST(LengthPrefix, IsLittleEndianBeforeTheText) {
  EXPECT_EQ(WithLength("abc"), "\x03\0\0\0\0\0\0\0abc"s);
  EXPECT_EQ(WithLength(""), "\0\0\0\0\0\0\0\0"s);
  EXPECT_EQ(WithLength(std::string(0x1234, 'x')).substr(0, 3), "\x34\x12\0"s);
}

TEST(LengthPrefix, ReadsAllEightBytes) {
  EXPECT_EQ(LengthIn("\x03\0\0\0\0\0\0\0abc"s), 3U);
  EXPECT_EQ(LengthIn("\x08\x07\x06\x05\x04\x03\x02\xf1"s), 0xF102030405060708U);
  EXPECT_EQ(LengthIn(WithLength(std::string(70000, 'x'))), 70000U);
  EXPECT_THROW((void)LengthIn("1234567"), ContractError);
}

}  // namespace
}  // namespace trefoil
