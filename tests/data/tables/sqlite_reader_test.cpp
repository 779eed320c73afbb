#include "data/tables/sqlite_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/secrets/sha256.h"
#include "data/columns/category_column.h"
#include "data/dataset/load.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

class SqliteReaderTest : public testing::Test {
 protected:
  /// A database that these statements make.
  [[nodiscard]] DataFiles Made(const std::string& statements, std::string query = "SELECT * FROM t") const {
    const auto path = folder_ / "t.db";
    std::filesystem::remove(path);
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(database);
    return {.x = {}, .y = {}, .file = path, .more = {}, .query = std::move(query)};
  }

  [[nodiscard]] std::string Error(const DataFiles& files) const {
    return ErrorText<DataError>([&] { (void)Load(spec_, files); });
  }

  [[nodiscard]] static std::vector<std::vector<std::string>> All(const DataFiles& files, char decimal = '.') {
    SqliteReader reader(files.file, files.query, decimal);
    std::vector<std::vector<std::string>> records;
    while (reader.Next()) records.push_back(reader.fields());
    EXPECT_FALSE(reader.Next());
    return records;
  }

  TemporaryFolder folder_;
  DataSpec spec_ = [] {
    DataSpec spec;
    spec.format = Format::kCsv;
    spec.features = 3;
    spec.columns = {{.name = "age", .kind = ColumnKind::kNumber, .values = {}},
                    {.name = "job", .kind = ColumnKind::kCategory, .values = {"a", "b"}}};
    spec.label = {.column = "rich", .values = {"0", "1"}, .aliases = {}};
    return spec;
  }();
};

TEST_F(SqliteReaderTest, GivesTheCellsOfACsvFile) {
  const auto files = Made(
      "CREATE TABLE t (a, b TEXT); INSERT INTO t VALUES (7, ' x,\"y\" '), (-9223372036854775808, ''), "
      "(0.1, NULL), (2.0, 'é'), (1e300, '1'), (9e999, 'a' || char(0) || 'b')");
  const std::vector<std::vector<std::string>> records{
      {"a", "b"},   {"7", " x,\"y\" "}, {"-9223372036854775808", ""},   {"0.1", ""},
      {"2.0", "é"}, {"1e+300", "1"},    {"inf", std::string("a\0b", 3)}};
  EXPECT_THAT(All(files), ElementsAreArray(records));
  EXPECT_EQ(All(files, ',')[3][0], "0,1");
  EXPECT_EQ(
      QuerySha256(files),
      Sha256Hex(
          std::string("1:a1:b\n1:77: x,\"y\" \n20:-92233720368547758080:\n3:0.1-\n3:2.02:é\n6:1e+3001:1\n") +
          "3:inf3:a" + std::string(1, '\0') + "b\n"));
}

TEST_F(SqliteReaderTest, WritesNumbersWithoutExponentWhereSqliteDoes) {
  for (const std::string number : {"100000.0", "-20000.0", "100000000000000.0", "0.0001", "0.0", "123456.75"})
    EXPECT_EQ(All(Made("CREATE TABLE t (a)", "SELECT " + number))[1][0], number);
  EXPECT_EQ(All(Made("CREATE TABLE t (a)", "SELECT 1e15"))[1][0], "1e+15");
  EXPECT_EQ(All(Made("CREATE TABLE t (a)", "SELECT 100000.0"), ',')[1][0], "100000,0");
}

TEST_F(SqliteReaderTest, IsReadAsATable) {
  const auto make =
      "CREATE TABLE t (rich, job, age); INSERT INTO t VALUES (1, 'b', 30), (0, NULL, 2.5), (0, 'a', NULL)";
  for (const bool header : {true, false}) {  // a query has names
    spec_.header = header;
    const auto table = Load(spec_, Made(make), 3);
    Matrix expected(3, 3);
    expected << 30, 0, 1, 2.5F, 0, 0, 0, 1, 0;
    EXPECT_EQ(table.x, expected);
    EXPECT_THAT(table.y, ElementsAre(1, 0, 0));
  }
  const CategoryColumn counted{.header = true, .columns = {}, .column = "job", .values = {"", "a", "b"}};
  EXPECT_THAT(ReadCategories(Made(make), counted), ElementsAre(2U, std::nullopt, 1U));
}

