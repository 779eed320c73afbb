#include "ml/ranks/rank_rows.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "ml/dpsgd/dp_sgd.h"
#include "tests/support/ml_test.h"
#include "tests/support/packed.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// Record k of a party has the first feature (k + 1)/8, and a class and a weight of its own.
OwnRecords NumberedRecords(const TrainingSettings& settings, int rows) {
  OwnRecords records;
  records.x.setZero(rows, settings.features);
  for (int k = 0; k < rows; ++k) {
    records.x(k, 0) = static_cast<float>(k + 1) / 8;
    records.y.push_back(k % settings.classes);
    if (settings.max_record_weight) records.weights.push_back((k + 1) / 8.0);
  }
  return records;
}

/// The batches that parties of so many machines input: [batch][owner][slot], slots in the order of ranks; of
/// each slot its numbers as they are encoded. Party 0's records are `rows`, the others have none.
using Slots = std::vector<std::array<std::vector<std::vector<mpc::Word>>, net::kParties>>;

Slots DrawSlots(const TrainingSettings& settings, const OwnRecords& rows, int ranks, std::size_t batches) {
  const StepPlan plan = MakeStepPlan(settings);
  const auto limits = RankLimits(settings, ranks);
  const OwnRecords none;
  const mpc::Word of_rows = ~mpc::Word{0} >> (64 - plan.row_bits);
  Slots slots(batches);
  for (auto& batch : slots) {
    for (std::size_t owner = 0; owner < limits.size(); ++owner)
      batch.at(owner).assign(static_cast<std::size_t>(ranks * limits.at(owner)), {});
  }
  std::mutex mutex;
  RunRanks(ranks, Seed{1}, [&](mpc::Context& party, mpc::Ranks& own_ranks) {
    const auto source = MakeRankSource(party.self(), plan, party.self() == 0 ? rows : none, own_ranks,
                                       RandomStream(FixedKey(static_cast<std::uint8_t>(7 + party.self()))));
    source->Share(party);
    for (auto& drawn : slots) {
      const auto drawn_batch = source->Next(party, 0, 0);
      const Batch& batch = *drawn_batch;
      // Each party's own components add up to the rows.
      const std::lock_guard lock(mutex);
      Index row = 0;
      for (std::size_t owner = 0; owner < limits.size(); ++owner) {
        for (std::int64_t k = 0; k < limits.at(owner); ++k, ++row) {
          auto& slot = drawn.at(owner).at(static_cast<std::size_t>(own_ranks.rank() * limits.at(owner) + k));
          std::vector<mpc::Word> words;
          const auto take = [&](const mpc::ArithShare& part) {
            for (Index col = 0; col < part.cols(); ++col) words.push_back(part.own()(row, col));
          };
          take(batch.narrow_x ? Widened(*batch.narrow_x) : batch.x.ring());
          take(batch.y.ring());
          take(batch.squared_norms);
          if (batch.weights.size() > 0) take(batch.weights);
          if (batch.mask_bits.size() > 0) take(batch.mask_bits);
          slot.resize(words.size());
          for (std::size_t word = 0; word < words.size(); ++word) {
            slot[word] += words[word];
            if (word <= static_cast<std::size_t>(settings.features)) slot[word] &= of_rows;
          }
        }
      }
    }
  });
  return slots;
}

/// As EncodeRecords has them.
std::vector<mpc::Word> WordsOfRecord(const TrainingSettings& settings, const OwnRecords& records,
                                     std::int64_t row) {
  const mpc::RingMatrix words = EncodeRecords(MakeStepPlan(settings), records, {row}, 1);
  return {words.data(), words.data() + words.size()};
}

TEST(RankLimits, AreRoundedUp) {
  TrainingSettings settings = SmallSettings();
  settings.rows = {40, 9, 8};
  settings.max_batch_per_owner = 20;
  EXPECT_THAT(RankLimits(settings, 4), testing::ElementsAre(5, 3, 2));
  EXPECT_THAT(RankLimits(settings, 1), testing::ElementsAre(20, 9, 8));
}

class RankSourceTest : public testing::TestWithParam<Sampling> {};

