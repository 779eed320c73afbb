#include "data/features/onnx_writer.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trefoil::data {
namespace {

using namespace std::string_literals;

// Byte by byte from onnx.proto's field numbers and protobuf's encoding; 0x3F800000 is 1.0F. What OpenCV makes
// of such models is in onnx_features_test.cpp, what another decoder does in tests/apps/export_test.py.
TEST(OnnxWriter, WritesTheMessagesOfTheSchema) {
  OnnxWriter writer;
  const float one = 1;
  writer.AddConstant("c", {1}, {&one, 1});
  writer.AddNode("Sum", {"x", "c"}, "y", {{"k", 300}, {"l", std::vector<std::int64_t>{2, -1}}, {"m", 1.0F}});

  const auto tensor =
      "\x08\x01\x10\x01\x42\x01"
      "c\x4A\x04\x00\x00\x80\x3F"s;
  const auto number = "\x0A\x01k\x18\xAC\x02\xA0\x01\x02"s;
  const auto real = "\x0A\x01m\x15\x00\x00\x80\x3F\xA0\x01\x01"s;
  const auto list = "\x0A\x01l\x40\x02\x40\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\xA0\x01\x07"s;
  const auto node =
      "\x0A\x01x\x0A\x01"
      "c\x12\x01y\x1A\x01y\x22\x03Sum"s +
      "\x2A\x09" + number + "\x2A\x13" + list + "\x2A\x0B" + real;
  const auto input = "\x0A\x01x\x12\x0F\x0A\x0D\x08\x01\x12\x09\x0A\x03\x12\x01N\x0A\x02\x08\x04"s;
  const auto output = "\x0A\x01y\x12\x0A\x0A\x08\x08\x01\x12\x04\x0A\x02\x08\x04"s;
  const auto graph =
      "\x2A\x0D" + tensor + "\x0A\x3E" + node + "\x12\x07trefoil" + "\x5A\x14" + input + "\x62\x0F" + output;
  const auto model = writer.Finish({"x", {kAnyLength, 4}}, {"y", {4}}, "d", {{"a", "b"}});
  const auto expected =
      "\x08\x05\x12\x07trefoil\x32\x01"
      "d"s;
  ASSERT_EQ(model.substr(0, expected.size()), expected);
  EXPECT_NE(model.find(graph), std::string::npos);
  EXPECT_TRUE(
      model.ends_with("\x42\x04\x0A\x00\x10\x0A"
                      "r\x06\x0A\x01"
                      "a\x12\x01"
                      "b"s));
}

TEST(OnnxWriter, RefusesAConstantOfAnotherSize) {
  OnnxWriter writer;
  const float one = 1;
  EXPECT_THROW(writer.AddConstant("c", {2}, {&one, 1}), ContractError);
}

}  // namespace
}  // namespace trefoil::data
