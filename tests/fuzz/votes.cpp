#include "tests/fuzz/votes.h"

#include "base/error.h"
#include "data/dealing/teacher_labels.h"
#include "jobs/files/vote_file.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz {

void ReadVoteFiles(const std::filesystem::path& path) {
  ReadAs<DataError>(
      [&] { return data::ReadTeacherLabels(path, {.teachers = 2, .queries = 3, .classes = 4}); });
  ReadAs<DataError>([&] { return jobs::ReadVotes(path); });
}

}  // namespace trefoil::fuzz
