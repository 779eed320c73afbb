#include "ml/records.h"
#include "protocols/arithmetic/agreement.h"
#include "tests/deposit/on_shares/store_records_fixture.h"

namespace trefoil::deposit {
namespace {

using mpc::Index;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::ErrorText;
using testing_support::RunParties;
using testing_support::Seed;

/// The same of batches, of which the job takes two deposits.
class BatchRecordsTest : public StoreRecordsTest {
 protected:
  BatchRecordsTest() {
    study_ = SampleStudyOfBatches(folder_);
    records_ = SampleRecordsOfBatches(folder_);
    records_.store.on = true;
    records_.store.study = ToHex(IdOf(study_));
  }

  [[nodiscard]] MadeDeposit Batches(std::uint8_t coins) const {
    return Made(coins, kSampleSteps * kSampleBatch);
  }

  /// Which record is where in each batch of Batches(coins), or padding.
  [[nodiscard]] static std::vector<std::int64_t> SlotsOf(std::uint8_t coins) {
    RandomStream stream(testing_support::FixedKey(coins));
    for (int word = 0; word < 4; ++word) (void)stream.NextWord();  // the nonce
    std::vector<std::int64_t> all;
    for (int step = 0; step < kSampleSteps; ++step) {
      const auto slots =
          ml::PlaceRows(stream, ml::DrawRows(stream, 3, kSampleRate, kSampleBatch), kSampleBatch);
      all.insert(all.end(), slots.begin(), slots.end());
    }
    return all;
  }

