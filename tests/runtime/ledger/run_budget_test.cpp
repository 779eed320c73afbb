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

// Else a run would seem to have charged its owners, who have no ledger.
TEST_F(NoChoiceTest, TakesNoJobOnDepositsIntoTheLedgerOfOwnData) {
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
  const auto job = jobs::ReadJob(folder_.Write("job.toml", kStoreJob));
  const auto refusal = [&] {
    return testing_support::ErrorText<BudgetError>([&] { RunBudget(party_, *job); });
  };
  EXPECT_THAT(refusal(),
              testing::HasSubstr("ledger.jsonl: data.source: found \"store\", whose owners' records are in "
                                 "no ledger of a party's own data, expected another one"));
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

}  // namespace
}  // namespace trefoil::runtime
