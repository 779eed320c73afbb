#include "data/formats/numpy/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <ctime>

#include "data/formats/file.h"
#include "tests/data/temporary_folder.h"
#include "tests/support/faults/file_calls.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;
using testing_support::TakeFileCalls;

/// An archive as NumPy's savez_compressed writes it (deflated, ZIP64 fields in the local headers), made with
/// Python's zipfile: x = float32 [[1, 2, 3], [4, 5, 6]], y = int64 [0, 1].
constexpr std::string_view kFromPython =
    "504b03042d0000000800000021587c9cdea2ffffffffffffffff05001400782e6e7079010010009800000000000000580000"
    "00000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc"
    "294e058a17672416a402f91a463a0ac69a3a0ab50a64032e0686067b060606072002e206205e00c4071c00504b03042d0000"
    "000800000021587e6afbc9ffffffffffffffff05001400792e6e707901001000900000000000000049000000000000009bec"
    "17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54529498179f5f94920a12774bcc294e058a176724"
    "16a402f91a463a9a3a0ab50a14002e06286084d200504b01022d032d0000000800000021587c9cdea2580000009800000005"
    "0000000000000000000000800100000000782e6e7079504b01022d032d0000000800000021587e6afbc94900000090000000"
    "05000000000000000000000080018f000000792e6e7079504b05060000000002000200660000000f0100000000";

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

