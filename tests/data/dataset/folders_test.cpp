#include "data/dataset/folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

DataSpec Spec(Format format) {
  DataSpec spec;
  spec.name = "adult";
  spec.format = format;
  return spec;
}

TEST(FindTrainingFiles, FindsTheNamesOfEachFormat) {
  const TemporaryFolder folder;
  for (const char* name :
       {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
        "t10k-labels-idx1-ubyte.gz", "adult-train.csv", "train.csv", "test.csv", "train-x.npy", "train-y.npy",
        "test-x.npy", "test-y.npy", "train.npz", "test.npz"}) {
    folder.Put(name, "");
  }
  const auto idx = FindTrainingFiles(Spec(Format::kIdx), folder.path());
  EXPECT_EQ(idx.x, folder / "train-images-idx3-ubyte.gz");
  EXPECT_EQ(idx.y, folder / "train-labels-idx1-ubyte");
  EXPECT_EQ(FindTestFiles(Spec(Format::kIdx), folder.path())->x, folder / "t10k-images-idx3-ubyte");
  EXPECT_EQ(FindTestFiles(Spec(Format::kIdx), folder.path())->y, folder / "t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(FindTrainingFiles(Spec(Format::kCsv), folder.path()).file, folder / "adult-train.csv");
  EXPECT_EQ(FindTestFiles(Spec(Format::kCsv), folder.path())->file, folder / "test.csv");
  EXPECT_EQ(FindTrainingFiles(Spec(Format::kNpy), folder.path()).y, folder / "train-y.npy");
  EXPECT_EQ(FindTestFiles(Spec(Format::kNpy), folder.path())->x, folder / "test-x.npy");
  EXPECT_EQ(FindTrainingFiles(Spec(Format::kNpz), folder.path()).file, folder / "train.npz");
  EXPECT_EQ(FindTestFiles(Spec(Format::kNpz), folder.path())->file, folder / "test.npz");
}

TEST(FindTrainingFiles, TakesNumberedFilesForOneTable) {
  const TemporaryFolder folder;
  for (const char* name : {"train-1.csv", "train-10.csv", "train-2.csv", "train-02.csv", "train-x.csv",
                           "train-.csv", "test-3.csv", "adult-test-1.csv"})
    folder.Put(name, "a\n");
  const auto train = FindTrainingFiles(Spec(Format::kCsv), folder.path());
  EXPECT_EQ(train.file, folder / "train-1.csv");
  EXPECT_EQ(train.more,
            (std::vector<std::filesystem::path>{folder / "train-2.csv", folder / "train-10.csv"}));
  const auto test = FindTestFiles(Spec(Format::kCsv), folder.path());
  EXPECT_EQ(test->table(), std::vector<std::filesystem::path>{folder / "adult-test-1.csv"});
  CopyTestFiles(train, folder / "copy");
  EXPECT_EQ(FindTrainingFiles(Spec(Format::kCsv), folder / "copy").more.size(), 2U);
  folder.Put("train.csv", "");
  EXPECT_TRUE(FindTrainingFiles(Spec(Format::kCsv), folder.path()).more.empty());
}

TEST(FindTrainingFiles, TakesCifarsOwnNames) {
  const TemporaryFolder folder;
  const auto train = [&] { return FindTrainingFiles(Spec(Format::kCifar), folder.path()).file; };
  EXPECT_THAT(ErrorText<DataError>([&] { (void)train(); }),
              HasSubstr("expected train.bin or data_batch_1.bin"));
  folder.Put("data_batch_1.bin", "");
  folder.Put("test_batch.bin", "");
  EXPECT_EQ(train(), folder.path());
  EXPECT_EQ(FindTestFiles(Spec(Format::kCifar), folder.path())->file, folder / "test_batch.bin");
  folder.Put("train.bin", "");
  folder.Put("test.bin", "");
  EXPECT_EQ(train(), folder / "train.bin");
  EXPECT_EQ(FindTestFiles(Spec(Format::kCifar), folder.path())->file, folder / "test.bin");
  EXPECT_EQ(PartyFiles(Format::kCifar, "p").file, "p/data/train.bin");
}

TEST(FindTrainingFiles, TakesFoldersOfImages) {
  const TemporaryFolder folder;
  const auto spec = Spec(Format::kImages);
  EXPECT_THAT(ErrorText<DataError>([&] { (void)FindTrainingFiles(spec, folder.path()); }),
              HasSubstr("found a folder without the data set's files, expected train"));
  for (const char* name : {"train", "test/dog", "copies/test/cat"})
    std::filesystem::create_directories(folder / name);
  EXPECT_EQ(FindTrainingFiles(spec, folder.path()).file, folder / "train");
  EXPECT_EQ(FindTestFiles(spec, folder.path())->file, folder / "test");
  EXPECT_FALSE(FindValidationFiles(spec, folder.path()));
  EXPECT_EQ(PartyFiles(Format::kImages, "p").file, "p/data/train");
  EXPECT_EQ(TestFiles(Format::kImages, "p").file, "p/test");

  folder.Put("test/dog/1.png", "dog");
  folder.Put("copies/test/cat/1.png", "of another data set");
  CopyTestFiles(OneFile(folder / "test"), folder / "copies");
  EXPECT_EQ(RawBytes(folder / "copies/test/dog/1.png"), "dog");
  EXPECT_FALSE(std::filesystem::exists(folder / "copies/test/cat"));
}

TEST(FindTrainingFiles, ListsWhatItLookedFor) {
  const TemporaryFolder folder;
  const auto error = [&](Format format, const std::filesystem::path& path) {
    return ErrorText<DataError>([&] { (void)FindTrainingFiles(Spec(format), path); });
  };
  EXPECT_EQ(error(Format::kCsv, folder.path()),
            folder.path().string() +
                ": found a folder without the data set's files, expected adult-train.csv or train.csv");
  EXPECT_THAT(
      error(Format::kIdx, folder / "none"),
      HasSubstr("none: found no such folder, expected train-images-idx3-ubyte or train-images-idx3-ubyte.gz, "
                "and train-labels-idx1-ubyte or train-labels-idx1-ubyte.gz"));
  folder.Put("train-x.npy", "");
  EXPECT_THAT(error(Format::kNpy, folder.path()), HasSubstr("expected train-y.npy"));
}

TEST(FindTestFiles, AreOptionalButNotByHalves) {
  const TemporaryFolder folder;
  EXPECT_FALSE(FindTestFiles(Spec(Format::kNpy), folder.path()));
  EXPECT_FALSE(FindTestFiles(Spec(Format::kNpz), folder.path()));
  folder.Put("test-y.npy", "");
  EXPECT_THROW((void)FindTestFiles(Spec(Format::kNpy), folder.path()), DataError);
}

TEST(PartyFiles, AreThoseOfThePartyFile) {
  EXPECT_EQ(PartyFiles(Format::kIdx, "p").x, "p/data/images-idx3-ubyte.gz");
  EXPECT_EQ(PartyFiles(Format::kIdx, "p").y, "p/data/labels-idx1-ubyte.gz");
  EXPECT_EQ(PartyFiles(Format::kCsv, "p").file, "p/data/train.csv");
  EXPECT_EQ(PartyFiles(Format::kNpy, "p").x, "p/data/x.npy");
  EXPECT_EQ(PartyFiles(Format::kNpy, "p").y, "p/data/y.npy");
  EXPECT_EQ(PartyFiles(Format::kNpz, "p").file, "p/data/train.npz");
}

TEST(CopyTestFiles, KeepsNamesAndContentAndMakesThemWritable) {
  const TemporaryFolder folder;
  const DataFiles files{folder.Put("test-x.npy", "x"), folder.Put("test-y.npy", "y"), {}};
  std::filesystem::permissions(files.x, std::filesystem::perms::owner_read);

  CopyTestFiles(files, folder / "run/test");
  CopyTestFiles(files, folder / "run/test");

  const auto found = FindTestFiles(Spec(Format::kNpy), folder / "run/test");
  ASSERT_TRUE(found);
  EXPECT_EQ(RawBytes(found->x) + RawBytes(found->y), "xy");
  EXPECT_NE(std::filesystem::status(found->x).permissions() & std::filesystem::perms::owner_write,
            std::filesystem::perms::none);
}

}  // namespace
}  // namespace trefoil::data