// With rate 1 each record is in one slot, as one machine encodes it; all others are padding.
TEST_P(RankSourceTest, HandsEachRecordToOneSlot) {
  TrainingSettings settings = SmallSettings();
  settings.rows = {6, 6, 1};
  settings.expected_batch = 13;
  settings.sampling = GetParam();
  settings.max_record_weight = 2;
  settings.row_norm = 4;
  OwnRecords records = NumberedRecords(settings, 5);
  TrainingSettings network = settings;  // whose mask bits may be a column of their own
  network.classes = 2;
  network.hidden = {4};
  EXPECT_TRUE(MaskBitsBeside(MakeStepPlan(network)));
  for (const TrainingSettings& of : {settings, network}) {
    for (int& label : records.y) label %= of.classes;
    for (const auto& batch : DrawSlots(of, records, 4, 3)) {
      std::vector<std::vector<mpc::Word>> expected(8, WordsOfRecord(of, records, kPadding));
      for (std::size_t k = 0; k < 5; ++k)
        expected[k] = WordsOfRecord(of, records, static_cast<std::int64_t>(k));
      EXPECT_THAT(batch[0], testing::UnorderedElementsAreArray(expected));
      EXPECT_THAT(batch[1], testing::Each(testing::Each(0U)));
      EXPECT_EQ(batch[2].size(), 4U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SamplingModes, RankSourceTest,
                         testing::Values(Sampling::kOwnerPoisson, Sampling::kFull));

TEST(RankSource, ReadsRecordsThatAreNotInMemory) {
  TrainingSettings settings = SmallSettings();
  settings.rows = {4, 1, 1};
  settings.expected_batch = 6;
  const OwnRecords records = NumberedRecords(settings, 4);
  OwnRecords stored{.x = {}, .y = records.y};
  stored.stored = StoredFeatures{.rows = 4, .features = settings.features, .read = [&](auto row, auto out) {
                                   std::copy_n(records.x.row(row).data(), out.size(), out.begin());
                                 }};
  std::vector<std::vector<mpc::Word>> expected;
  for (int k = 0; k < 4; ++k) expected.push_back(WordsOfRecord(settings, records, k));
  EXPECT_THAT(DrawSlots(settings, stored, 2, 1)[0][0], testing::UnorderedElementsAreArray(expected));
}

double Choose(int all, int some) { return some == 0 ? 1 : Choose(all, some - 1) * (all - some + 1) / some; }

/// Records at rate 1/2, cut at `most`, which is what a batch has room for, in the slots of two machines.
struct Law {
  int records = 0;
  int most = 0;
  std::size_t draws = 0;
  double bound = 0;  ///< of a chi-square statistic of as many cells: beyond it once in a million runs

  [[nodiscard]] int slots() const { return (most + 1) / 2 * 2; }
  /// Of one batch of so many records, each in its slot, as DrawRows and PlaceRows give it on one machine: of
  /// equally many records all batches are equally likely.
  [[nodiscard]] double Probability(int drawn) const {
    double of_any = 0;
    for (int k = drawn; k <= (drawn == most ? records : drawn); ++k)
      of_any += std::ldexp(Choose(records, k), -records);
    double orders = 1;
    for (int k = 0; k < drawn; ++k) orders *= slots() - k;
    return of_any / Choose(records, drawn) / orders;
  }
};

class RankSourceLaw : public testing::TestWithParam<Law> {};

// Coins are fixed; were they not, the statistic would be beyond its bound once in a million runs.
TEST_P(RankSourceLaw, IsThatOfOneMachine) {
  const Law& law = GetParam();
  TrainingSettings settings = SmallSettings();
  settings.rows.fill(law.records);
  settings.expected_batch = 1.5 * law.records;
  settings.max_batch_per_owner = law.most;
  const OwnRecords records = NumberedRecords(settings, law.records);
  std::map<std::vector<mpc::Word>, int> numbers{{WordsOfRecord(settings, records, kPadding), 0}};
  for (int k = 0; k < law.records; ++k) numbers[WordsOfRecord(settings, records, k)] = k + 1;
  std::map<std::vector<int>, double> counts;
  for (const auto& batch : DrawSlots(settings, records, 2, law.draws)) {
    std::vector<int> found;
    for (const auto& slot : batch[0]) found.push_back(numbers.at(slot));
    ASSERT_EQ(static_cast<int>(found.size()), law.slots());
    counts[found] += 1;
  }
  double statistic = -static_cast<double>(law.draws);  // sum of (count - expected)^2/expected
  for (const auto& [found, count] : counts) {
    const auto drawn =
        static_cast<int>(found.size()) - static_cast<int>(std::count(found.begin(), found.end(), 0));
    ASSERT_LE(drawn, law.most) << "more than the batch has room for";
    for (int k = 1; k <= law.records; ++k) EXPECT_LE(std::count(found.begin(), found.end(), k), 1) << k;
    statistic += count * count / (law.Probability(drawn) * static_cast<double>(law.draws));
  }
  EXPECT_LT(statistic, law.bound);
}

// Of 13 batches, as many slots as a batch has room for; and of 185, with a slot more than that, which holds
// no record more: a cut at the slots would be another law.
INSTANTIATE_TEST_SUITE_P(Slots, RankSourceLaw,
                         testing::Values(Law{.records = 3, .most = 2, .draws = 4000, .bound = 51.0},
                                         Law{.records = 4, .most = 3, .draws = 8000, .bound = 290.2}));

TEST(RankSource, NamesARecordThatIsNoNumber) {
  TrainingSettings settings = SmallSettings();
  settings.rows = {6, 6, 6};
  settings.expected_batch = 18;
  OwnRecords records = NumberedRecords(settings, 5);
  records.x(3, 1) = std::numeric_limits<float>::infinity();
  try {
    (void)DrawSlots(settings, records, 2, 1);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "record 4: a feature is not a finite number");
  } catch (const NetworkError&) {
    FAIL() << "the first end is the one of rank 0 of party 0";
  }
}

}  // namespace
}  // namespace trefoil::ml
