#include "deposit/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <future>

#include "base/error.h"
#include "base/files/files.h"
#include "base/passing_error.h"
#include "base/secrets/sha256.h"
#include "tests/deposit/store/store_fixture.h"
#include "tests/support/error_text.h"
#include "tests/support/faults/file_calls.h"

namespace trefoil::deposit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::ErrorText;

TEST_F(StoreTest, HasWhatWasTaken) {
  const auto first = Opened(SampleDeposit(study_));
  const auto second = Another(6, true);
  {
    auto store = Open();
    EXPECT_TRUE(store.List().empty());
    EXPECT_FALSE(ReasonOf(store, first));
    EXPECT_FALSE(ReasonOf(store, second));
  }
  auto store = Open();
  const auto all = store.List();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].id, first.id);
  EXPECT_EQ(all[0].owner, "hospital");
  EXPECT_EQ(all[0].accepted, 1'795'000'001U);
  EXPECT_EQ(EncodeHeader(all[1].header), EncodeHeader(second.header));
  EXPECT_EQ(all[1].study, JsonOf(study_));
  for (const auto& one : all) store.Verify(one);
  EXPECT_TRUE(store.Strays().empty());
  for (const auto* name : {"s", "s/bodies", "s/deposits.sqlite"}) {
    struct stat status {};
    ASSERT_EQ(stat((folder_.path() / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0077U, 0U) << name;
  }
}

TEST_F(StoreTest, IsOpenedWhileAnotherMakesIt) {
  ASSERT_TRUE(std::filesystem::create_directory(folder_.path() / "s"));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((folder_.path() / "s/deposits.sqlite").c_str(), &other), SQLITE_OK);
  const auto run = [&](const char* sql) { return sqlite3_exec(other, sql, nullptr, nullptr, nullptr); };
  ASSERT_EQ(run("BEGIN IMMEDIATE"), SQLITE_OK);
  auto opened = std::async(std::launch::async, [&] { return Open().List().size(); });
  EXPECT_EQ(opened.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  EXPECT_EQ(run("COMMIT"), SQLITE_OK);
  EXPECT_EQ(sqlite3_close(other), SQLITE_OK);
  EXPECT_EQ(opened.get(), 0U);
}

TEST_F(StoreTest, TakesNothingTwice) {
  auto store = Open();
  const auto first = Opened(SampleDeposit(study_));
  EXPECT_FALSE(ReasonOf(store, first));
  const auto body = ReadTextFile(BodyOf(first), "a body");
  EXPECT_EQ(ReasonOf(store, first), Reason::kRepeated);
  EXPECT_EQ(ReadTextFile(BodyOf(first), "a body"), body) << "which nobody wrote to";
  // An owner that says its nonce again, or hands in a component again, in a deposit of another id.
  auto again = Another(6, true);
  again.header.nonce = first.header.nonce;
  EXPECT_EQ(ReasonOf(store, again), Reason::kRepeated);
  again = Another(6, true);
  again.header.commitments[2] = first.header.commitments[0];
  EXPECT_EQ(ReasonOf(store, again), Reason::kRepeated);
  EXPECT_EQ(store.List().size(), 1U);
}

TEST_F(StoreTest, LetsNoOwnerBarAnotherByWhatItsHeaderShows) {
  auto store = Open();
  const auto first = Opened(SampleDeposit(study_));
  EXPECT_FALSE(ReasonOf(store, first));
  const auto other = OfAnotherKey(
      [&](Header& header) {
        header.nonce = first.header.nonce;
        header.commitments[2] = first.header.commitments[2];
      },
      "clinic");
  EXPECT_FALSE(ReasonOf(store, other));
  EXPECT_EQ(store.List().size(), 2U);
}

TEST_F(StoreTest, KnowsAnOwnerWithANewKeyByItsName) {
  auto store = Open();
  EXPECT_FALSE(ReasonOf(store, Another(1, false)));
  EXPECT_EQ(ReasonOf(store, OfAnotherKey([](Header&) {}, "hospital")), Reason::kLive);
}

TEST_F(StoreTest, HasOneLiveDepositUnlessTheNextAdds) {
  auto store = Open();
  EXPECT_FALSE(ReasonOf(store, Another(1, false)));
  EXPECT_EQ(ReasonOf(store, Another(2, false)), Reason::kLive);
  EXPECT_FALSE(ReasonOf(store, Another(3, true)));
  EXPECT_FALSE(ReasonOf(store, Another(4, false, "ward-4"))) << "another population";
  EXPECT_EQ(store.List().size(), 3U);
}

TEST_F(StoreTest, NotesWhatARunHasSpentForGood) {
  const auto first = Another(5, true);
  const auto second = Another(6, true);
  {
    auto store = Open();
    EXPECT_EQ(ReasonOf(store, first), std::nullopt);
    EXPECT_EQ(ReasonOf(store, second), std::nullopt);
    store.Spend({first.id}, "run-a", 1);
    store.Spend({first.id}, "run-a", 2);  // by the same run once more
    EXPECT_THAT(ErrorText<DataError>([&] {
                  store.Spend({second.id, first.id}, "run-b", 3);
                }),
                HasSubstr("found it spent by run run-a, expected it unused, or spent by run run-b"));
  }
  auto store = Open();
  const auto all = store.List();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].spent_by, "run-a");
  EXPECT_EQ(all[1].spent_by, "") << "both or none of them";
  EXPECT_EQ(ReasonOf(store, Another(7, false)), Reason::kLive);
  store.Spend({second.id}, "run-b", 4);
  // What is spent stands in the way of nothing; itself it does not come back.
  EXPECT_EQ(ReasonOf(store, Another(7, false)), std::nullopt);
  EXPECT_EQ(ReasonOf(store, first), Reason::kRepeated);
}

