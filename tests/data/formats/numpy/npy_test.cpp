#include "data/formats/numpy/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/formats/numpy/npy_header.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

struct Element {
  std::string descr;
  std::string bytes;  // of the two elements, as NumPy's tobytes() gives them
  std::vector<double> values;
};

class NpyElementTest : public testing::TestWithParam<Element> {};

TEST_P(NpyElementTest, IsReadAsDouble) {
  const auto& [descr, bytes, values] = GetParam();
  const NpyArray array = ParseNpy(FormatNpyHeader(descr, {2}) + bytes, "x.npy");
  EXPECT_EQ(array.shape, std::vector<std::size_t>{2});
  EXPECT_EQ(NpyToDoubles(array, "x.npy"), values);
}

INSTANTIATE_TEST_SUITE_P(
    Types, NpyElementTest,
    testing::Values(Element{"<f8", std::string("\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\x00\xc0", 16), {1.5, -2}},
                    Element{"<f4", std::string("\0\0\xc0\x3f\0\0\0\xc0", 8), {1.5, -2}},
                    Element{
                        "<i8", std::string("\1\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff", 16), {1, -2}},
                    Element{"<i4", std::string("\1\0\0\0\xfe\xff\xff\xff", 8), {1, -2}},
                    Element{"<i2", std::string("\0\1\xfe\xff", 4), {256, -2}},
                    Element{"|i1", "\x01\xfe", {1, -2}},
                    Element{"<u8", std::string("\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0", 16), {1, 4294967296.0}},
                    Element{"<u4", std::string("\1\0\0\0\xff\xff\xff\xff", 8), {1, 4294967295.0}},
                    Element{"<u2", std::string("\0\1\xff\xff", 4), {256, 65535}},
                    Element{"|u1", "\x01\xff", {1, 255}}, Element{"|b1", std::string("\0\1", 2), {0, 1}}),
    [](const auto& info) { return info.param.descr.substr(1); });

TEST(ParseNpy, TurnsFortranOrderIntoRowMajor) {
  const std::vector<double> stored{0, 6,  3, 9, 1, 7,
                                   4, 10, 2, 8, 5, 11};  // numpy.arange(12).reshape(2, 2, 3), order="F"
  const NpyArray memory = NpyFromDoubles({2, 2, 3}, stored);
  std::string content = FormatNpy(memory);
  content.replace(content.find("False"), 5, "True ");
  const NpyArray array = ParseNpy(content, "x.npy");
  EXPECT_EQ(NpyToDoubles(array, "x.npy"), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(WriteNpy, GivesBackWhatItWrote) {
  const TemporaryFolder folder;
  const std::vector<double> doubles{1, -2.5, 3e300, 4, 5, 6};
  const std::vector<std::int64_t> integers{-1, 1LL << 40};
  for (const auto& array : {NpyFromDoubles({3, 2}, doubles), NpyFromIntegers({2}, integers),
                            NpyFromDoubles({0, 5}, {}), NpyFromText("{\"ε\": 3}")}) {
    WriteNpy(folder / "a.npy", array);
    const NpyArray read = ReadNpy(folder / "a.npy");
    EXPECT_EQ(read.descr, array.descr);
    EXPECT_EQ(read.shape, array.shape);
    EXPECT_EQ(read.bytes, array.bytes);
  }
}

TEST(NpyText, IsAScalarByteString) {
  EXPECT_EQ(NpyToText(NpyFromText("{\"ε\": 3}"), "job"), "{\"ε\": 3}");
  EXPECT_EQ(NpyToText(NpyFromText(""), "job"), "");
  EXPECT_THROW((void)NpyToText(NpyFromIntegers({1}, std::vector<std::int64_t>{1}), "job"), DataError);
  EXPECT_THROW((void)NpyToDoubles(NpyFromText("1"), "job"), DataError);
}

TEST(NpyArray, RefusesAnotherNumberOfValuesThanTheShapeSays) {
  EXPECT_THROW((void)NpyFromDoubles({2, 2}, std::vector<double>{1, 2, 3}), ContractError);
  EXPECT_THROW((void)FormatNpy({"<f8", {2}, "short"}), ContractError);
  EXPECT_THROW((void)FormatNpy({"|O", {0}, ""}), ContractError);
}

struct BadBody {
  std::string name;
  std::string content;
  std::string text;
};

class ParseNpyRefusal : public testing::TestWithParam<BadBody> {};

TEST_P(ParseNpyRefusal, NamesWhatItFound) {
  const auto text = ErrorText<DataError>([&] { (void)ParseNpy(GetParam().content, "x.npy"); });
  EXPECT_THAT(text, HasSubstr("x.npy: " + GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, ParseNpyRefusal,
    testing::Values(
        BadBody{"big_endian", FormatNpyHeader(">f8", {1}) + "12345678", "header: found element type \">f8\""},
        BadBody{"objects", FormatNpyHeader("|O", {1}) + "pickled", "header: found element type \"|O\""},
        BadBody{"short", FormatNpyHeader("<f8", {2}) + "12345678",
                "values: found 8 bytes, expected shape (2,)"},
        BadBody{"left_over", FormatNpyHeader("<i2", {1}) + "123", "values: found 3 bytes"},
        BadBody{"overflow", FormatNpyHeader("<f8", {1UL << 32, 1UL << 32}), "values: found 0 bytes"},
        BadBody{"overflow_of_bytes", FormatNpyHeader("<f8", {1UL << 61}), "values: found 0 bytes"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trefoil::data