TEST(ReadNpz, ReadsWhatNumpyWrites) {
  const TemporaryFolder folder;
  const auto path = folder.Put("a.npz", FromHex(kFromPython));
  EXPECT_EQ(NpyToDoubles(ReadNpz(path, "x"), path), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(ReadNpz(path, "x").shape, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(NpyToDoubles(ReadNpz(path, "y"), path), (std::vector<double>{0, 1}));
}

TEST(WriteNpz, GivesBackWhatItWrote) {
  const TemporaryFolder folder;
  const std::vector<double> weights(200'000, 1.25);
  WriteNpz(folder / "model.npz",
           {{"weights", NpyFromDoubles({1000, 200}, weights)}, {"job", NpyFromText("{}")}});
  EXPECT_EQ(NpyToDoubles(ReadNpz(folder / "model.npz", "weights"), ""), weights);
  EXPECT_EQ(NpyToText(ReadNpz(folder / "model.npz", "job"), ""), "{}");
  EXPECT_GT(RawBytes(folder / "model.npz").size(), weights.size() * sizeof(double))
      << "stored, not compressed";
}

TEST(WriteNpz, WritesTheSameBytesAtAnyTimeAndPlace) {
  const TemporaryFolder folder;
  const std::vector<double> values{1, 2};
  const auto write = [&](const char* name, const char* zone) {
    setenv("TZ", zone, 1);
    tzset();
    WriteNpz(folder / name, {{"x", NpyFromDoubles({2}, values)}, {"y", NpyFromDoubles({1, 2}, values)}});
  };
  write("first.npz", "UTC");
  write("second.npz", "Asia/Tokyo");
  unsetenv("TZ");
  tzset();

  const std::string bytes = RawBytes(folder / "first.npz");
  EXPECT_EQ(bytes, RawBytes(folder / "second.npz"));
  EXPECT_EQ(bytes.substr(10, 4), std::string("\0\0\x21\0", 4));  // local header: time 0:00, 1 January 1980
  write("first.npz", "UTC");                                     // over an older file
  EXPECT_EQ(bytes, RawBytes(folder / "first.npz"));
}

TEST(ReadNpz, NamesFileAndArray) {
  const TemporaryFolder folder;
  const std::string bytes = FromHex(kFromPython);
  const auto error = [&](const std::filesystem::path& path, const char* name) {
    return ErrorText<DataError>([&] { (void)ReadNpz(path, name); });
  };
  EXPECT_THAT(error(folder / "none.npz", "x"), HasSubstr("none.npz: found no such file"));
  EXPECT_THAT(error(folder.Put("a.npz", bytes), "z"), HasSubstr("a.npz: found no array \"z\""));
  EXPECT_THAT(error(folder.Put("text.npz", "hello"), "x"), HasSubstr("expected an NPZ file"));
  std::string damaged = bytes;
  damaged[60] = static_cast<char>(damaged[60] ^ 0x10);
  EXPECT_THAT(error(folder.Put("damaged.npz", damaged), "x"),
              HasSubstr("damaged.npz: array \"x\": found a damaged"));
}

// A run gives up its checkpoints once its model is written.
TEST(WriteNpz, IsOnDiskWhenItReturns) {
  const TemporaryFolder folder;
  const auto path = folder / "a.npz";
  (void)TakeFileCalls();
  WriteNpz(path, {{"x", NpyFromIntegers({}, std::vector<std::int64_t>{1})}});
  const auto name = path.parent_path().filename().string();
  EXPECT_THAT(TakeFileCalls(), testing::ElementsAre("fsync a.npz.part", "rename a.npz", "fsync " + name));
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
    files.push_back(entry.path().filename().string());
  EXPECT_THAT(files, testing::ElementsAre("a.npz"));
}

TEST(WriteNpz, LeavesWhatWasThereWhereItFails) {
  const TemporaryFolder folder;
  const auto path = folder.Put("a.npz", FromHex(kFromPython));
  std::filesystem::create_directories(folder / "a.npz.part/in the way");
  EXPECT_THROW(WriteNpz(path, {{"x", NpyFromIntegers({}, std::vector<std::int64_t>{1})}}),
               std::runtime_error);
  EXPECT_EQ(ReadNpz(path, "x").shape, (std::vector<std::size_t>{2, 3}));
}

TEST(WriteNpz, ReportsAFolderThatIsNotThere) {
  const TemporaryFolder folder;
  EXPECT_THROW(WriteNpz(folder / "none/a.npz", {{"job", NpyFromText("{}")}}), std::runtime_error);
}

/// An archive of members that are stored as they are, in this order; their CRCs are right.
std::string StoredZip(const std::vector<std::pair<std::string, std::string>>& members) {
  const auto number = [](std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value);
    return text;
  };
  std::string zip;
  std::string directory;
  for (const auto& [name, content] : members) {
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
    const auto common = number(20, 2) + number(0, 8) + number(crc, 4) + number(content.size(), 4) +
                        number(content.size(), 4) + number(name.size(), 2) + number(0, 2);
    directory +=
        number(0x02014b50, 4) + number(20, 2) + common + number(0, 10) + number(zip.size(), 4) + name;
    zip += number(0x04034b50, 4) + common + name + content;
  }
  const auto end = number(0x06054b50, 4) + number(0, 4) + number(members.size(), 2) +
                   number(members.size(), 2) + number(directory.size(), 4) + number(zip.size(), 4) +
                   number(0, 2);
  return zip + directory + end;
}

// One program reads the first of them, another the last: NumPy's are the second's 2s.
TEST(ReadNpz, RefusesTwoMembersOfOneName) {
  const TemporaryFolder folder;
  const auto ones = FormatNpy(NpyFromDoubles({1}, std::vector<double>{1}));
  const auto twos = FormatNpy(NpyFromDoubles({1}, std::vector<double>{2}));
  const auto one = folder.Put("one.npz", StoredZip({{"x.npy", ones}, {"y.npy", twos}}));
  EXPECT_EQ(NpyToDoubles(ReadNpz(one, "x"), one), std::vector<double>{1});
  for (const char* second : {"x.npy", "x"}) {
    const auto path = folder.Put("two.npz", StoredZip({{"x.npy", ones}, {"y.npy", ones}, {second, twos}}));
    for (const char* array : {"x", "y"}) {
      EXPECT_THAT(ErrorText<DataError>([&] { (void)ReadNpz(path, array); }),
                  HasSubstr("two.npz: found two members of the name \"x\", expected one array of a name"));
    }
  }
}

TEST(ReadNpz, ReadsNoMoreThanTheMembersHeaderSays) {
  const TemporaryFolder folder;
  const auto array = FormatNpy(NpyFromDoubles({1}, std::vector<double>{1}));
  const auto path =
      folder.Put("a.npz", StoredZip({{"x.npy", array + std::string(std::size_t{1} << 23, '\0')}}));
  EXPECT_THAT(ErrorText<DataError>([&] { (void)ReadNpz(path, "x"); }),
              HasSubstr("found more than " + std::to_string(array.size()) +
                        " bytes, expected no more than its header allows"));
}

TEST(ReadNpz, LetsTheShapeBeCheckedBeforeTheValuesAreRead) {
  const TemporaryFolder folder;
  const auto head = FormatNpyHeader("<f8", {1000000, 1000});  // and nothing of its values
  const auto path = folder.Put("a.npz", StoredZip({{"x.npy", head}}));
  const ShapeCheck check = [&](const std::vector<std::size_t>& shape, std::size_t item) {
    EXPECT_EQ(item, 8U);
    if (shape != std::vector<std::size_t>{1, 1}) ThrowDataError(path, "", ShapeText(shape), "another");
  };
  EXPECT_THAT(ErrorText<DataError>([&] { (void)ReadNpz(path, "x", check); }),
              HasSubstr("found (1000000, 1000)"));
}

}  // namespace
}  // namespace trefoil::data
