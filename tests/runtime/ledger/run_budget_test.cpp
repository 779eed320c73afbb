#include "runtime/ledger/run_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/dataset/data_hash.h"
#include "tests/apps/ledger_requests.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"

namespace trefoil::runtime {
namespace {

constexpr const char* kChoosingJob = R"(version = 1
type = "dpsgd"
name = "digits"
[data]
name = "digits"
format = "idx"
rows = [1000, 1000, 1000]
features = 784
classes = 10
scale = 255.0
[training]
steps = 5
expected_batch = 300
max_batch_per_owner = 200
learning_rate = 1.0
[privacy]
sigma = 2.0
delta = 1e-5
clip = 0.5
[initialisation]
method = "accuracy"
steps = 5
expected_batch = 100
learning_rate = 1.0
sigma = 1.0
selection = "public-validation"
validation_holder = 0
validation_rows = 3
)";

constexpr const char* kStoreJob = R"(version = 1
type = "dpsgd"
name = "visits"
[data]
name = "visits"
format = "npz"
source = "store"
capacity = 60
features = 3
classes = 2
[training]
steps = 5
expected_batch = 60
learning_rate = 1
[privacy]
sigma = 1.5
delta = 1e-5
clip = 1
sampling = "full"
)";

/// Party 0, with ledgers of [data] and of [evaluation].
class NoChoiceTest : public testing::Test {
 protected:
  NoChoiceTest() {
    party_.data = data::OneFile(folder_.Write("data", "1"));
    party_.evaluation = data::OneFile(folder_.Write("evaluation", "2"));
    party_.validation = data::OneFile(folder_.Write("validation", "3"));
    party_.ledger = LedgerIn("ledger.jsonl");
    party_.evaluation_ledger = LedgerIn("tests.jsonl");
  }

  std::string Refusal(const std::vector<std::string>& assignments = {}) {
    const auto job = jobs::ReadJob(folder_.Write("job.toml", kChoosingJob), assignments);
    return testing_support::ErrorText<BudgetError>([&] { RequireNoChoice(party_, *job); });
  }

  /// Gives this ledger a job on the validation records.
  void Charge(const jobs::LedgerSettings& ledger) {
    auto request = RequestOf("1", 1);
    request.data = data::DataHash(party_.validation);
    (void)LedgerFile(ledger.file).Reserve(request);
  }

  jobs::LedgerSettings LedgerIn(const std::string& name) {
    jobs::LedgerSettings ledger;
    ledger.file = folder_.path() / name;
    ledger.epsilon_cap = kNoCap;
    ledger.delta = kDelta;
    return ledger;
  }

  TemporaryFolder folder_;
  jobs::PartyFile party_;
};

TEST_F(NoChoiceTest, RefusesValidationRecordsThatTheTestRecordsLedgerIsOf) {
  EXPECT_EQ(Refusal(), "");
  party_.evaluation = data::OneFile(folder_.Write("copy", "3"));
  EXPECT_THAT(Refusal(),
              testing::HasSubstr("tests.jsonl: initialisation.selection: found \"public-validation\" on "
                                 "[validation] records that this ledger is of"));
  EXPECT_EQ(Refusal({"initialisation.validation_holder=1"}), "");  // who brings them
  party_.evaluation_ledger.reset();
  EXPECT_EQ(Refusal(), "");
}

// The second of two hands on one ledger would take the first for another process, for ever.
TEST_F(NoChoiceTest, RefusesLinksThatMakeOneFileOfTwoLedgers) {
  const auto refusal = [&] {
    return testing_support::ErrorText<ConfigError>([&] { RequireTwoLedgers(party_); });
  };
  EXPECT_EQ(refusal(), "");
  std::filesystem::create_directory_symlink(folder_.path(), folder_.path() / "link");
  party_.evaluation_ledger = LedgerIn("link/ledger.jsonl");
  EXPECT_THAT(refusal(), testing::HasSubstr("link/ledger.jsonl, which is the file of [ledger], "));
  party_.evaluation_ledger = LedgerIn("hard.jsonl");
  std::filesystem::create_hard_link(folder_.Write("ledger.jsonl", ""), folder_.path() / "hard.jsonl");
  EXPECT_THAT(refusal(), testing::HasSubstr("hard.jsonl, which is the file of [ledger], "));
  const auto job = jobs::ReadJob(folder_.Write("job.toml", kChoosingJob));
  EXPECT_THROW((void)RunBudget(party_, *job), ConfigError);
}

// Else a run would seem to have charged its owners, who have no ledger.
TEST_F(NoChoiceTest, TakesNoJobOnDepositsIntoTheLedgerOfOwnData) {
  const auto job = jobs::ReadJob(folder_.Write("job.toml", kStoreJob));
  const auto refusal = [&] {
    return testing_support::ErrorText<BudgetError>([&] { RunBudget(party_, *job); });
  };
  EXPECT_THAT(refusal(),
              testing::HasSubstr("ledger.jsonl: data.source: found \"store\", whose owners' records are in "
                                 "no ledger of a party's own data but in those of [owner_ledgers]"));
  EXPECT_FALSE(std::filesystem::exists(party_.ledger->file));
  party_.ledger.reset();
  EXPECT_EQ(refusal(), "");
}

