#include "jobs/config/input_files.h"

#include <gmock/gmock.h>

#include "tests/data/temporary_folder.h"

namespace trefoil::jobs {
namespace {

TEST(BringFiles, ReplacesASetOfRecordsWhole) {
  PartyFile party;
  party.data = {.x = "x.npy", .y = "y.npy", .file = {}, .more = {"b.csv"}};
  party.evaluation = {.x = {}, .y = {}, .file = "test.csv"};
  party.inputs["pate.queries"] = "queries.npy";
  party.inputs["pate.predictions"] = "old.npy";
  BringFiles(party, {{"data.file", "own.csv"}, {"pate.predictions", "new.npy"}});
  EXPECT_TRUE(party.data.x.empty());
  EXPECT_TRUE(party.data.y.empty());
  EXPECT_TRUE(party.data.more.empty());
  EXPECT_EQ(party.data.file, "own.csv");
  EXPECT_EQ(party.evaluation.file, "test.csv");
  EXPECT_EQ(party.inputs["pate.queries"], "queries.npy");
  EXPECT_EQ(party.inputs["pate.predictions"], "new.npy");
}

TEST(BringFiles, KeepsTheShareWhereRowsOfAPredictionAreBrought) {
  PartyFile party;
  party.inputs["predict.share"] = "model.share";
  party.inputs.Records("predict").x = "x.npy";
  BringFiles(party, {{"predict.file", "rows.csv"}});
  EXPECT_EQ(party.inputs["predict.share"], "model.share");
  EXPECT_TRUE(party.inputs.Records("predict").x.empty());
  EXPECT_EQ(party.inputs.Records("predict").file, "rows.csv");
}

TEST(BringFiles, RefusesAKeyThatNamesNoFile) {
  PartyFile party;
  EXPECT_THAT(data::ErrorText<ConfigError>([&] {
                BringFiles(party, {{"data.xx", "x.npy"}});
              }),
              testing::HasSubstr("data.xx is no file of a party, expected one of data.file, data.x,"));
}

}  // namespace
}  // namespace trefoil::jobs