TEST_F(StoreTest, NotesWhatThisPartySetsAside) {
  const auto first = Another(5, true);
  const auto second = Another(6, true);
  {
    auto store = Open();
    EXPECT_EQ(ReasonOf(store, first), std::nullopt);
    EXPECT_EQ(ReasonOf(store, second), std::nullopt);
    EXPECT_TRUE(store.SetAside(second.id, true, 1'795'000'003));
    EXPECT_FALSE(store.SetAside(second.id, true, 1'795'000'004)) << "it was so before";
    EXPECT_THAT(ErrorText<DataError>([&] { (void)store.SetAside(Another(7, true).id, true, 1); }),
                HasSubstr("found no deposit"));
  }
  auto store = Open();
  auto all = store.List();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].set_aside, 0U);
  EXPECT_EQ(all[1].set_aside, 1'795'000'003U);
  EXPECT_TRUE(store.Verify(all[1]));
  EXPECT_TRUE(store.Strays().empty());
  EXPECT_EQ(ReasonOf(store, second), Reason::kRepeated);
  EXPECT_EQ(ReasonOf(store, Another(7, false)), Reason::kLive) << "both are the owner's";
  EXPECT_TRUE(store.SetAside(second.id, false, 5));
  EXPECT_FALSE(store.SetAside(first.id, false, 5)) << "it was not";
  all = store.List();
  EXPECT_EQ(all[1].set_aside, 0U);
}

// Else both would be used once this party takes its decision back.
TEST_F(StoreTest, TakesNoOtherInThePlaceOfWhatIsSetAside) {
  auto store = Open();
  const auto deposit = Another(1, false);
  EXPECT_FALSE(ReasonOf(store, deposit));
  EXPECT_TRUE(store.SetAside(deposit.id, true, 1));
  EXPECT_EQ(ReasonOf(store, Another(2, false)), Reason::kLive);
}

TEST_F(StoreTest, EntersADepositOnceItsBodyIsOnDisk) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  (void)testing_support::TakeFileCalls();
  EXPECT_FALSE(ReasonOf(store, deposit));
  const auto name = ToHex(deposit.id) + ".sealed";
  EXPECT_THAT(testing_support::TakeFileCalls(),
              ElementsAre("fsync " + name + ".part", "rename " + name, "fsync bodies"));
}

TEST_F(StoreTest, IsAsBeforeWhereABodyCannotBeWritten) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  std::filesystem::create_directory(BodyOf(deposit));  // in the place of the file
  EXPECT_THROW(store.Accept(deposit, study_, "x.deposit", 1), std::system_error);
  EXPECT_TRUE(store.List().empty());
  EXPECT_THAT(store.Strays(), ElementsAre(BodyOf(deposit)));
  std::filesystem::remove(BodyOf(deposit));
  EXPECT_FALSE(ReasonOf(store, deposit));
}

TEST_F(StoreTest, TakesADepositWhoseAcceptanceWasKilled) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  WriteSecretFile(BodyOf(deposit), "half of a body");
  EXPECT_THAT(store.Strays(), ElementsAre(BodyOf(deposit)));
  EXPECT_FALSE(ReasonOf(store, deposit));
  EXPECT_TRUE(store.Strays().empty());
  store.Verify(store.List().at(0));
}

