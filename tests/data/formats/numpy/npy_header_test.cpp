#include "data/formats/numpy/npy_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

std::string Version(char version, const std::string& dictionary) {
  std::string content = "\x93NUMPY";
  content += version;
  content += '\0';
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  for (std::size_t k = 0; k < length_bytes; ++k)
    content += static_cast<char>(dictionary.size() >> (8 * k) & 0xFFU);
  return content + dictionary;
}

TEST(ParseNpyHeader, ReadsAllVersionsAndSpellings) {
  const std::string compact = "{\"shape\":(3,4),\"fortran_order\":True,\"descr\":\"<f4\"}";
  const std::string spaced = "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4, ), }   \n";
  for (const char version : {'\1', '\2', '\3'}) {
    for (const auto& dictionary : {compact, spaced}) {
      const std::string content = Version(version, dictionary);
      const NpyHeader header = ParseNpyHeader(content + "DATA", "x.npy");
      EXPECT_EQ(header.descr, "<f4");
      EXPECT_TRUE(header.fortran_order);
      EXPECT_EQ(header.shape, (std::vector<std::size_t>{3, 4}));
      EXPECT_EQ(header.length, content.size());
    }
  }
}

TEST(FormatNpyHeader, IsWhatNumpyWrites) {
  const std::string header = FormatNpyHeader("<f8", {2, 3});
  const std::string expected = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(header.size(), 128U);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.substr(10), expected + std::string(117 - expected.size(), ' ') + "\n");
}

TEST(ShapeText, WritesPythonTuples) {
  EXPECT_EQ(ShapeText({}), "()");
  EXPECT_EQ(ShapeText({5}), "(5,)");
  EXPECT_EQ(ShapeText({5, 6}), "(5, 6)");
}

TEST(NpyItemSize, KnowsTheTypesThatAreRead) {
  EXPECT_EQ(NpyItemSize("<f8"), 8U);
  EXPECT_EQ(NpyItemSize("|u1"), 1U);
  EXPECT_EQ(NpyItemSize("<i1"), 1U);
  EXPECT_EQ(NpyItemSize("|S12"), 12U);
  for (const char* other :
       {"", "<", ">f8", "<f2", "<c8", "|O", "<U3", "|S", "|S0", "|S1x", "|S99999999999", "<f88"}) {
    EXPECT_EQ(NpyItemSize(other), std::nullopt) << other;
  }
}

struct BadHeader {
  std::string name;
  std::string content;
  std::string text;
};

class ParseNpyHeaderRefusal : public testing::TestWithParam<BadHeader> {};

TEST_P(ParseNpyHeaderRefusal, NamesWhatItFound) {
  const auto text = ErrorText<DataError>([&] { (void)ParseNpyHeader(GetParam().content, "x.npy"); });
  EXPECT_THAT(text, HasSubstr("x.npy: header: found " + GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Headers, ParseNpyHeaderRefusal,
    testing::Values(
        BadHeader{"empty", "", "other bytes"}, BadHeader{"magic_only", "\x93NUMPY", "format version 0"},
        BadHeader{"version_four", "\x93NUMPY\x04", "format version 4"},
        BadHeader{"cut_length", "\x93NUMPY\x01", "a cut file"},
        BadHeader{"cut_dictionary", Version(1, "{'descr': '<f8'").substr(0, 20), "a cut file"},
        BadHeader{"no_dictionary", Version(1, "[1, 2]"), "no '{' in its place"},
        BadHeader{"structured", Version(1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': ()}"),
                  "something else than a string"},
        BadHeader{"other_key", Version(1, "{'dtype': '<f8'}"), "key \"dtype\""},
        BadHeader{"key_twice", Version(1, "{'descr': '<f8', 'descr': '<f8'}"), "key \"descr\""},
        BadHeader{"key_missing", Version(1, "{'descr': '<f8', 'shape': (1,)}"), "a missing key"},
        BadHeader{"no_bool", Version(1, "{'fortran_order': 1}"), "neither True nor False"},
        BadHeader{"negative_shape", Version(1, "{'shape': (-1,)}"), "a shape that cannot be read"},
        BadHeader{"huge_shape", Version(1, "{'shape': (99999999999999999999,)}"),
                  "a shape that cannot be read"},
        BadHeader{"no_end", Version(1, "{'descr': '<f8', "), "something else than a string"},
        BadHeader{"open_string", Version(1, "{'descr: "), "a string without an end"},
        BadHeader{"text_after", Version(1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()} x"),
                  "text after the dictionary"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trefoil::data
