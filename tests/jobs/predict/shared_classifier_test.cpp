#include "jobs/predict/shared_classifier.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/job.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/edit_case.h"
#include "tests/jobs/kept_job.h"
#include "tests/support/ml_test.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::jobs {
namespace {

using testing_support::InsecureDeal;
using testing_support::Seed;

/// A prediction of ten rows by a model of two classes, with a threshold of the job's own.
class SharedClassifierTest : public testing::Test {
 protected:
  SharedClassifierTest() {
    job_.run = std::string(32, 'c');
    job_.client = 1;
    job_.rows = 10;
    job_.threshold = 0.55;
    SetThreshold(schema_, *job_.threshold, "predict.threshold");
    rows_.x.resize(9, 4);
    for (Eigen::Index k = 0; k < rows_.x.size(); ++k)
      rows_.x.data()[k] = 0.1F * static_cast<float>((k * 7) % 11 - 5);
  }

  using Serve = std::function<void(mpc::Context& party, mpc::Ranks& ranks)>;

  /// What the client gets of parties of so many machines; `serve`: what ranks above 0 do.
  [[nodiscard]] ml::Predictions PredictedBy(int count, const Serve& serve) const {
    std::optional<ml::Predictions> predictions;
    testing_support::RunRanks(count, Seed{4}, [&](mpc::Context& party, mpc::Ranks& ranks) {
      if (ranks.rank() > 0) return serve(party, ranks);
      ShareFile model{.party = party.self(), .schema = schema_, .record = {}, .weights = {}};
      model.weights = mpc::FixedShare(InsecureDeal(party, testing_support::RandomSigned(8, 5, 1, 16)), 16);
      auto got = ClassifyByShares(party, job_, model, party.self() == 1 ? rows_ : ml::OwnRecords{}, &ranks);
      if (party.self() == 1) predictions = std::move(got);
    });
    return *predictions;
  }
  [[nodiscard]] ml::Predictions PredictedBy(int count) const {
    return PredictedBy(count, [this](mpc::Context& party, mpc::Ranks& ranks) {
      ServeClassifier(party, job_, ranks, ShippedTypes());
    });
  }

  /// The prediction as its file says it, for the ranks of one party.
  [[nodiscard]] std::unique_ptr<Job> JobOfRank(mpc::Ranks& ranks) const {
    auto job = ReadJob(file_);
    job->UseRanks(ranks.count());
    job->TakeRanks(ranks);
    return job;
  }

  TemporaryFolder folder_;
  std::string file_ = folder_.Write(
      "predict.toml", "version = 1\ntype = \"predict\"\nname = \"p\"\n[predict]\nrun = \"" +
                          std::string(32, 'c') + "\"\nclient = 1\nrows = 10\nthreshold = 0.7\n");
  ModelSchema schema_ = ModelSchemaOf(
      ReadDpsgdSettings(folder_.Write("job.toml", Replaced(kKeptJob, "classes = 3", "classes = 2"))));
  PredictSettings job_;
  ml::OwnRecords rows_;
};

TEST_F(SharedClassifierTest, IsThatOfOneMachine) {
  const auto expected = PredictedBy(1);
  EXPECT_EQ(expected.classes.size(), 9U);
  EXPECT_EQ(PredictedBy(3).classes, expected.classes);
  job_.threshold = 0.3;  // another class of some rows: not in the model's own schema, which ranks are told
  SetThreshold(schema_, *job_.threshold, "predict.threshold");
  const auto others = PredictedBy(1);
  EXPECT_NE(others.classes, expected.classes);
  EXPECT_EQ(PredictedBy(3).classes, others.classes);
}

// Its ranks have to read a model as rank 0 does: by what its own type says of its logits.
TEST_F(SharedClassifierTest, ServesAModelOfATypeOfItsOwnProgram) {
  constexpr JobType kOwn[] = {
      {.name = "of-this-program", .read = nullptr, .schema = nullptr, .logits = LogitMeaning::kShare}};
  RecordSchema records = schema_.records;
  records.type = kOwn->name;
  job_.threshold = 0.7;
  schema_ = LinearModelSchema(records, LogitMeaning::kLogOdds);
  SetThreshold(schema_, 0.7, "predict.threshold");
  const auto of_log_odds = PredictedBy(1);
  schema_ = LinearModelSchema(records, LogitMeaning::kShare);
  SetThreshold(schema_, 0.7, "predict.threshold");
  const auto expected = PredictedBy(1);
  EXPECT_NE(expected.classes, of_log_odds.classes);
  const auto found = PredictedBy(3, [&](mpc::Context& party, mpc::Ranks& ranks) {
    const auto job = JobOfRank(ranks);
    job->ServeInputs({}, "party.toml", {.threads = 1, .types = kOwn});
    job->Serve(party);
  });
  EXPECT_EQ(found.classes, expected.classes);
}

TEST_F(SharedClassifierTest, ServesAModelOfAShippedTypeWhereNoOtherIsTold) {
  job_.threshold = 0.7;
  SetThreshold(schema_, 0.7, "predict.threshold");
  const auto found =
      PredictedBy(2, [this](mpc::Context& party, mpc::Ranks& ranks) { JobOfRank(ranks)->Serve(party); });
  EXPECT_EQ(found.classes, PredictedBy(1).classes);
}

TEST_F(SharedClassifierTest, CostsTheRowsOfALane) {
  const auto one = ClassifyBySharesCost(job_, schema_, protocols::Form::kBulk).session.total();
  const auto two = ClassifyBySharesCost(job_, schema_, protocols::Form::kBulk, 2).session.total();
  job_.rows = 5;
  const auto half = ClassifyBySharesCost(job_, schema_, protocols::Form::kBulk).session.total();
  EXPECT_EQ(two.bytes_sent, half.bytes_sent);
  EXPECT_LT(two.bytes_sent[1], one.bytes_sent[1]);
}

// Whose first machine holds all rows, and what it hands out of them at once.
TEST_F(SharedClassifierTest, CountsWhatTheClientHandsOut) {
  job_.rows = 1'000'000;
  const auto one = ClassifyBySharesCost(job_, schema_, protocols::Form::kBulk).memory;
  const auto four = ClassifyBySharesCost(job_, schema_, protocols::Form::kBulk, 4).memory;
  const double weights = (4 + 1) * 16;
  EXPECT_EQ(four[0] - one[0], weights);
  EXPECT_EQ(four[1] - one[1], weights + (4 + 1) * (1024 / 4) * 4 * sizeof(float));
}

TEST(PredictJob, RefusesRanksForDeposits) {
  const TemporaryFolder folder;
  const std::string text =
      "version = 1\ntype = \"predict\"\nname = \"p\"\n[predict]\nrun = \"" + std::string(32, 'c') + "\"\n";
  const auto own = ReadJob(folder.Write("own.toml", text + "client = 1\nrows = 20\n"));
  EXPECT_NO_THROW(own->UseRanks(4));
  const auto store = ReadJob(folder.Write("store.toml", text + "source = \"store\"\ncapacity = 20\n"));
  try {
    store->UseRanks(4);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "predict.source: found \"store\", expected \"files\", with [party] ranks above 1");
  }
}

}  // namespace
}  // namespace trefoil::jobs
