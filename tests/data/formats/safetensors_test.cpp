#include "data/formats/safetensors.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trefoil::data {
namespace {

using namespace std::string_literals;

TEST(FormatSafetensors, WritesHeaderAndBytes) {
  const std::vector<double> values{1.0, -2.0};
  const std::int64_t number = 258;

  const auto file = FormatSafetensors(
      {{"w", NpyFromDoubles({1, 2}, values)}, {"n", NpyFromIntegers({}, {&number, 1})}}, {{"k", "a\"b"}});

  const auto header =
      R"({"__metadata__":{"k":"a\"b"},"w":{"dtype":"F64","shape":[1,2],"data_offsets":[0,16]},)"
      R"("n":{"dtype":"I64","shape":[],"data_offsets":[16,24]}})"s;
  const auto padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  const auto expected = std::string(1, static_cast<char>(padded.size())) + "\0\0\0\0\0\0\0"s + padded +
                        "\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\0\xC0"s + "\x02\x01\0\0\0\0\0\0"s;
  EXPECT_EQ(file, expected);
}

TEST(FormatSafetensors, RefusesWhatItDoesNotName) {
  EXPECT_THROW((void)FormatSafetensors({{"t", NpyFromText("text")}}, {}), ContractError);
  const auto array = NpyFromDoubles({0}, {});
  EXPECT_THROW((void)FormatSafetensors({{"a", array}, {"a", array}}, {}), ContractError);
  EXPECT_THROW((void)FormatSafetensors({{"__metadata__", array}}, {}), ContractError);
}

}  // namespace
}  // namespace trefoil::data
