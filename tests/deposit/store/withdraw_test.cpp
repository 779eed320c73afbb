#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "deposit/format/bytes.h"
#include "tests/deposit/store/store_fixture.h"
#include "tests/support/faults/file_calls.h"

namespace trefoil::deposit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class WithdrawTest : public StoreTest {
 protected:
  /// By owner `number`, of whom the party lists those that owners_ has.
  WithdrawalResult Withdraw(Store& store, const Hash& deposit, int number = 10) const {
    const auto content = SignWithdrawal(deposit, 1, SamplePair(KeyKind::kOwner, number));
    return store.Withdraw(ParseWithdrawal(content, "w"), owners_, "w", 1'795'000'002);
  }
  /// Whether it is refused as another owner's.
  [[nodiscard]] bool IsForeign(Store& store, const Hash& deposit, int number) const {
    try {
      (void)Withdraw(store, deposit, number);
    } catch (const RefusedDeposit& refused) {
      return refused.reason() == Reason::kOwner;
    }
    return false;
  }
  void List(const std::string& name, int number) {
    owners_.push_back({.name = name, .key = SamplePair(KeyKind::kOwner, number).known});
  }
  /// The store's database, whatever its version is.
  [[nodiscard]] Database Raw() const {
    return {folder_.path() / "s/deposits.sqlite", std::vector<const char*>(99, ""), "a store"};
  }
  [[nodiscard]] bool LiesOnDisk(const std::string& bytes) const {
    bool found = false;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path() / "s")) {
      found |=
          entry.is_regular_file() && ReadTextFile(entry.path(), "a file").find(bytes) != std::string::npos;
    }
    return found;
  }

  std::vector<TrustedOwner> owners_ = SampleReader(study_, 1).owners;
};

TEST_F(WithdrawTest, DeletesADepositAndTheKeyOfItsBody) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  EXPECT_FALSE(ReasonOf(store, deposit));
  const auto key = [&] {
    auto raw = Raw();
    Database::Query query(raw, "SELECT key FROM deposits");
    EXPECT_TRUE(query.Next());
    return query.Bytes(0);
  }();
  ASSERT_TRUE(LiesOnDisk(key));
  (void)testing_support::TakeFileCalls();
  EXPECT_EQ(Withdraw(store, deposit.id), WithdrawalResult::kDeleted);
  EXPECT_THAT(testing_support::TakeFileCalls(), ElementsAre("fsync bodies"));
  EXPECT_FALSE(LiesOnDisk(key)) << "neither in the database nor in its log";
  EXPECT_FALSE(std::filesystem::exists(BodyOf(deposit)));
  EXPECT_THAT(store.List(), IsEmpty());
  EXPECT_THAT(store.Strays(), IsEmpty());
  const auto all = store.Withdrawals();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].deposit, deposit.id);
  EXPECT_EQ(all[0].owner, "hospital");
  EXPECT_EQ(all[0].withdrawn, 1'795'000'002U);
}

TEST_F(WithdrawTest, RemembersWhatWasWithdrawn) {
  const auto first = Opened(SampleDeposit(study_));
  {
    auto store = Open();
    EXPECT_FALSE(ReasonOf(store, first));
    EXPECT_EQ(Withdraw(store, first.id), WithdrawalResult::kDeleted);
  }
  auto store = Open();
  EXPECT_EQ(Withdraw(store, first.id), WithdrawalResult::kAgain);
  EXPECT_EQ(ReasonOf(store, first), Reason::kWithdrawn);
  auto again = Another(6, true);
  again.header.nonce = first.header.nonce;
  EXPECT_EQ(ReasonOf(store, again), Reason::kRepeated);
  again = Another(6, true);
  again.header.commitments[2] = first.header.commitments[2];
  EXPECT_EQ(ReasonOf(store, again), Reason::kRepeated);
  EXPECT_FALSE(ReasonOf(store, Another(6, false))) << "no other deposit of the population is live";
  EXPECT_EQ(store.Withdrawals().size(), 1U);
}

TEST_F(WithdrawTest, ListensToTheDepositsOwnerAlone) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  EXPECT_FALSE(ReasonOf(store, deposit));
  EXPECT_TRUE(IsForeign(store, deposit.id, 12)) << "of nobody";
  List("clinic", 12);
  EXPECT_TRUE(IsForeign(store, deposit.id, 12)) << "of another owner";
  EXPECT_EQ(store.List().size(), 1U);
  store.Verify(store.List().at(0));
  EXPECT_THAT(store.Withdrawals(), IsEmpty());
}

TEST_F(WithdrawTest, ListensToAnOwnerThatIsNotListedAnyMore) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  EXPECT_FALSE(ReasonOf(store, deposit));
  owners_.clear();
  EXPECT_EQ(Withdraw(store, deposit.id), WithdrawalResult::kDeleted);
}

