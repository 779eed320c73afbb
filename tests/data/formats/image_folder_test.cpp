#include "data/formats/image_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <set>

#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kJpeg = "\xff\xd8\xff";  // as one begins
const std::vector<std::string> kClasses{"dog", "cat", "eel"};
const std::vector<std::string> kLetters{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
                                        "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};

class ImageFolder : public testing::Test {
 protected:
  ImageFolder() {
    for (const char* name : {"cat", "dog"}) fs::create_directories(folder_ / name);
    for (const char* name : {"dog/b", "dog/B", "cat/9", "cat/10", "cat/\xc3\xa4", "cat/.hidden", ".hidden"})
      folder_.Put(name, name);
  }

  [[nodiscard]] std::vector<std::string> List(const std::vector<std::string>* classes = nullptr) const {
    std::vector<std::string> names;
    for (const auto& [inner, path] : ListImages(folder_.path(), classes)) {
      EXPECT_EQ(inner.empty() ? folder_.path() : folder_ / inner, path.parent_path());
      names.push_back(inner + "/" + path.filename().string());
    }
    return names;
  }
  /// Files that begin as images do in place of those.
  void PutJpegs() const {
    for (const auto& image : ListImages(folder_.path())) std::ofstream(image.path) << kJpeg;
  }
  [[nodiscard]] std::string ErrorOf(const std::vector<std::string>* classes = &kClasses) const {
    return ErrorText<DataError>([&] { (void)List(classes); });
  }

  TemporaryFolder folder_;
};

TEST_F(ImageFolder, IsReadClassByClassInTurnWhateverTheClassesOrder) {
  const std::vector<std::string> expected{"cat/10", "dog/B", "cat/9", "dog/b", "cat/\xc3\xa4"};
  EXPECT_EQ(List(&kClasses), expected) << "eel has no images";
  fs::create_directories(folder_ / "eel");
  EXPECT_EQ(List(&kClasses), expected);
}

TEST_F(ImageFolder, IsReadByPathsWhereClassesAreNotLookedAt) {
  fs::create_directories(folder_ / "cat-2");
  folder_.Put("cat-2/1", "");
  folder_.Put("catalogue", "");
  const std::vector<std::string> expected{"cat-2/1",    "cat/10", "cat/9", "cat/\xc3\xa4",
                                          "/catalogue", "dog/B",  "dog/b"};
  EXPECT_EQ(List(), expected) << "as LC_ALL=C sort";
}

/// How many of each folder there are among records first, first + step ... of those before the end.
std::map<std::string, int> Count(const std::vector<ImageFile>& images, std::size_t first, std::size_t end,
                                 std::size_t step = 1) {
  std::map<std::string, int> counts;
  for (std::size_t i = first; i < end; i += step) ++counts[images[i].folder];
  return counts;
}

/// Makes sub-folders a, b, c ..., with this number of files in each.
void PutClasses(const TemporaryFolder& folder, const std::vector<int>& counts) {
  char name = 'a';
  for (const int count : counts) {
    const std::string inner(1, name++);
    fs::create_directories(folder / inner);
    for (int k = 0; k < count; ++k)
      folder.Put(inner + "/" + static_cast<char>('A' + k / 26) + static_cast<char>('A' + k % 26), "");
  }
}

TEST(ListImages, TakesEqualClassesInTurn) {
  for (const int classes : {2, 3, 4, 6}) {
    const TemporaryFolder folder;
    PutClasses(folder, std::vector<int>(static_cast<std::size_t>(classes), 9));
    const auto images = ListImages(folder.path(), &kLetters);
    const auto some = static_cast<std::size_t>(classes);
    ASSERT_EQ(images.size(), 9 * some);
    for (std::size_t k = 0; k < images.size(); ++k)
      EXPECT_EQ(images[k].path.filename().string(), std::string("A") + static_cast<char>('A' + k / some));
    for (std::size_t k = 0; k < images.size(); k += some)
      EXPECT_EQ(Count(images, k, k + some).size(), some) << "one of each in every round";
    // As `local` deals them to three parties.
    for (const std::size_t party : {0, 1, 2}) {
      for (const auto& [name, count] : Count(images, party, images.size(), 3)) EXPECT_EQ(count, 3) << name;
    }
  }
}

TEST(ListImages, SpreadsEveryClassInItsProportion) {
  const TemporaryFolder folder;
  PutClasses(folder, {30, 3, 12});
  const auto images = ListImages(folder.path(), &kLetters);
  ASSERT_EQ(images.size(), 45U);
  using Counts = std::map<std::string, int>;
  for (const std::size_t party : {0, 1, 2})
    EXPECT_EQ(Count(images, party, 45, 3), (Counts{{"a", 10}, {"b", 1}, {"c", 4}}));
  for (const std::size_t start : {0, 15, 30}) {
    auto part = Count(images, start, start + 15);
    EXPECT_NEAR(part["a"], 10, 3) << start;
    EXPECT_NEAR(part["c"], 4, 3) << start;
  }
  std::map<std::string, fs::path> last;
  for (const auto& [name, path] : images) {
    EXPECT_LT(last[name], path);
    last[name] = path;
  }
}

// A small class may lie anywhere, as three files of it follow each other soon; but not all of them at one
// place.
TEST(ListImages, SpreadsSmallClassesAmongEachOther) {
  for (const auto& counts : {std::vector<int>(19, 3), std::vector<int>(19, 6), {1, 2, 3, 4, 5, 6, 7, 8, 9}}) {
    const TemporaryFolder folder;
    std::vector<int> all{90};  // names of large and small ones alternate
    for (const int count : counts) all.insert(all.end(), {count, 30});
    all.resize(std::min(all.size(), kLetters.size()));
    PutClasses(folder, all);
    const auto images = ListImages(folder.path(), &kLetters);
    const auto small = [&](std::size_t first, std::size_t end) {
      int number = 0;
      for (const auto& [name, count] : Count(images, first, end)) {
        const auto total = all[static_cast<std::size_t>(name[0] - 'a')];
        if (total < 10) number += count;
      }
      return number;
    };
    const auto total = small(0, images.size());
    for (std::size_t part = 0; part < 4; ++part)
      EXPECT_NEAR(small(images.size() * part / 4, images.size() * (part + 1) / 4), total / 4.0, 6) << part;
  }
  const TemporaryFolder folder;
  std::vector<int> all{300};
  all.insert(all.end(), 19, 3);
  PutClasses(folder, all);
  const auto images = ListImages(folder.path(), &kLetters);
  for (std::size_t part = 0; part < 10; ++part) {
    auto counts = Count(images, images.size() * part / 10, images.size() * (part + 1) / 10);
    EXPECT_NEAR(counts["a"], 30, 5) << "the others are 5.7 of 35.7, in threes: " << part;
  }
}

// Why numbers of owners' images are refused: the records of all three change, where two of each are one's.
TEST(ListImages, MovesOtherFilesWhereOneIsReplacedByAnother) {
  const TemporaryFolder folder;
  PutClasses(folder, {3, 3});
  const auto pairs = [&] {
    std::vector<std::set<std::string>> owners(3);
    const auto images = ListImages(folder.path(), &kLetters);
    for (std::size_t k = 0; k < 6; ++k) owners[k / 2].insert(images[k].path.string());
    return owners;
  };
  const auto before = pairs();
  fs::rename(folder / "a/AA", folder / "a/ZZ");
  const auto after = pairs();
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NE(before[k], after[k]) << k;
}

TEST_F(ImageFolder, MayBeWithoutClassesWhereTheyAreNotLookedAt) {
  folder_.Put("a", "");
  EXPECT_EQ(List().front(), "/a");
  EXPECT_THAT(ErrorOf(),
              HasSubstr("a: found a file beside the classes, expected PNG or JPEG files in sub-folders"));
}

TEST_F(ImageFolder, NamesWhatIsNoClass) {
  fs::create_directories(folder_ / "Dog");
  EXPECT_EQ(ErrorOf(),
            (folder_ / "Dog").string() +
                ": found a folder \"Dog\", expected one that is named by one of data.label.values");
}

TEST_F(ImageFolder, NamesOnOneLineWhatIsCalledInSeveral) {
  fs::create_directories(folder_ / "a\n\x1b[31mb\x7f");
  EXPECT_EQ(ErrorOf(),
            (folder_ / "a..[31mb.").string() +
                ": found a folder \"a..[31mb.\", expected one that is named by one of data.label.values");
}

TEST_F(ImageFolder, RefusesLinksAndFoldersInAClass) {
  fs::create_directories(folder_ / "dog/more");
  EXPECT_THAT(ErrorOf(), HasSubstr("dog/more: found a folder, expected PNG or JPEG files alone"));
  fs::remove(folder_ / "dog/more");
  fs::create_symlink(folder_ / "dog/b", folder_ / "cat/link");
  EXPECT_THAT(ErrorOf(), HasSubstr("cat/link: found a symbolic link, expected"));
  fs::remove(folder_ / "cat/link");
  fs::create_directory_symlink(folder_ / "dog", folder_ / "eel");
  EXPECT_THAT(ErrorOf(nullptr), HasSubstr("eel: found a symbolic link, expected"));
}

TEST_F(ImageFolder, RefusesWhatIsNoFileBeforeItIsOpened) {
  ASSERT_EQ(mkfifo((folder_ / "dog/pipe").c_str(), 0600), 0);
  EXPECT_THAT(ErrorOf(),
              HasSubstr("dog/pipe: found something else, expected PNG or JPEG files in sub-folders"));
}

TEST_F(ImageFolder, SortsNamesThatAreNotUtf8ByTheirBytes) {
  folder_.Put("dog/\xff\xfe", "");
  folder_.Put("dog/\xe4", "");
  const std::vector<std::string> expected{"dog/B",        "dog/b", "dog/\xe4",    "cat/10",
                                          "dog/\xff\xfe", "cat/9", "cat/\xc3\xa4"};
  EXPECT_EQ(List(&kClasses), expected);
}

TEST_F(ImageFolder, NamesWhatCannotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  fs::permissions(folder_ / "dog", fs::perms::none);
  EXPECT_THAT(ErrorOf(), HasSubstr("dog: found a folder that cannot be read, expected a readable one"));
  fs::permissions(folder_ / "dog", fs::perms::owner_all);
  PutJpegs();
  fs::permissions(folder_ / "dog/b", fs::perms::none);
  EXPECT_THAT(ErrorText<DataError>([&] { (void)ImagesSha256(folder_.path()); }),
              HasSubstr("dog/b: found a file that cannot be opened"));
}

TEST_F(ImageFolder, HasToBeThere) {
  const auto error = [&](const char* name) {
    return ErrorText<DataError>([&] { (void)ListImages(folder_ / name); });
  };
  EXPECT_THAT(error("none"), HasSubstr("none: found no such folder, expected a folder of PNG or JPEG files"));
  EXPECT_THAT(error("dog/b"), HasSubstr("dog/b: found a file, expected a folder"));
}

TEST_F(ImageFolder, HasAHashOfFilesAndTheirPlaces) {
  PutJpegs();
  std::vector<std::string> hashes{ImagesSha256(folder_.path())};
  const auto changed = [&] {
    hashes.push_back(ImagesSha256(folder_.path()));
    return hashes.back() != hashes[hashes.size() - 2];
  };
  EXPECT_FALSE(changed());
  folder_.Put("dog/b", kJpeg + "c");
  EXPECT_TRUE(changed());
  folder_.Put("dog/a", kJpeg);
  EXPECT_TRUE(changed());
  fs::rename(folder_ / "dog/b", folder_ / "dog/c");
  EXPECT_TRUE(changed());
  fs::rename(folder_ / "dog/c", folder_ / "cat/c");
  EXPECT_TRUE(changed());
  folder_.Put(".hidden", "other");
  EXPECT_FALSE(changed());
  folder_.Put("cat/c", "x,y\n1,2\n");
  EXPECT_THAT(
      ErrorText<DataError>([&] { (void)ImagesSha256(folder_.path()); }),
      HasSubstr("cat/c: found something else, expected a PNG or JPEG file, as the others of a folder"));
}

TEST_F(ImageFolder, IsCopiedFileByFile) {
  fs::permissions(folder_ / "dog/b", fs::perms::owner_read);
  for (int time = 0; time < 2; ++time) {
    for (const auto& image : ListImages(folder_ / "dog")) CopyImage({"pup", image.path}, folder_ / "copy");
  }
  EXPECT_EQ(RawBytes(folder_ / "copy/pup/b"), "dog/b");
  CopyImage({"", folder_ / "dog/B"}, folder_ / "copy");
  EXPECT_EQ(RawBytes(folder_ / "copy/B"), "dog/B");
  const auto error = [&](const fs::path& target) {
    return ErrorText<DataError>([&] { CopyImage({"", folder_ / "dog/B"}, target); });
  };
  EXPECT_THAT(error(folder_ / "dog/b"), HasSubstr("dog/B: found "));
  fs::create_directories(folder_ / "copy/B.d/B");
  EXPECT_THAT(error(folder_ / "copy/B.d"), HasSubstr("expected a file that can be copied to "));
}

TEST_F(ImageFolder, IsEmptiedForOtherImagesOnly) {
  EXPECT_THROW(EmptyImageFolder(folder_ / "dog", folder_ / "cat/../dog"), ContractError);
  EXPECT_EQ(RawBytes(folder_ / "dog/b"), "dog/b");
  EmptyImageFolder(folder_ / "dog", folder_ / "cat");
  EXPECT_TRUE(fs::is_empty(folder_ / "cat"));
  EXPECT_THAT(ErrorText<DataError>([&] { EmptyImageFolder(folder_ / "dog", folder_ / "dog/b/none"); }),
              HasSubstr("dog/b/none: found "));
}

}  // namespace
}  // namespace trefoil::data
