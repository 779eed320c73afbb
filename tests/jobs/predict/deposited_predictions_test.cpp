#include "jobs/predict/deposited_predictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/predict/shared_classifier.h"
#include "ml/on_shares/prediction.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/edit_case.h"
#include "tests/jobs/kept_job.h"
#include "tests/jobs/silent_output.h"
#include "tests/reference/plain_classifier.h"
#include "tests/support/ml_test.h"

namespace trefoil::jobs {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using testing::ElementsAre;
using testing_support::InsecureDeal;
using testing_support::RunParties;
using testing_support::Seed;

/// The model's, of two classes.
DpsgdSettings JobOfModel(const TemporaryFolder& folder) {
  return ReadDpsgdSettings(folder.Write("job.toml", Replaced(kKeptJob, "classes = 3", "classes = 2")));
}

constexpr Index kHeight = 6;
constexpr std::int64_t kCapacity = 20;

PredictSettings JobOf(std::int64_t capacity) {
  PredictSettings job;
  job.run = std::string(32, 'c');
  job.store.on = true;
  job.rows = capacity;
  return job;
}

/// Two deposits of kHeight rows each, one of which ends in padding; keeps what it is to seal.
class TwoDeposits : public SharedRecords {
 public:
  explicit TwoDeposits(RingMatrix rows) : rows_(std::move(rows)) {}

  std::string Load(const RecordSchema& /*records*/) override { return ""; }
  std::vector<Population> Populations() override { return {}; }
  Checked Share(mpc::Context& party, const CapOf& cap, const std::string& run) override {
    EXPECT_EQ(cap({.owner = "a", .name = "b"}), "");
    EXPECT_EQ(run, "");
    Checked checked{.deposits = {std::string(64, 'a'), std::string(64, 'b')},
                    .summary = {{"used", 2}},
                    .warnings = {"one is left out"}};
    for (const Index first : {Index{0}, kHeight})
      checked.rows.push_back(InsecureDeal(party, RingMatrix(rows_.middleRows(first, kHeight))));
    return checked;
  }
  std::string SealForOwner(const PartForOwner& part) override {
    sealed.push_back(part);
    return "sealed";
  }

  std::vector<PartForOwner> sealed{};

 private:
  RingMatrix rows_;
};

/// Notes warnings; nothing is charged.
class NoCharge : public SilentOutput {
 public:
  void Reserve(const Events& /*plan*/, const Events& /*before*/) override { ADD_FAILURE(); }
  void Settle(const Events& /*executed*/) override { ADD_FAILURE(); }
  void Warn(const std::string& line) override { warnings.push_back(line); }
  void Announce(const Events& /*executed*/, int /*steps*/) override { ADD_FAILURE(); }

  std::vector<std::string> warnings{};
};

struct PredictedParty {
  std::vector<PartForOwner> sealed;
  std::vector<ResultFile> files;
  std::vector<std::string> warnings;
  std::string summary;
  protocols::Measured measured;
};

class DepositedPredictionsTest : public testing::TestWithParam<bool> {
 protected:
  DepositedPredictionsTest() {
    rows_.leftCols(4) = testing_support::RandomSigned(3, rows_.rows(), 4, 15);
    rows_.col(4).setConstant(1);
    rows_.row(2 * kHeight - 1).setZero();
  }

  [[nodiscard]] std::array<PredictedParty, 3> Predicted(const PredictSettings& job) const {
    return RunParties(Seed{4}, [&](mpc::Context& party) {
      ShareFile model{.party = party.self(), .schema = schema_, .record = {}, .weights = {}};
      model.weights = mpc::FixedShare(InsecureDeal(party, weights_), 16);
      TwoDeposits deposits(rows_);
      NoCharge output;
      PredictedParty seen;
      DepositedPredictions made;
      seen.measured = protocols::Measure(
          party, [&] { made = PredictDeposits(party, job, "of the job", model, deposits, output); });
      EXPECT_EQ(made.rows, 2 * kHeight);
      seen.sealed = deposits.sealed;
      seen.files = made.files;
      seen.warnings = output.warnings;
      seen.summary = made.deposits.dump();
      return seen;
    });
  }