TEST_F(StoreTest, FindsWhatWasChanged) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  EXPECT_FALSE(ReasonOf(store, deposit));
  const auto stored = store.List().at(0);
  const auto body = ReadTextFile(BodyOf(deposit), "a body");
  auto changed = body;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  ReplaceSecretFile(BodyOf(deposit), changed);
  EXPECT_THAT(ErrorText<DataError>([&] { store.Verify(stored); }), HasSubstr("cannot be opened"));
  std::filesystem::remove(BodyOf(deposit));
  EXPECT_THAT(ErrorText<ConfigError>([&] { store.Verify(stored); }), HasSubstr(".sealed: No such file"));
  ReplaceSecretFile(BodyOf(deposit), body);
  store.Verify(stored);
  auto other = Open(4);
  EXPECT_THAT(ErrorText<DataError>([&] { other.Verify(stored); }), HasSubstr("storage key is another"));
}

TEST_F(StoreTest, SaysWhereADepositIsWithdrawnWhileItIsRead) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  EXPECT_FALSE(ReasonOf(store, deposit));
  const auto stored = store.List().at(0);
  const auto content = SignWithdrawal(deposit.id, 1, SamplePair(KeyKind::kOwner, 10));
  auto other = Open();
  (void)other.Withdraw(ParseWithdrawal(content, "w"), SampleReader(study_, 1).owners, "w", 1);
  EXPECT_EQ(ErrorText<PassingError>([&] { (void)store.Read(stored); }),
            "deposit " + ToHex(deposit.id) +
                ": found it withdrawn meanwhile, expected it as it was before: try again");
  EXPECT_NO_THROW(store.Verify(stored)) << "nothing is wrong with it";
}

TEST_F(StoreTest, SealsWhatLiesOnDisk) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  EXPECT_FALSE(ReasonOf(store, deposit));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path() / "s")) {
    if (!entry.is_regular_file()) continue;
    const auto text = ReadTextFile(entry.path(), "a file");
    for (const auto& component : deposit.components)
      EXPECT_EQ(text.find(std::string_view(reinterpret_cast<const char*>(component.data()), 32)),
                std::string::npos);
  }
}

TEST_F(StoreTest, RefusesAFileOfSomethingElseOrALaterVersion) {
  std::filesystem::create_directories(folder_.path() / "s");
  folder_.Write("s/deposits.sqlite", std::string(4096, 'x'));
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)Open(); }),
              HasSubstr("found another file, expected a store of deposits"));
  std::filesystem::remove(folder_.path() / "s/deposits.sqlite");
  {
    const std::array schema{"CREATE TABLE t (a)"};
    Database later(folder_.path() / "s/deposits.sqlite", schema, "a store");
    Database::Query(later, "PRAGMA user_version = 99").Run();
  }
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)Open(); }),
              HasSubstr("found version 99, expected at most "));
}

}  // namespace
}  // namespace trefoil::deposit
