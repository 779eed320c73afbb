#include "data/formats/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

TEST(ReadIdx, ReadsTheBytesOfTheFormat) {
  const TemporaryFolder folder;
  const auto path =
      folder.Put("images", Bytes({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255}));

  const IdxArray images = ReadIdx(path);

  EXPECT_EQ(images.shape, (std::vector<std::size_t>{2, 1, 3}));
  EXPECT_EQ(images.values, (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 255}));
  EXPECT_EQ(images.rows(), 2U);
  EXPECT_EQ(images.row_size(), 3U);
}

TEST(ReadIdx, ReadsFourDimensionsPlainAndPacked) {
  const TemporaryFolder folder;
  const IdxArray colour{{2, 1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255}};
  for (const char* name : {"a", "a.gz"}) {
    WriteIdx(folder / name, colour);
    EXPECT_EQ(ReadIdx(folder / name).shape, colour.shape);
    EXPECT_EQ(ReadIdx(folder / name).values, colour.values);
    EXPECT_EQ(ReadIdx(folder / name).row_size(), 6U);
  }
}

TEST(WriteIdx, GivesBackWhatItWrotePlainAndPacked) {
  const TemporaryFolder folder;
  const IdxArray matrix{{2, 3}, {9, 8, 7, 6, 5, 4}};
  const IdxArray labels{{300}, std::vector<std::uint8_t>(300, 7)};
  for (const char* name : {"a", "a.gz"}) {
    WriteIdx(folder / name, matrix);
    EXPECT_EQ(ReadIdx(folder / name).shape, matrix.shape);
    EXPECT_EQ(ReadIdx(folder / name).values, matrix.values);
    WriteIdx(folder / name, labels);
    EXPECT_EQ(ReadIdx(folder / name).shape, labels.shape);
    EXPECT_EQ(ReadIdx(folder / name).values, labels.values);
  }
  EXPECT_EQ(RawBytes(folder / "a").substr(0, 8), Bytes({0, 0, 8, 1, 0, 0, 1, 44}));
  EXPECT_EQ(RawBytes(folder / "a.gz").substr(0, 2), "\x1f\x8b");
}

TEST(WriteIdx, RefusesAnotherNumberOfValuesThanTheShapeSays) {
  const TemporaryFolder folder;
  EXPECT_THROW(WriteIdx(folder / "a", {{2, 2}, {1, 2, 3}}), ContractError);
  EXPECT_THROW(WriteIdx(folder / "a", {{}, {1}}), ContractError);
}

struct BadFile {
  std::string name;
  std::string content;
  std::string text;
};

class ReadIdxRefusal : public testing::TestWithParam<BadFile> {};

TEST_P(ReadIdxRefusal, NamesWhatItFound) {
  const TemporaryFolder folder;
  const auto path = folder.Put("bad.idx", GetParam().content);
  const std::string text = ErrorText<DataError>([&] { (void)ReadIdx(path); });
  EXPECT_THAT(text, HasSubstr(path.string()));
  EXPECT_THAT(text, HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Files, ReadIdxRefusal,
    testing::Values(
        BadFile{"empty", "", "magic number"}, BadFile{"other_format", "hello", "magic number"},
        BadFile{"floats", Bytes({0, 0, 13, 1, 0, 0, 0, 0}), "found type code 13, expected 8"},
        BadFile{"no_dimension", Bytes({0, 0, 8, 0}), "found 0 dimensions"},
        BadFile{"five_dimensions", Bytes({0, 0, 8, 5}), "found 5 dimensions, expected one to four"},
        BadFile{"cut_fourth", Bytes({0, 0, 8, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}),
                "header: found a cut file, expected 20 bytes"},
        // 2^64, which is 0 modulo 2^64.
        BadFile{"huge_fourth", Bytes({0, 0, 8, 4, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0}),
                "65536 x 65536 x 65536 x 65536"},
        BadFile{"cut_header", Bytes({0, 0, 8, 2, 0, 0, 0, 1}), "header: found a cut file"},
        BadFile{"cut_values", Bytes({0, 0, 8, 1, 0, 0, 0, 2, 1}), "found 1 bytes, expected 2"},
        BadFile{"left_over", Bytes({0, 0, 8, 1, 0, 0, 0, 1, 1, 2}), "found 2 bytes, expected 1"},
        // 2^32 - 1 cubed is beyond 64 bits; 2^22 x 2^21 x 2^21 is 0 modulo 2^64.
        BadFile{"huge", Bytes({0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}),
                "4294967295 x 4294967295 x 4294967295"},
        BadFile{"wraps", Bytes({0, 0, 8, 3, 0, 64, 0, 0, 0, 32, 0, 0, 0, 32, 0, 0}), "4194304 x"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trefoil::data