  TemporaryFolder folder_;
  ModelSchema schema_ = ModelSchemaOf(JobOfModel(folder_));
  RingMatrix weights_ = testing_support::RandomSigned(8, 5, 1, 16);
  RingMatrix rows_ = RingMatrix::Zero(2 * kHeight, 6);
};

TEST_P(DepositedPredictionsTest, SealToEachOwnerWhatTheModelSaysAtThePlannedCost) {
  auto job = JobOf(kCapacity);
  job.scores = GetParam();
  const auto parties = Predicted(job);
  const auto planned = ClassifyBySharesCost(job, schema_, protocols::Form::kBulk).session.total();
  const auto empty = ml::SessionCost().total();
  RingMatrix encoded = rows_.leftCols(5);
  encoded.col(4) *= Word{1} << 16;
  const auto plan = ml::MakeStepPlan(schema_.classifier);
  int rounds = 0;
  for (std::size_t self = 0; self < parties.size(); ++self) {
    const auto& seen = parties[self];
    rounds = std::max(rounds, seen.measured.rounds);
    EXPECT_EQ(seen.measured.bytes_sent + seen.measured.bytes_offline,
              planned.bytes_sent[self] - empty.bytes_sent[self]);
    EXPECT_THAT(seen.warnings, ElementsAre("one is left out"));
    EXPECT_EQ(seen.summary, R"({"used":2})");
    ASSERT_EQ(seen.files.size(), 2U);
    EXPECT_EQ(seen.files[0].name, "predictions-" + std::string(64, 'a') + ".sealed");
    EXPECT_EQ(seen.files[1].name, "predictions-" + std::string(64, 'b') + ".sealed");
    for (const auto& file : seen.files) {
      EXPECT_TRUE(file.secret);
      EXPECT_EQ(file.text, "sealed");
    }
  }
  EXPECT_EQ(rounds, planned.rounds - empty.rounds);
  int ones = 0;
  for (std::size_t k = 0; k < 2; ++k) {
    RingMatrix sum = RingMatrix::Zero(kHeight, 1);
    for (std::size_t self = 0; self < 3; ++self) {
      const auto& part = parties[self].sealed.at(k);
      EXPECT_EQ(part.deposit, std::string(64, k == 0 ? 'a' : 'b'));
      EXPECT_EQ(part.run, job.run);
      EXPECT_EQ(part.job, "of the job");
      EXPECT_EQ(part.scores, job.scores);
      EXPECT_EQ(part.fraction_bits, job.scores ? 32 : 0);
      EXPECT_TRUE((part.components[1] == parties[(self + 1) % 3].sealed.at(k).components[0]).all());
      sum += part.components[0];
    }
    for (Index row = 0; row < kHeight; ++row) {
      const int expected =
          reference::PlainClass(plan, encoded, static_cast<Index>(k) * kHeight + row, weights_);
      const auto& part = parties[0].sealed.at(k);
      EXPECT_EQ(job.scores ? ml::ClassOf(sum, row, part.decision) : static_cast<int>(sum(row, 0)), expected);
      ones += expected;
    }
  }
  EXPECT_GT(ones, 0);
  EXPECT_LT(ones, 2 * kHeight);
}

INSTANTIATE_TEST_SUITE_P(Forms, DepositedPredictionsTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "scores" : "classes"; });

TEST(DepositedPredictionsCost, DependsOnTheCapacityAlone) {
  const TemporaryFolder folder;
  const auto schema = ModelSchemaOf(JobOfModel(folder));
  auto job = JobOf(1024);
  const auto one = ClassifyBySharesCost(job, schema, protocols::Form::kBulk);
  job.rows = 2048;
  const auto two = ClassifyBySharesCost(job, schema, protocols::Form::kBulk);
  const auto bytes = [](const JobCost& cost) { return cost.session.total().bytes_sent[0]; };
  EXPECT_GT(bytes(two), bytes(one));
  EXPECT_EQ(two.results[1], 2 * one.results[1]);
  EXPECT_GT(two.memory[2], one.memory[2] + 1024 * 16 * 5);
}

}  // namespace
}  // namespace trefoil::jobs
