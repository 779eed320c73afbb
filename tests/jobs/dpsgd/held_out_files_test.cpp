#include "jobs/dpsgd/held_out_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

constexpr const char* kHeldOutJob = R"(version = 1
type = "dpsgd"
name = "incomes"
[data]
name = "incomes"
format = "csv"
rows = [10, 20, 30]
classes = 2
[[data.column]]
name = "age"
mean = 38.5
scale = 13.0
[data.label]
column = "income"
values = ["low", "high"]
[training]
steps = 5
expected_batch = 12
max_batch_per_owner = 20
learning_rate = 1
[privacy]
sigma = 1.5
delta = 1e-5
clip = 1
[evaluation]
holder = 0
rows = 2
[initialisation]
method = "accuracy"
steps = 5
expected_batch = 4
learning_rate = 1
sigma = 1.0
selection = "public-validation"
validation_holder = 0
validation_rows = 2
)";

/// Party 0, whose tables are three files; these two are given the same content.
class SameDataTest : public testing::Test {
 protected:
  std::string ErrorWithSame(const std::string& one, const std::string& other,
                            const std::vector<std::string>& assignments = {}) {
    const auto write = [&](const std::string& table, const std::string& age) {
      const bool same = table == one || table == other;
      const std::string second = same ? "50" : age;
      return data::OneFile(folder_.Write(table + ".csv", "age,income\n30,low\n" + second + ",high\n"));
    };
    PartyFile party;
    party.data = write("data", "31");
    party.evaluation = write("evaluation", "32");
    party.validation = write("validation", "33");
    const auto job = ReadDpsgdSettings(folder_.Write("job.toml", kHeldOutJob), assignments);
    return testing_support::ErrorText<DataError>([&] {
      const auto held_out = LoadHeldOut(job, party, "party.toml", {.threads = 1});
      EXPECT_EQ(held_out.test.rows(), HoldsTest(job, 0) ? 2 : 0);
      EXPECT_EQ(held_out.validation.rows(), HoldsValidation(job, 0) ? 2 : 0);
    });
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(SameDataTest, IsRefusedInAnyTwoTablesThatTheJobReads) {
  EXPECT_EQ(ErrorWithSame("", ""), "");
  EXPECT_THAT(ErrorWithSame("data", "evaluation"),
              testing::HasSubstr("evaluation.csv: found the same data in [data] and [evaluation], expected "
                                 "other records in each"));
  EXPECT_THAT(ErrorWithSame("data", "validation"),
              testing::HasSubstr("validation.csv: found the same data in [data] and [validation]"));
  EXPECT_THAT(ErrorWithSame("evaluation", "validation"),
              testing::HasSubstr("validation.csv: found the same data in [evaluation] and [validation]"));
}

TEST_F(SameDataTest, IsNoMatterInATableThatTheJobReadsElsewhere) {
  EXPECT_EQ(ErrorWithSame("data", "validation", {"initialisation.validation_holder=1"}), "");
  EXPECT_EQ(ErrorWithSame("data", "evaluation", {"evaluation.holder=2"}), "");
}

}  // namespace
}  // namespace trefoil::jobs
