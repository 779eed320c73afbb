#include "data/formats/cifar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/formats/file.h"
#include "tests/data/cifar_rows.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

TEST(ReadCifar, PutsTheColoursOfAPixelSideBySide) {
  const TemporaryFolder folder;
  for (const std::string name : {"a.bin", "a.bin.gz"}) {
    WriteFile(folder / name, CifarRow(7, 0) + CifarRow(9, 100));
    const auto rows = ReadCifar(folder / name);

    ASSERT_EQ(rows.rows(), 2U);
    EXPECT_EQ(rows.Labels(), (std::vector<std::uint8_t>{7, 9}));
    EXPECT_EQ(rows.Row(1), CifarRow(9, 100));
    const auto pixels = rows.Pixels(1);
    for (std::size_t i = 0; i < 1024; ++i) {
      for (std::size_t colour = 0; colour < 3; ++colour)
        ASSERT_EQ(pixels.at(3 * i + colour), CifarValue(100, colour, i)) << i;
    }
  }
}

TEST(ReadCifar, OfAFolderIsItsFiveFilesInOrder) {
  const TemporaryFolder folder;
  for (int k = 1; k <= 4; ++k)
    folder.Put(std::string("data_batch_") + std::to_string(k) + ".bin", CifarRow(k, 0));
  EXPECT_THAT(ErrorText<DataError>([&] { (void)ReadCifar(folder.path()); }), HasSubstr("data_batch_5.bin"));
  folder.Put("data_batch_5.bin", "");
  EXPECT_EQ(ReadCifar(folder.path()).Labels(), (std::vector<std::uint8_t>{1, 2, 3, 4}));
}

TEST(ReadCifar, RefusesWhatIsNotWholeRows) {
  const TemporaryFolder folder;
  for (const std::size_t more : {std::size_t{1}, std::size_t{3072}}) {
    const auto path = folder.Put("a.bin", CifarRow(1, 2) + std::string(more, 'x'));
    EXPECT_EQ(ErrorText<DataError>([&] { (void)ReadCifar(path); }),
              path.string() + ": found " + std::to_string(3073 + more) +
                  " bytes, expected rows of 3073: a class, then 1024 values each of red, green and blue");
  }
  EXPECT_THROW((void)ReadCifar(folder / "absent"), DataError);
  EXPECT_THROW((void)CifarRows{CifarRow(1, 2)}.Row(1), ContractError);
}

}  // namespace
}  // namespace trefoil::data