  [[nodiscard]] std::string SpentBy(int party, const Hash& id) const {
    for (const auto& one : OpenStore(PartyOf(party)).List())
      if (one.id == id) return one.spent_by;
    return "no deposit";
  }
};

TEST_F(BatchRecordsTest, AreTheBatchesOfEachStepOneBelowTheOther) {
  const auto first = Accept(Batches(5));
  const auto second = Accept(Batches(6));
  const std::array below{SlotsOf(first < second ? 5 : 6), SlotsOf(first < second ? 6 : 5)};
  for (const auto& seen : Shared()) {
    EXPECT_EQ(seen.error, "");
    EXPECT_THAT(seen.heights, IsEmpty());
    ASSERT_EQ(seen.batches.size(), static_cast<std::size_t>(kSampleSteps));
    for (std::int64_t step = 0; step < kSampleSteps; ++step) {
      const auto& rows = seen.batches.at(static_cast<std::size_t>(step));
      ASSERT_EQ(rows.rows(), 2 * kSampleBatch);
      for (Index row = 0; row < rows.rows(); ++row) {
        const auto record = below.at(static_cast<std::size_t>(row / kSampleBatch))
                                .at(static_cast<std::size_t>(step * kSampleBatch + row % kSampleBatch));
        EXPECT_EQ(rows(row, kMaskColumn), record == ml::kPadding ? 0U : 1U) << step << ' ' << row;
        if (record == ml::kPadding) continue;
        EXPECT_EQ(rows(row, kMaskColumn + 1 + SampleTable().y.at(static_cast<std::size_t>(record))), 1U);
      }
    }
  }
  for (int party = 0; party < 3; ++party) EXPECT_EQ(SpentBy(party, first), run_) << party;
}

TEST_F(BatchRecordsTest, AreOfOneRunAndSpentAtOnePartyIsSpent) {
  const auto first = Accept(Batches(5));
  const auto second = Accept(Batches(6));
  OpenStore(PartyOf(1)).Spend({first}, "another", 1);
  for (const auto& seen : Shared()) {
    EXPECT_EQ(seen.error, "");
    const auto summary = nlohmann::json::parse(seen.summary);
    EXPECT_EQ(summary.at("used").at(0).at("deposit"), ToHex(second));
    EXPECT_EQ(summary.at("left_out").at(0).at("deposit"), ToHex(first));
    EXPECT_EQ(summary.at("left_out").at(0).at("why"), "spent");
    for (const auto& rows : seen.batches)
      EXPECT_TRUE((rows.bottomRows(kSampleBatch) == 0).all()) << "padding";
  }
  EXPECT_EQ(SpentBy(0, first), "") << "no party notes what it does not use";
  // The same run takes them again, where one party alone had noted it, too; no other does.
  for (const auto& seen : Shared()) EXPECT_EQ(seen.batches.size(), static_cast<std::size_t>(kSampleSteps));
  run_ = "0ther";
  const auto all = RunParties(Seed{1}, [&](mpc::Context& party) {
    const auto records = Opened(party.self());
    (void)records->Load(records_);
    return ErrorText<DataError>([&] {
      (void)records->Share(
          party, [](const jobs::Population&) { return std::string(); }, run_);
    });
  });
  for (const auto& error : all)
    EXPECT_THAT(error, HasSubstr("that can be used, expected one at least: 2 are"));
}

TEST_F(BatchRecordsTest, AreThoseThatARunBeganWith) {
  const auto first = Accept(Batches(5));
  for (const auto& seen : Shared()) EXPECT_EQ(seen.error, "");
  const auto late = Accept(Batches(6));
  for (const auto& seen : Shared()) {
    const auto summary = nlohmann::json::parse(seen.summary);
    EXPECT_EQ(summary.at("used").at(0).at("deposit"), ToHex(first));
    EXPECT_EQ(summary.at("left_out").at(0).at("deposit"), ToHex(late));
    EXPECT_EQ(summary.at("left_out").at(0).at("why"), "late");
  }
  EXPECT_EQ(SpentBy(2, late), "");
  run_ = "0ther";
  for (const auto& seen : Shared())
    EXPECT_EQ(nlohmann::json::parse(seen.summary).at("used").at(0).at("deposit"), ToHex(late));
}

// Their owner draws anew from records of which the run has released something.
TEST_F(BatchRecordsTest, AreLateAlsoWhereAllThatTheRunBeganWithWereWithdrawn) {
  const auto first = Accept(Batches(5));
  for (const auto& seen : Shared()) EXPECT_EQ(seen.error, "");
  Withdraw(first);
  const auto late = Accept(Batches(6));
  EXPECT_THAT(ErrorText<DataError>([&] { (void)Shared(); }),
              HasSubstr("expected one at least: 1 are left out"));
  for (const int party : {0, 1, 2}) EXPECT_EQ(SpentBy(party, late), "");
}

TEST_F(BatchRecordsTest, AreNotedAtAllThreeBeforeAnythingOfThemIsSent) {
  const auto id = Accept(Batches(5));
  // Another run takes them at party 1 between the parties' agreement and their notes.
  cap_ = [&](int party, const jobs::Population&) {
    if (party == 1) OpenStore(PartyOf(1)).Spend({id}, "another", 1);
    return std::string();
  };
  std::array<std::uint64_t, 3> sent{};
  EXPECT_ANY_THROW((void)RunParties(Seed{1}, [&](mpc::Context& party) {
    const auto records = Opened(party.self());
    (void)records->Load(records_);
    const auto cap = [&](const jobs::Population& one) { return cap_(party.self(), one); };
    try {
      return records->Share(party, cap, run_).summary.dump();
    } catch (...) {
      sent.at(static_cast<std::size_t>(party.self())) = party.transport().counters().bytes_sent;
      throw;
    }
  }));
  // Agreements alone: a check of the smallest batch sends more than a thousand bytes from each party.
  for (const auto bytes : sent) EXPECT_LT(bytes, 1000U);
}

TEST_F(BatchRecordsTest, AreRefusedAtAllThreeWhereTheyAreTooMany) {
  for (const int coins : {5, 6, 7}) Accept(Batches(static_cast<std::uint8_t>(coins)));
  for (const auto& seen : Shared())
    EXPECT_EQ(
        seen.error,
        "batches.deposits: found 2, expected at least 3, the deposits of batches that the job is about");
}

TEST_F(BatchRecordsTest, AreOfTheJobThatTheStudyNames) {
  Accept(Batches(5));
  EXPECT_EQ(WhyNot(), "");
  records_.store.batches->job = std::string(64, 'b');
  EXPECT_THAT(WhyNot(), HasSubstr("the job's records are not the study's: batches.job: found"));
  records_.store.batches->job = std::string(64, 'a');
  records_.store.batches->run = "summer";
  EXPECT_THAT(WhyNot(), HasSubstr("batches.run: found \"summer\", expected \"spring\""));
  records_.store.batches.reset();
  EXPECT_THAT(WhyNot(), HasSubstr("batches.job: found nothing"));
}

}  // namespace
}  // namespace trefoil::deposit
