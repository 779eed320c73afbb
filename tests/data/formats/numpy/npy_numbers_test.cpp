#include "data/formats/numpy/npy_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "data/formats/file.h"
#include "data/formats/numpy/npy.h"
#include "data/formats/numpy/npy_header.h"
#include "tests/data/temporary_folder.h"
#include "tests/support/error_text.h"

namespace trefoil::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::ErrorText;

TEST(NpyNumbers, ReadsAnyPart) {
  const TemporaryFolder folder;
  WriteNpy(folder / "a.npy", NpyFromIntegers({3, 2}, std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  const NpyNumbers numbers(folder / "a.npy", {});
  EXPECT_THAT(numbers.shape(), ElementsAre(3U, 2U));
  EXPECT_THAT(numbers.Read(0, 6), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(numbers.Read(3, 2), ElementsAre(3, 4));
  EXPECT_TRUE(numbers.Read(6, 0).empty());
}

TEST(NpyNumbers, RefusesWhatCannotBeReadInParts) {
  const TemporaryFolder folder;
  const std::vector<double> values{1, 2, 3, 4};
  const auto error = [](const std::filesystem::path& file, const ShapeCheck& check = {}) {
    return ErrorText<DataError>([&] { (void)NpyNumbers(file, check).Read(0, 4); });
  };
  WriteNpy(folder / "packed.npy.gz", NpyFromDoubles({4}, values));
  EXPECT_THAT(error(folder / "packed.npy.gz"), HasSubstr("found a packed file"));
  auto content = FormatNpy(NpyFromDoubles({2, 2}, values));
  WriteFile(folder / "cut.npy", content.substr(0, content.size() - 1));
  EXPECT_THAT(error(folder / "cut.npy"), HasSubstr("found 31 bytes"));
  content.replace(content.find("False"), 5, "True ");
  WriteFile(folder / "columns.npy", content);
  EXPECT_THAT(error(folder / "columns.npy"), HasSubstr("found column-major order"));
  WriteNpy(folder / "a.npy", NpyFromDoubles({4}, values));
  EXPECT_EQ(error(folder / "a.npy"), "");
  EXPECT_EQ(error(folder / "a.npy",
                  [](const auto& shape, std::size_t item) {
                    throw DataError(ShapeText(shape) + " of " + std::to_string(item));
                  }),
            "(4,) of 8");
}

}  // namespace
}  // namespace trefoil::data
