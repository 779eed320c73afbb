#include "data/tables/query_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "data/tables/postgres_reader.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

TEST(QueryReader, TakesNoPasswordForAPostgresDatabase) {
  for (const char* database :
       {"password=hunter2", "host=db PassWord = hunter2", "host=db sslpassword=hunter2",
        "postgresql://user:hunter2@db/visits", "host=db password"})
    EXPECT_TRUE(MayHoldPassword(database)) << database;
  for (const char* database : {"visits", "service=clinic", "host=/run dbname=visits passfile=/etc/pass"})
    EXPECT_FALSE(MayHoldPassword(database)) << database;
  const DataFiles files{
      .x = {}, .y = {}, .file = "password=hunter2", .more = {}, .query = "SELECT 1", .postgres = true};
  const auto error = testing_support::ErrorText<ConfigError>([&] { (void)OpenQuery(files, '.'); });
  EXPECT_THAT(error, AnyOf(HasSubstr("found what may be a password"), HasSubstr("built without libpq")));
  EXPECT_EQ(error.find("hunter2"), std::string::npos);
}

// tests/apps/postgres_test.py asks a server.
TEST(QueryReader, NamesAPostgresDatabaseThatCannotBeReached) {
  if (!HasPostgres()) GTEST_SKIP() << "built without libpq: scripts/setup --postgres";
  const TemporaryFolder folder;
  const auto database = "host=" + folder.path().string() + " dbname=visits";
  const DataFiles files{
      .x = {}, .y = {}, .file = database, .more = {}, .query = "SELECT secret", .postgres = true};
  const auto error = testing_support::ErrorText<DataError>([&] { (void)QuerySha256(files); });
  EXPECT_THAT(error, HasSubstr("PostgreSQL " + database + ": found "));
  EXPECT_THAT(error, HasSubstr("expected a database that can be reached"));
  EXPECT_EQ(error.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace trefoil::data