TEST_F(SqliteReaderTest, NamesRecordAndColumnOfAnError) {
  const auto with = [&](const std::string& rows) {
    return Error(Made("CREATE TABLE t (age, job, rich); INSERT INTO t VALUES (1, 'a', 0), " + rows));
  };
  EXPECT_THAT(with("('x', 'a', 0)"),
              HasSubstr("t.db: row 2, column \"age\": found \"x\", expected a number"));
  EXPECT_THAT(with("(1, 'c', 0)"), HasSubstr("row 2, column \"job\": found \"c\", expected one of"));
  EXPECT_THAT(with("(1, 'a', NULL)"), HasSubstr("row 2, column \"rich\": found NULL, expected a value"));
  EXPECT_THAT(with("(x'00', 'a', 1)"),
              HasSubstr("row 2, column \"age\": found a blob, expected a number or a text"));
  EXPECT_THAT(Error(Made("CREATE TABLE t (age, rich)")), HasSubstr("t.db: query: found no column \"job\""));
  spec_.missing = {};
  EXPECT_THAT(with("(NULL, 'a', 1)"),
              HasSubstr("row 2, column \"age\": found NULL, expected a value, as the job has no mark"));
  spec_.missing = {""};
  EXPECT_EQ(with("(NULL, NULL, 1)"), "");
  EXPECT_THAT(ErrorText<DataError>([&] {
                (void)Load(spec_, Made("CREATE TABLE t (age, job, rich); INSERT INTO t VALUES (1, 'a', 0)"),
                           0);
              }),
              HasSubstr("t.db: found 1 rows, expected at most the 0"));
}

TEST_F(SqliteReaderTest, TakesOneSelectThatOnlyReads) {
  const std::string make = "CREATE TABLE t (a); INSERT INTO t VALUES (1)";
  const auto other = folder_ / "other.db";
  const auto before = RawBytes(Made(make).file);
  for (const auto& query : {std::string("INSERT INTO t VALUES (2)"),
                            std::string("INSERT INTO t VALUES (2) RETURNING a"),
                            std::string("DELETE FROM t RETURNING a"),
                            std::string("CREATE TABLE u (a)"),
                            std::string("CREATE TEMP TABLE u (a)"),
                            std::string("DROP TABLE t"),
                            std::string("VACUUM INTO '") + other.string() + "'",
                            std::string("ATTACH '") + other.string() + "' AS o",
                            std::string("PRAGMA user_version"),
                            std::string("PRAGMA user_version = 7"),
                            std::string("SELECT load_extension('x')"),
                            std::string("BEGIN"),
                            std::string("EXPLAIN SELECT a FROM t"),
                            std::string("SELECT a FROM t WHERE \"misspelt\" <> 1"),
                            std::string("SELECT a FROM t; SELECT a FROM t"),
                            std::string("SELECT a FROM t; DROP TABLE t"),
                            std::string("SELECT a FROM t; x"),
                            std::string("-- nothing"),
                            std::string("SELECT"),
                            std::string("SELECT secret FROM t"),
                            std::string("SELECT * FROM pragma_table_info('t')"),
                            std::string("SELECT a\0 FROM t", 16)}) {
    auto files = Made(make);
    files.query = query;
    EXPECT_THAT(ErrorText<DataError>([&] { (void)All(files); }),
                AllOf(HasSubstr("t.db: query: found "), HasSubstr("expected one SELECT, which only reads")))
        << query;
    EXPECT_EQ(RawBytes(files.file), before) << query;
    EXPECT_FALSE(std::filesystem::exists(other)) << query;
  }
  const auto all = [&](const std::string& query) { return All(Made(make, query)).size(); };
  EXPECT_EQ(
      all("WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 5) SELECT k FROM n;"),
      6U);
  EXPECT_EQ(all("SELECT upper(a), count(*) FROM t GROUP BY a ORDER BY 1; -- all\n"), 2U);
  EXPECT_EQ(RawBytes(folder_ / "t.db"), before);
}

TEST_F(SqliteReaderTest, RefusesWhatIsNoDatabase) {
  const auto error = [&](const std::filesystem::path& path) {
    return ErrorText<DataError>([&] { (void)SqliteReader(path, "SELECT 1 FROM t", '.'); });
  };
  EXPECT_THAT(error(folder_ / "none.db"), HasSubstr("found no such file, expected an SQLite database"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none.db"));
  EXPECT_THAT(error(folder_.path()), HasSubstr("found something else, expected an SQLite database"));
  EXPECT_THAT(error(folder_.Put("a.csv", std::string(2000, 'a'))), HasSubstr("found file is not a database"));
  // A name is never taken for a URI, which might ask for more than reading.
  EXPECT_THAT(error("file:none.db?mode=rwc"), HasSubstr("found no such file"));
  EXPECT_THAT(ErrorText<ConfigError>([&] {
                auto files = Made("CREATE TABLE t (a)");
                spec_ = {};
                spec_.format = Format::kNpz;
                spec_.features = 1;
                (void)Load(spec_, files);
              }),
              HasSubstr("found a query, expected files"));
}

TEST_F(SqliteReaderTest, SurvivesADamagedDatabase) {
  std::string rows;
  for (int k = 0; k < 300; ++k)
    rows += std::string(k > 0 ? ", " : "") + "(" + std::to_string(k) + ", 'a', 1)";
  const auto files = Made("CREATE TABLE t (age, job, rich); INSERT INTO t VALUES " + rows);
  const auto whole = RawBytes(files.file);
  for (std::size_t at = 0; at < whole.size(); at += 97) {
    auto damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    folder_.Put("t.db", damaged);
    (void)Error(files);  // reads it, or throws a DataError
  }
  folder_.Put("t.db", whole.substr(0, whole.size() / 2));
  EXPECT_NE(Error(files), "");
}

}  // namespace
}  // namespace trefoil::data
