#include "jobs/ranks/same_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::jobs {
namespace {

using testing::HasSubstr;
using testing_support::ErrorText;
using Files = std::vector<std::filesystem::path>;

/// What rank 1 finds of its files, and rank 0 of those.
std::string FoundBy(const Files& of_rank_0, const Files& of_rank_1) {
  const auto ends = testing_support::EndsOfRanks(2, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
    if (party.self() == 0) RequireSameFiles(ranks.rank() == 0 ? of_rank_0 : of_rank_1, ranks);
  });
  const auto& end = ends[1][0];
  return ErrorText<DataError>([&] {
    if (end) std::rethrow_exception(end);
  });
}

TEST(RequireSameFiles, NamesTheFileThatIsAnother) {
  const TemporaryFolder folder;
  const auto a = folder.Write("a", "some records");
  const auto copy = folder.Write("copy", "some records");
  const auto other = folder.Write("other", "same length.");
  EXPECT_EQ(FoundBy({a, a}, {copy, a}), "");
  EXPECT_EQ(FoundBy({}, {}), "");
  EXPECT_EQ(
      FoundBy({a}, {other}),
      other.string() + ": found another file than rank 0's, expected the same on all machines of a party");
  EXPECT_THAT(FoundBy({a}, {a, a}), HasSubstr("2 data files: found another number than rank 0, expected 1"));
}

}  // namespace
}  // namespace trefoil::jobs
