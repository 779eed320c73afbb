#include "data/dataset/data_hash.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

TEST(DataHash, IsOfTheBytesOfEachFileUnderItsKey) {
  const TemporaryFolder folder;
  folder.Put("a.csv", "x,y\n1,2\n");
  folder.Put("b.csv", "x,y\n3,4\n");
  const auto line = [](const std::string& key, const std::string& content) {
    return key + " " + Sha256Hex(content) + "\n";
  };
  auto files = OneFile(folder / "a.csv");
  EXPECT_EQ(DataHash(files), Sha256Hex(line("file", "x,y\n1,2\n")));
  files.more = {folder / "b.csv"};
  EXPECT_EQ(DataHash(files), Sha256Hex(line("file", "x,y\n1,2\n") + line("file", "x,y\n3,4\n")));
  EXPECT_EQ(DataHash({.x = folder / "a.csv", .y = folder / "b.csv", .file = {}}),
            Sha256Hex(line("x", "x,y\n1,2\n") + line("y", "x,y\n3,4\n")));
  EXPECT_THROW((void)DataHash(OneFile(folder / "none.csv")), DataError);
}

TEST(DataHash, IsOfAFoldersImagesAndOfWhereTheyLie) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "train/dog");
  const std::string a = "\xff\xd8\xff a";
  const std::string b = "\xff\xd8\xff b";
  folder.Put("train/dog/1.png", a);
  folder.Put("train/2.png", b);
  const auto images = Sha256Hex(Sha256Hex("/2.png") + " " + Sha256Hex(b) + "\n" + Sha256Hex("dog/1.png") +
                                " " + Sha256Hex(a) + "\n");
  EXPECT_EQ(PathSha256(folder / "train"), images);
  EXPECT_EQ(PathSha256(folder / "train/2.png"), Sha256Hex(b));
  EXPECT_EQ(DataHash(OneFile(folder / "train")), Sha256Hex("file " + images + "\n"));
  EXPECT_THROW((void)DataHash(OneFile(folder / "none")), DataError);
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_THROW((void)DataHash(OneFile(folder / "loop")), DataError);
}

TEST(DataHash, IsOfNoOtherFolder) {
  const TemporaryFolder folder;
  const auto error = [&] { return ErrorText<DataError>([&] { (void)DataHash(OneFile(folder.path())); }); };
  folder.Put("a.csv", "x,y\n1,2\n");
  EXPECT_THAT(error(), testing::HasSubstr("a.csv: found something else, expected a PNG or JPEG file"));
  folder.Put("data_batch_1.bin", "");
  EXPECT_THAT(error(), testing::HasSubstr("found a folder, expected a regular file"));
}

TEST(PathSha256, IsOfWhatIsReadBetweenTwoHashes) {
  const TemporaryFolder folder;
  folder.Put("a.csv", "x\n1\n");
  bool read = false;
  EXPECT_EQ(PathSha256(folder / "a.csv", [&] { read = true; }), Sha256Hex("x\n1\n"));
  EXPECT_TRUE(read);
  const auto replaced = [&] {
    (void)PathSha256(folder / "a.csv", [&] { folder.Put("a.csv", "x\n2\n"); });  // as many bytes
  };
  EXPECT_EQ(ErrorText<DataError>(replaced),
            (folder / "a.csv").string() +
                ": found other data than were read at first, expected the same: begin again when nobody "
                "replaces them");
}

TEST(SameData, NamesTheDataThatWereReplaced) {
  const TemporaryFolder folder;
  folder.Put("a.csv", "x\n1\n");
  folder.Put("b.csv", "x\n2\n");
  SameData same;
  same.Require();  // of none
  same.Add(OneFile(folder / "a.csv"));
  same.Add(OneFile(folder / "b.csv"));
  same.Require();
  folder.Put("b.csv", "x\n3\n");  // as many bytes
  try {
    same.Require();
    ADD_FAILURE() << "nothing was refused";
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(), (folder / "b.csv").string() +
                                ": found other data than were read at first, expected the same: begin again "
                                "when nobody replaces them");
  }
  folder.Put("b.csv", "x\n2\n");
  same.Require();
}

}  // namespace
}  // namespace trefoil::data
