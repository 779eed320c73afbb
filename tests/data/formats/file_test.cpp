#include "data/formats/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

/// More than two MiB, and more than one when they are packed.
std::string ManyDigits() {
  std::string digits;
  for (int i = 0; i < 1'000'000; ++i) digits += std::to_string(i);
  return digits;
}

TEST(ReadFile, ReturnsPlainBytes) {
  const TemporaryFolder folder;
  const std::string content("a\0b\n\xff", 5);
  EXPECT_EQ(ReadFile(folder.Put("plain.gz", content)), content);  // the name does not make it gzip
  EXPECT_EQ(ReadFile(folder.Put("empty", "")), "");
}

TEST(FileSha256, IsThatOfTheBytes) {
  const TemporaryFolder folder;
  // FIPS 180-4's example.
  EXPECT_EQ(FileSha256(folder.Put("a", "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_THAT(ErrorText<DataError>([&] { (void)FileSha256(folder / "absent"); }),
              HasSubstr("absent: found no such file"));
}

TEST(ReadFile, HashesWhatItReadsAsItIsOnDisk) {
  const TemporaryFolder folder;
  const std::string content = ManyDigits();
  WriteFile(folder / "a.txt", content);
  WriteFile(folder / "a.gz", content);
  const auto packed = RawBytes(folder / "a.gz");
  ASSERT_GT(packed.size(), std::size_t{1} << 20);  // more than one chunk
  folder.Put("two.gz", packed + packed);
  for (const char* name : {"a.txt", "a.gz", "two.gz"}) {
    Sha256 on_disk;
    EXPECT_EQ(ReadFile(folder / name, {}, &on_disk), name[0] == 't' ? content + content : content);
    EXPECT_EQ(on_disk.Hex(), FileSha256(folder / name));
  }
}

TEST(WriteFile, PacksByExtensionAndReadFileUnpacksByContent) {
  const TemporaryFolder folder;
  const std::string content = ManyDigits();
  WriteFile(folder / "a.gz", content);
  WriteFile(folder / "a.txt", content);

  EXPECT_LT(RawBytes(folder / "a.gz").size(), content.size() / 2);
  EXPECT_EQ(RawBytes(folder / "a.txt"), content);
  EXPECT_EQ(ReadFile(folder / "a.gz"), content);
  std::filesystem::rename(folder / "a.gz", folder / "renamed");
  EXPECT_EQ(ReadFile(folder / "renamed"), content);
}

TEST(WriteFile, StoresNoTimeAndNoName) {
  const TemporaryFolder folder;
  WriteFile(folder / "one.gz", "content");
  WriteFile(folder / "two.gz", "content");
  const std::string bytes = RawBytes(folder / "one.gz");
  EXPECT_EQ(bytes, RawBytes(folder / "two.gz"));
  EXPECT_EQ(bytes.substr(3, 5), std::string(5, '\0'));  // RFC 1952: FLG (no name), MTIME
}

TEST(ReadFile, JoinsGzipMembers) {
  const TemporaryFolder folder;
  WriteFile(folder / "one.gz", "first ");
  WriteFile(folder / "two.gz", "second");
  EXPECT_EQ(ReadFile(folder.Put("both", RawBytes(folder / "one.gz") + RawBytes(folder / "two.gz"))),
            "first second");
}

TEST(ReadFile, NamesTheFileThatItCannotRead) {
  const TemporaryFolder folder;
  WriteFile(folder / "whole.gz", "some content");
  const std::string packed = RawBytes(folder / "whole.gz");
  const auto error = [](const std::filesystem::path& path) {
    return ErrorText<DataError>([&] { (void)ReadFile(path); });
  };

  EXPECT_EQ(error(folder / "none"),
            (folder / "none").string() + ": found no such file, expected a readable file");
  EXPECT_THAT(error(folder.path()), HasSubstr("expected a regular file"));
  EXPECT_THAT(error(folder.Put("cut.gz", packed.substr(0, packed.size() - 1))),
              HasSubstr("cut.gz: found a damaged"));
  EXPECT_THAT(error(folder.Put("tail.gz", packed + "x")), HasSubstr("damaged"));
}

TEST(WriteFile, ReportsAFolderThatIsNotThere) {
  const TemporaryFolder folder;
  EXPECT_THAT(ErrorText<std::runtime_error>([&] { WriteFile(folder / "none/x", ""); }),
              HasSubstr("cannot be written"));
}

TEST(Quote, KeepsAnErrorOnOneShortLine) {
  EXPECT_EQ(Quote("a\nb\x7f"), "\"a.b.\"");
  EXPECT_EQ(Quote("\ta\r"), "\"\\ta\\r\"");
  EXPECT_EQ(Quote(std::string(41, 'a')), "\"" + std::string(40, 'a') + "...\"");
}

TEST(NumberText, IsShort) {
  EXPECT_EQ(NumberText(2.5), "2.5");
  EXPECT_EQ(NumberText(1e300 * 1e10), "inf");
}

// 64 MiB of zeros take 64 KiB when they are packed; no more of them than the head announces are unpacked.
TEST(ReadFile, UnpacksNoMoreThanTheHeadAnnounces) {
  const TemporaryFolder folder;
  const auto path = folder / "zeros.gz";
  WriteFile(path, std::string("9") + std::string(std::size_t{1} << 26, '\0'));
  const AnnouncedSize nine = [](std::string_view head) -> std::optional<std::uint64_t> {
    EXPECT_LE(head.size(), BoundedContent::kMaxHead);
    return head[0] - '0';
  };
  EXPECT_EQ(ErrorText<DataError>([&] { (void)ReadFile(path, nine); }),
            path.string() + ": values: found more than 9 bytes, expected no more than its header allows");
  WriteFile(path, "912345678");
  EXPECT_EQ(ReadFile(path, nine), "912345678");
}

// A terabyte of which nothing is on disk.
TEST(ReadFile, TakesNoMoreMemoryThanTheHeadAnnounces) {
  const TemporaryFolder folder;
  const auto path = folder.Put("long", "9");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  const AnnouncedSize nine = [](std::string_view head) -> std::optional<std::uint64_t> {
    return head[0] - '0';
  };
  EXPECT_THAT(ErrorText<DataError>([&] { (void)ReadFile(path, nine); }), HasSubstr("more than 9 bytes"));
  const AnnouncedSize refused = [](std::string_view) -> std::optional<std::uint64_t> {
    throw DataError("another shape");
  };
  EXPECT_EQ(ErrorText<DataError>([&] { (void)ReadFile(path, refused); }), "another shape");
}

TEST(ReadFile, RefusesAHeadWithoutAnEnd) {
  const TemporaryFolder folder;
  const auto path = folder / "zeros.gz";
  WriteFile(path, std::string(BoundedContent::kMaxHead + 5, '\0'));
  const AnnouncedSize never = [](std::string_view) { return std::optional<std::uint64_t>(); };
  EXPECT_THAT(ErrorText<DataError>([&] { (void)ReadFile(path, never); }), HasSubstr("no end in a mebibyte"));
}

TEST(BoundedContent, EndsWhereTextIsPackedWithoutAnAnnouncement) {
  BoundedContent content("a.csv.gz", MaxBytes{10});
  content.Append("12345");
  EXPECT_EQ(
      ErrorText<DataError>([&] { content.Append("678901"); }),
      "a.csv.gz: values: found more than 10 bytes, expected at most as many where text is packed: unpack "
      "the file");
  content.Append("67890");
  EXPECT_EQ(content.Take(), "1234567890");
}

TEST(ReadHead, ReadsTheFirstBytesPackedOrNot) {
  const TemporaryFolder folder;
  WriteFile(folder / "a.gz", "content");
  EXPECT_EQ(ReadHead(folder / "a.gz", 3), "con");
  EXPECT_EQ(ReadHead(folder.Put("plain", "content"), 30), "content");
  EXPECT_EQ(ReadHead(folder.Put("empty", ""), 3), "");
}

}  // namespace
}  // namespace trefoil::data