TEST_F(NoChoiceTest, RefusesWhatALedgerKnowsWhateverThePartyFileNames) {
  party_.evaluation = {};
  Charge(*party_.evaluation_ledger);
  EXPECT_THAT(Refusal(), testing::HasSubstr("tests.jsonl: "));
  Charge(*party_.ledger);
  EXPECT_THAT(Refusal(), testing::HasSubstr("ledger.jsonl: "));
}

/// Party 0, with ledgers of owners' populations.
class OwnerLedgerTest : public NoChoiceTest {
 protected:
  OwnerLedgerTest() : job_(jobs::ReadJob(folder_.Write("store.toml", kStoreJob))) { Cap(kNoCap); }

  void Cap(double cap) {
    party_.owner_ledgers = {.folder = folder_.path() / "owners", .epsilon_cap = cap, .delta = kDelta};
  }
  [[nodiscard]] std::filesystem::path FileOf(const jobs::Population& one) const {
    return OwnerLedger(*party_.owner_ledgers, one).file;
  }
  /// As many steps of a run as it has executed.
  void Run(const std::string& run, std::int64_t steps, const std::vector<jobs::Population>& populations) {
    RunBudget budget(party_, *job_);
    budget.PrepareOwners(populations, RecordOf(run, steps));
    budget.ChargeTo(populations);
    (void)budget.Reserve(RecordOf(run, steps), {});
    budget.Announce(RecordOf(run, steps));
    budget.Settle(RecordOf(run, steps));
  }

  const jobs::Population first_{.owner = "clinic", .name = "default"};
  const jobs::Population second_{.owner = "hospital", .name = "ward-3"};
  std::unique_ptr<jobs::Job> job_;
};

TEST_F(OwnerLedgerTest, ChargesEachPopulationOnceAndNothingElse) {
  Run("1", 100, {first_, second_});
  Run("2", 300, {second_});
  EXPECT_EQ(SpentIn(FileOf(first_)), Insider(100));
  EXPECT_EQ(SpentIn(FileOf(second_)), Insider(400));
  EXPECT_EQ(FileOf(first_), folder_.path() / "owners/clinic/default.jsonl");
  EXPECT_FALSE(std::filesystem::exists(party_.ledger->file));
  using std::filesystem::perms;
  for (const auto& folder : {FileOf(first_).parent_path(), party_.owner_ledgers->folder})
    EXPECT_EQ(std::filesystem::status(folder).permissions(), perms::owner_all);
}

TEST_F(OwnerLedgerTest, SaysWhyAPopulationIsCappedAndChangesNothing) {
  Run("1", 300, {second_});
  Cap(Insider(350));
  const RunBudget budget(party_, *job_);
  EXPECT_EQ(budget.WhyCapped(first_, RecordOf("2", 300)), "");
  EXPECT_EQ(budget.WhyCapped(second_, RecordOf("2", 10)), "");
  EXPECT_THAT(budget.WhyCapped(second_, RecordOf("2", 300)), testing::HasSubstr("ward-3.jsonl: epsilon "));
  EXPECT_EQ(budget.WhyCapped(second_, RecordOf("1", 320)), "") << "the run that is charged goes on";
  EXPECT_FALSE(std::filesystem::exists(FileOf(first_)));
  EXPECT_EQ(SpentIn(FileOf(second_)), Insider(300));
  party_.owner_ledgers.reset();
  party_.ledger.reset();
  EXPECT_EQ(RunBudget(party_, *job_).WhyCapped(second_, RecordOf("2", 300)), "");
}

TEST_F(OwnerLedgerTest, ChargesNothingToAnyWhereOneOfThemRefuses) {
  Run("1", 300, {second_});
  Cap(Insider(350));
  RunBudget budget(party_, *job_);
  budget.ChargeTo({first_, second_});
  EXPECT_THROW((void)budget.Reserve(RecordOf("2", 100), {}), BudgetError);
  budget.StopOrLog([](const std::string& line) { ADD_FAILURE() << line; });
  EXPECT_EQ(SpentIn(FileOf(first_)), 0);
  EXPECT_EQ(SpentIn(FileOf(second_)), Insider(300));
}

TEST_F(OwnerLedgerTest, FindsAtOnceWhatMakesALedgerUnusable) {
  Run("1", 100, {first_});
  const auto prepared = [&] {
    return ErrorOf([&] { RunBudget(party_, *job_).PrepareOwners({first_}, RecordOf("2", 100)); });
  };
  EXPECT_EQ(prepared(), "no error");
  party_.owner_ledgers->delta = 1e-6;
  EXPECT_THAT(prepared(), testing::HasSubstr("found delta 1e-06 asked for, expected 1e-05"));
  Cap(kNoCap);
  party_.owner_ledgers->folder = folder_.Write("file", "");
  EXPECT_THAT(prepared(), testing::HasSubstr("file: cannot be made a folder for ledgers"));
  party_.owner_ledgers->folder = folder_.path() / "nowhere/owners";
  EXPECT_THAT(prepared(), testing::HasSubstr("nowhere/owners: cannot be made a folder for ledgers"));
}

}  // namespace
}  // namespace trefoil::runtime
