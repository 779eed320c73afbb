#include "data/formats/positioned_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "data/formats/file.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

TEST(SampleSha256, TellsFilesApartByTheirSizeTheirEndsAndPiecesBetween) {
  const TemporaryFolder folder;
  const auto sample = [&](const std::string& content) {
    WriteFile(folder / "a", content);
    return SampleSha256(folder / "a");
  };
  const std::string content(3'000'001, 'x');
  std::set<std::string> samples{sample(content), sample(content + "x"), sample(""), sample("x")};
  for (const std::size_t place : {std::size_t{0}, content.size() / 63 * 31 + 8, content.size() - 1}) {
    auto other = content;
    other[place] = 'y';
    samples.insert(sample(other));
  }
  EXPECT_EQ(samples.size(), 7U);
  EXPECT_EQ(samples.count(sample(content)), 1U);
}

TEST(PositionedFile, SamplesWhatItHoldsNow) {
  const TemporaryFolder folder;
  WriteFile(folder / "a", "0123456789");
  const PositionedFile file(folder / "a");
  const auto before = file.Sample();
  EXPECT_EQ(before, SampleSha256(folder / "a"));
  std::filesystem::copy_file(folder / "a", folder / "b");
  std::ofstream(folder / "a", std::ios::app) << "0";
  EXPECT_NE(file.Sample(), before);
  std::filesystem::rename(folder / "b", folder / "a");  // another file, of which this one is none
  EXPECT_NE(file.Sample(), before);
  EXPECT_EQ(SampleSha256(folder / "a"), before);
}

TEST(PositionedFile, ReadsWhatIsThereAndNoMore) {
  const TemporaryFolder folder;
  WriteFile(folder / "a", "0123456789");
  const PositionedFile file(folder / "a");
  EXPECT_EQ(file.Head(4), "0123");
  EXPECT_EQ(file.Head(40), "0123456789");
  std::string piece(3, '\0');
  file.Read(7, piece);
  EXPECT_EQ(piece, "789");
  EXPECT_THROW(file.Read(8, piece), DataError);
  EXPECT_THROW(PositionedFile(folder / "b"), DataError);
  EXPECT_THROW(PositionedFile{folder.path()}, DataError);
}

}  // namespace
}  // namespace trefoil::data