TEST_F(WithdrawTest, ListensToAnOwnerThatHasANewKey) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  EXPECT_FALSE(ReasonOf(store, deposit));
  owners_.clear();
  List("hospital", 12);
  EXPECT_EQ(Withdraw(store, deposit.id, 12), WithdrawalResult::kDeleted);
  EXPECT_EQ(ReasonOf(store, deposit), Reason::kWithdrawn);
}

TEST_F(WithdrawTest, DeletesADepositThatWasSetAside) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  EXPECT_FALSE(ReasonOf(store, deposit));
  EXPECT_TRUE(store.SetAside(deposit.id, true, 1));
  EXPECT_EQ(Withdraw(store, deposit.id), WithdrawalResult::kDeleted);
  EXPECT_FALSE(std::filesystem::exists(BodyOf(deposit)));
  EXPECT_THAT(store.List(), IsEmpty());
  EXPECT_THROW((void)store.SetAside(deposit.id, false, 2), DataError);
}

TEST_F(WithdrawTest, MayComeBeforeItsDeposit) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  const auto other = Another(6, true);
  EXPECT_TRUE(IsForeign(store, deposit.id, 12)) << "who is not listed may fill no table";
  List("clinic", 12);
  EXPECT_EQ(Withdraw(store, other.id, 12), WithdrawalResult::kAhead);
  EXPECT_EQ(Withdraw(store, deposit.id), WithdrawalResult::kAhead);
  EXPECT_EQ(Withdraw(store, deposit.id), WithdrawalResult::kAgain);
  EXPECT_EQ(ReasonOf(store, deposit), Reason::kWithdrawn);
  EXPECT_FALSE(ReasonOf(store, other)) << "which another owner withdrew";
  EXPECT_EQ(Withdraw(store, other.id), WithdrawalResult::kDeleted);
}

TEST_F(WithdrawTest, EndsWhatAKilledOneLeft) {
  auto store = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  EXPECT_FALSE(ReasonOf(store, deposit));
  EXPECT_EQ(Withdraw(store, deposit.id), WithdrawalResult::kDeleted);
  WriteSecretFile(BodyOf(deposit), "a body whose key is gone");
  EXPECT_THAT(store.Strays(), ElementsAre(BodyOf(deposit)));
  EXPECT_EQ(Withdraw(store, deposit.id), WithdrawalResult::kAgain);
  EXPECT_THAT(store.Strays(), IsEmpty());
}

// Beside another process, which keeps the log from being emptied as the store is closed.
TEST_F(WithdrawTest, IsEndedByTheNextWhoOpensTheStoreWhereItWasKilled) {
  auto inbox = Open();
  const auto deposit = Opened(SampleDeposit(study_));
  EXPECT_FALSE(ReasonOf(inbox, deposit));
  const auto key = [&] {
    auto raw = Raw();  // as a withdrawal that is killed behind its transaction
    Database::Query query(raw, "SELECT key FROM deposits");
    EXPECT_TRUE(query.Next());
    const auto found = query.Bytes(0);
    Database::Query(raw, "UPDATE deposits SET key = x''").Run();
    Database::Query(raw, "PRAGMA user_version = 5").Run();
    return found;
  }();
  ASSERT_TRUE(LiesOnDisk(key));
  ASSERT_TRUE(std::filesystem::exists(BodyOf(deposit)));
  const auto next = Open();
  EXPECT_FALSE(LiesOnDisk(key));
  EXPECT_FALSE(std::filesystem::exists(BodyOf(deposit)));
}

TEST_F(WithdrawTest, MayComeToAStoreOfBefore) {
  const auto deposit = Opened(SampleDeposit(study_));
  {
    auto store = Open();
    EXPECT_FALSE(ReasonOf(store, deposit));
  }
  {  // as stores were before there were withdrawals and receipts
    auto raw = Raw();
    Database::Query(raw, "DROP TABLE set_aside").Run();
    Database::Query(raw, "DROP TABLE spent").Run();
    Database::Query(raw, "DROP TABLE receipts").Run();
    Database::Query(raw, "DROP TABLE withdrawals").Run();
    Database::Query(raw, "PRAGMA user_version = 1").Run();
  }
  auto store = Open();
  store.Verify(store.List().at(0));
  EXPECT_EQ(store.Find(deposit.id)->prefix, "") << "which nobody kept";
  EXPECT_EQ(Withdraw(store, deposit.id), WithdrawalResult::kDeleted);
  EXPECT_TRUE(store.Find(deposit.id)->withdrawn);
}

}  // namespace
}  // namespace trefoil::deposit
