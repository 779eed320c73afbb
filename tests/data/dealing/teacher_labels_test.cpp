#include "data/dealing/teacher_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "data/formats/numpy/npy.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

constexpr TeacherShape kShape{.teachers = 2, .queries = 3, .classes = 4};
const std::vector<std::vector<int>> kTeachersLabels{{0, 3, 1}, {2, 2, 0}};

class TeacherLabelsTest : public testing::Test {
 protected:
  [[nodiscard]] std::string Error(const std::filesystem::path& path) const {
    try {
      (void)ReadTeacherLabels(path, kShape);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(TeacherLabelsTest, ReadsCsvAndNpyAlike) {
  EXPECT_EQ(ReadTeacherLabels(folder_.Put("t.csv", "0,3,1\n2, 2,0\n"), kShape), kTeachersLabels);
  WriteTeacherLabels(folder_ / "t.npy", kTeachersLabels);
  EXPECT_EQ(ReadTeacherLabels(folder_ / "t.npy", kShape), kTeachersLabels);
  const std::vector<double> doubles{0, 3, 1, 2, 2, 0};
  WriteNpy(folder_ / "d.npy", NpyFromDoubles({2, 3}, doubles));
  EXPECT_EQ(ReadTeacherLabels(folder_ / "d.npy", kShape), kTeachersLabels);
}

TEST_F(TeacherLabelsTest, NamesTeacherAndQueryOfWhatIsNoClass) {
  EXPECT_THAT(Error(folder_.Put("a.csv", "0,3,1\n2,4,0\n")),
              HasSubstr("teacher 2, query 2: found \"4\", expected a class, a whole number from 0 to 3"));
  EXPECT_THAT(Error(folder_.Put("b.csv", "0,3,1\n2,x,0\n")), HasSubstr("found \"x\""));
  EXPECT_THAT(Error(folder_.Put("c.csv", "0,3,1\n2,-1,0\n")), HasSubstr("found \"-1\""));
  WriteNpy(folder_ / "d.npy", NpyFromDoubles({2, 3}, std::vector<double>{0, 3, 1, 2, 2.5, 0}));
  EXPECT_THAT(Error(folder_ / "d.npy"), HasSubstr("teacher 2, query 2: found 2.5"));
}

TEST_F(TeacherLabelsTest, NamesAnotherShape) {
  EXPECT_THAT(Error(folder_.Put("a.csv", "0,3,1\n")),
              HasSubstr("found 1 teachers and 3 queries, expected 2 and 3, as the job declares them"));
  EXPECT_THAT(Error(folder_.Put("b.csv", "0,3,1\n1,1\n")),
              HasSubstr("teacher 2: found 2 queries, expected 3"));
  WriteNpy(folder_ / "c.npy", NpyFromDoubles({3, 2}, std::vector<double>{0, 3, 1, 2, 2, 0}));
  EXPECT_THAT(Error(folder_ / "c.npy"), HasSubstr("found 3 teachers and 2 queries"));
  WriteNpy(folder_ / "d.npy", NpyFromDoubles({6}, std::vector<double>{0, 3, 1, 2, 2, 0}));
  EXPECT_THAT(Error(folder_ / "d.npy"), HasSubstr("found 1 dimensions, expected 2"));
}

}  // namespace
}  // namespace trefoil::data
