#include "jobs/ranks/same_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "data/formats/file.h"
#include "data/formats/positioned_file.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::jobs {
namespace {

using testing::HasSubstr;
using testing_support::ErrorText;
using Files = std::vector<std::filesystem::path>;

/// What rank 1 finds of its files, and rank 0 of those.
std::string FoundBy(const Files& of_rank_0, const Files& of_rank_1, FileDigest digest) {
  const auto ends = testing_support::EndsOfRanks(2, {1}, [&](mpc::Context& party, mpc::Ranks& ranks) {
    if (party.self() > 0) return;
    const auto& files = ranks.rank() == 0 ? of_rank_0 : of_rank_1;
    const auto digests = DigestsOfRank0(files, digest, ranks);
    for (std::size_t k = 0; k < files.size(); ++k) RequireSameFile(files[k], digest(files[k]), digests[k]);
  });
  const auto& end = ends[1][0];
  return ErrorText<DataError>([&] {
    if (end) std::rethrow_exception(end);
  });
}

TEST(DigestsOfRank0, TellWhichFileIsAnother) {
  const TemporaryFolder folder;
  const auto a = folder.Write("a", "some records");
  const auto copy = folder.Write("copy", "some records");
  const auto other = folder.Write("other", "same length.");
  for (const auto digest : {data::SampleSha256, data::FileSha256}) {
    EXPECT_EQ(FoundBy({a, a}, {copy, a}, digest), "");
    EXPECT_EQ(FoundBy({}, {}, digest), "");
    EXPECT_EQ(FoundBy({a}, {other}, digest),
              other.string() +
                  ": found another file than rank 0's, expected the same on all machines "
                  "of a party, and that nobody changes it");
    EXPECT_THAT(FoundBy({a}, {a, a}, digest),
                HasSubstr("2 data files: found another number than rank 0, expected 1"));
  }
}

}  // namespace
}  // namespace trefoil::jobs
