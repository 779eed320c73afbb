#include "base/files/scratch_file.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes ReadFrom(const ScratchFile& file, std::uint64_t position, std::size_t count) {
  Bytes bytes(count);
  file.Read(position, bytes);
  return bytes;
}

TEST(ScratchFile, HasWhatWasWrittenAndNoName) {
  const TemporaryFolder folder;
  ScratchFile file(folder.path());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  file.Append(Bytes{1, 2, 3});
  file.Append(Bytes{4, 5});
  EXPECT_EQ(file.size(), 5U);
  EXPECT_EQ(ReadFrom(file, 1, 3), (Bytes{2, 3, 4}));
  file.Cut(2);
  file.Append(Bytes{9});
  EXPECT_EQ(ReadFrom(file, 0, 3), (Bytes{1, 2, 9}));
  EXPECT_THROW((void)ReadFrom(file, 2, 2), std::runtime_error) << "no more than is there";
  EXPECT_THROW(file.Cut(4), ContractError);
}

TEST(ScratchFile, NeedsAFolder) {
  const TemporaryFolder folder;
  EXPECT_THROW(ScratchFile(folder.path() / "none"), std::runtime_error);
}

}  // namespace
}  // namespace trefoil
