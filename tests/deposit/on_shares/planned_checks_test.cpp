#include "deposit/on_shares/planned_checks.h"

#include <algorithm>

#include "protocols/measure.h"
#include "tests/deposit/on_shares/store_records_fixture.h"

namespace trefoil::deposit {
namespace {

using testing::HasSubstr;
using testing_support::ErrorText;

class PlannedChecksTest : public StoreRecordsTest {
 protected:
  /// So many deposits of so many rows, as the job has room for.
  void AcceptAll(int deposits, std::uint64_t rows) {
    for (; accepted_ < deposits; ++accepted_) Accept(Made(static_cast<std::uint8_t>(accepted_ + 5), rows));
    if (!records_.store.batches) records_.data.rows[0] = deposits * static_cast<std::int64_t>(rows);
  }

  /// What a run's Share() costs each party.
  [[nodiscard]] std::array<protocols::Measured, 3> Measured() const {
    return testing_support::RunParties(testing_support::Seed{1}, [&](mpc::Context& party) {
      const auto records = Opened(party.self());
      (void)records->Load(records_);
      return protocols::Measure(party, [&] {
        const auto checked = records->Share(
            party, [](const jobs::Population& /*one*/) { return std::string(); }, run_);
        EXPECT_TRUE(checked.summary.at("left_out").empty());
      });
    });
  }

  void ExpectAsPlanned(std::int64_t deposits, std::int64_t rows) const {
    const auto planned = PlannedChecks(records_, deposits);
    EXPECT_EQ(planned.deposits, deposits);
    EXPECT_EQ(planned.rows, rows);
    const auto& cost = planned.part.messages;
    const auto measured = Measured();
    int rounds = 0;
    for (std::size_t party = 0; party < measured.size(); ++party) {
      EXPECT_EQ(measured.at(party).bytes_sent, cost.bytes_sent().at(party)) << party;
      EXPECT_EQ(measured.at(party).bytes_offline, cost.bytes_offline().at(party)) << party;
      rounds = std::max(rounds, measured.at(party).rounds);
    }
    EXPECT_EQ(rounds, cost.rounds());
  }

 private:
  int accepted_ = 0;
};

TEST_F(PlannedChecksTest, AreWhatTheChecksOfAsManyDepositsSend) {
  AcceptAll(1, 70);
  ExpectAsPlanned(1, 70);
  AcceptAll(4, 70);
  ExpectAsPlanned(4, 70);
}

TEST_F(PlannedChecksTest, AreOfSmallerBlocksWhereMemoryIsSet) {
  records_.store.memory = 1;
  AcceptAll(2, 600);  // 256 rows of 8 numbers at a time
  ExpectAsPlanned(2, 600);
  records_.store.memory.reset();
  ExpectAsPlanned(2, 600);
}

TEST_F(PlannedChecksTest, AreOfDepositsThatARunOpensWhereMemoryIsSet) {
  records_.store.memory = 1;
  const auto most = static_cast<std::int64_t>(MostRowsOpened(records_));
  records_.data.rows = {3 * most + 2, 0, 0};
  EXPECT_EQ(PlannedChecks(records_, std::nullopt).deposits, 3);
  records_.data.rows = {3 * most + 3, 0, 0};
  const auto by_default = PlannedChecks(records_, std::nullopt);
  EXPECT_EQ(by_default.deposits, 4);
  EXPECT_EQ(by_default.rows, (3 * most + 3) / 4);
  EXPECT_EQ(PlannedChecks(records_, 5).deposits, 5);
  EXPECT_EQ(PlannedChecks(records_, 3).rows, most) << "they may leave some of the capacity free";
  AcceptAll(1, static_cast<std::uint64_t>(most));
  ExpectAsPlanned(1, most);  // which a run opens indeed
  records_.store.memory.reset();
  records_.data.rows = {1'000'000, 0, 0};
  EXPECT_EQ(PlannedChecks(records_, std::nullopt).deposits, 3);
}

TEST_F(PlannedChecksTest, OfBatchesAreOfThoseOfAllSteps) {
  study_ = SampleStudyOfBatches(folder_);
  records_ = SampleRecordsOfBatches(folder_);
  records_.store.on = true;
  records_.store.study = ToHex(IdOf(study_));
  AcceptAll(2, kSampleSteps * kSampleBatch);
  ExpectAsPlanned(2, kSampleSteps * kSampleBatch);
  EXPECT_EQ(PlannedChecks(records_, std::nullopt).deposits, 2);
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)PlannedChecks(records_, 3); }),
              HasSubstr("--deposits: found 3, expected 1 to 2, as the job has room for"));
}

TEST_F(PlannedChecksTest, AreOfEqualPartsOfTheCapacity) {
  records_.data.rows = {100, 0, 0};
  const auto by_default = PlannedChecks(records_, std::nullopt);
  EXPECT_EQ(by_default.deposits, 3);
  EXPECT_EQ(by_default.rows, 33);  // of 34 each they would be more than the job takes
  EXPECT_EQ(PlannedChecks(records_, 100).rows, 1);
  for (const std::int64_t deposits : {0, 101})
    EXPECT_THAT(ErrorText<ConfigError>([&] { (void)PlannedChecks(records_, deposits); }),
                HasSubstr("expected 1 to 100, as the job has rows"));
  // Each row's comparisons take their time, those that fill a word of 64 rows included.
  EXPECT_DOUBLE_EQ(PlannedChecks(records_, 50).part.work.comparison_seconds,
                   25 * PlannedChecks(records_, 2).part.work.comparison_seconds);
  records_.data.rows = {2, 0, 0};
  EXPECT_EQ(PlannedChecks(records_, std::nullopt).deposits, 2);
}

}  // namespace
}  // namespace trefoil::deposit
