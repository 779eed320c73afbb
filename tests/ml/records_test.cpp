#include "ml/records.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(EncodeRecords, KeepsTheLatticeNormWithinTheBoundAndRoundsTheSquareUp) {
  for (const int f : {8, 16, 24}) {
    TrainingSettings settings = SmallSettings();
    settings.fraction_bits = f;
    const StepPlan plan = MakeStepPlan(settings);
    const OwnRecords records = MakeRecords(settings, 1, 40);
    const RingMatrix encoded = EncodeRecords(plan, records, AllRows(records), 40);
    for (Index row = 0; row < 40; ++row) {
      unsigned __int128 squared = 0;
      for (Index col = 0; col < settings.features; ++col) {
        const auto value = static_cast<__int128>(mpc::Signed(encoded(row, col)));
        squared += static_cast<unsigned __int128>(value * value);
      }
      ASSERT_LE(squared, static_cast<unsigned __int128>(1) << (2 * f));
      ASSERT_EQ(encoded(row, settings.features), Word{1} << f);
      const auto with_bias = squared + (static_cast<unsigned __int128>(1) << (2 * f));
      const auto norm = static_cast<unsigned __int128>(encoded(row, encoded.cols() - 1))
                        << (2 * f - plan.row_norm_bits);
      ASSERT_GE(norm, with_bias);
      ASSERT_LT(norm - with_bias, static_cast<unsigned __int128>(1) << (2 * f - plan.row_norm_bits));
    }
  }
}

TEST(LargestNorm, IsTheRootRoundedUp) {
  EXPECT_EQ(LargestNorm(0), 0U);
  EXPECT_EQ(LargestNorm(std::uint64_t{1} << 62), std::uint64_t{1} << 31);
  for (const std::uint64_t norm : {1ULL, 2ULL, 3ULL, 94906267ULL, (1ULL << 31) - 1}) {
    EXPECT_EQ(LargestNorm(norm * norm), norm);
    EXPECT_EQ(LargestNorm(norm * norm + 1), norm + 1);
    EXPECT_EQ(LargestNorm(norm * norm - 1), norm == 1 ? 0 : norm) << norm;
  }
  EXPECT_EQ(LargestNorm(LargestSquaredNorm(1.0, 20)), std::uint64_t{1} << 20);
}

TEST(EncodeRecords, PadsWithZeroRowsAndMarksTheClass) {
  const StepPlan plan = MakeStepPlan(SmallSettings());
  const OwnRecords records = MakeRecords(plan.settings, 2, 5);
  const RingMatrix encoded = EncodeRecords(plan, records, {3, 1}, 4);
  EXPECT_TRUE((encoded.bottomRows(2) == 0).all());
  for (int column = 0; column < 3; ++column) {
    EXPECT_EQ(encoded(0, 7 + column), records.y[3] == column ? Word{1} << 16 : 0U);
  }
}

/// Behind narrow rows of a network of one column, in words: at f bits, whatever rows have.
TEST(EncodeRecords, PutsMaskBitsLastWhereANetworkPassesThemUp) {
  TrainingSettings settings = SmallSettings();
  settings.classes = 2;
  settings.hidden = {4};
  settings.row_fraction_bits = 9;
  for (const bool weights : {false, true}) {
    if (weights) settings.max_record_weight = 1.5;
    const StepPlan plan = MakeStepPlan(settings);
    ASSERT_TRUE(MaskBitsBeside(plan));
    const OwnRecords records = MakeRecords(settings, 2, 5);
    const RingMatrix encoded = EncodeRecords(plan, records, {3, kPadding, 1}, 4);
    const RingMatrix whole = EncodeRecords(WithWholeRows(plan), records, {3, kPadding, 1}, 4);
    ASSERT_EQ(encoded.cols(), EncodedColumns(plan));
    ASSERT_EQ(encoded.cols(), whole.cols() + 1);
    for (Index row = 0; row < 4; ++row) {
      const bool padding = row == 1 || row == 3;
      EXPECT_EQ(encoded(row, encoded.cols() - 1), padding ? 0U : Word{1} << 16) << row;
      EXPECT_EQ(encoded(row, settings.features), padding ? 0U : Word{1} << 9) << row;
    }
    EXPECT_TRUE((encoded.rightCols(1) == whole.col(settings.features)).all());
    EXPECT_EQ(BatchWidths(plan), (std::vector<Index>(weights ? std::vector<Index>{7, 1, 1, 1, 1}
                                                             : std::vector<Index>{7, 1, 1, 1})));
  }
}

TEST(EncodeRecords, PutsRowsAloneOnALatticeOfTheirOwn) {
  TrainingSettings settings = SmallSettings();
  settings.row_fraction_bits = 8;
  const StepPlan plan = MakeStepPlan(settings);
  const OwnRecords records = MakeRecords(settings, 2, 10);
  const RingMatrix encoded = EncodeRecords(plan, records, AllRows(records), 10);
  const Eigen::MatrixXd rows = ScaledRows(settings, records);
  for (Index row = 0; row < 10; ++row) {
    std::uint64_t squared = std::uint64_t{1} << 16;
    for (Index k = 0; k < settings.features; ++k) {
      const auto word = mpc::Signed(encoded(row, k));
      squared += static_cast<std::uint64_t>(word * word);
      EXPECT_NEAR(static_cast<double>(word), 256 * rows(row, k), 1 + 1e-6);
      EXPECT_LE(std::abs(static_cast<double>(word)), 256 * std::abs(rows(row, k)) + 1e-6) << "towards zero";
    }
    EXPECT_EQ(encoded(row, settings.features), 256U) << "the mask bit";
    EXPECT_EQ(encoded(row, settings.features + 1 + records.y[static_cast<std::size_t>(row)]), 65536U);
    EXPECT_EQ(encoded(row, settings.features + 1 + plan.columns), squared) << "16 bits, none of them rounded";
  }
  settings.row_fraction_bits.reset();
  EXPECT_TRUE((EncodeRecords(WithWholeRows(plan), records, AllRows(records), 10) ==
               EncodeRecords(MakeStepPlan(settings), records, AllRows(records), 10))
                  .all())
      << "what is evaluated is not rounded";
  EXPECT_TRUE(
      (EncodeRows(plan, records, 0, 10, 10) == EncodeRows(MakeStepPlan(settings), records, 0, 10, 10)).all());
}

TEST(EncodeRecords, RoundsTargetsToTheLatticeFrom0To1) {
  TrainingSettings settings = SmallSettings();
  settings.classes = 2;
  settings.targets = true;
  settings.loss = Loss::kSquared;
  for (const int f : {8, 16, 24}) {
    settings.fraction_bits = f;
    const StepPlan plan = MakeStepPlan(settings);
    OwnRecords records = MakeRecords(settings, 2, 5);
    constexpr int kOne = 1 << kTargetBits;
    records.y = {0, kOne, kOne / 2, kOne - 1, 12'345'678};
    const RingMatrix encoded = EncodeRecords(plan, records, AllRows(records), 5);
    for (Index row = 0; row < 5; ++row) {
      const double target = std::ldexp(records.y[static_cast<std::size_t>(row)], -kTargetBits);
      ASSERT_LE(encoded(row, 7), Word{1} << f);
      EXPECT_LE(std::abs(mpc::Decode(encoded(row, 7), f) - target), std::ldexp(0.5, -f));
    }
    for (const int outside : {-1, kOne + 1}) {
      records.y[3] = outside;
      EXPECT_THROW((void)EncodeRecords(plan, records, AllRows(records), 5), DataError);
    }
  }
  settings.loss = Loss::kOneVsRest;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  settings.loss = Loss::kSquared;
  settings.release_to = {};
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
}

/// Records that count how often one of them is read.
OwnRecords Counted(const OwnRecords& held, std::int64_t& reads) {
  OwnRecords read{.x = {}, .y = held.y};
  read.stored = StoredFeatures{.rows = held.rows(),
                               .features = held.features(),
                               .read = [&held, &reads](std::int64_t row, std::span<float> out) {
                                 ++reads;
                                 std::copy_n(held.x.row(row).begin(), out.size(), out.begin());
                               }};
  return read;
}

// From none drawn to all: each slot reads and encodes one record, and the shared row of padding stays zero.
TEST(EncodeRecords, EncodesAsManyRecordsHoweverManyAreDrawn) {
  constexpr std::int64_t kHeight = 30;
  const StepPlan plan = MakeStepPlan(SmallSettings());
  const OwnRecords held = MakeRecords(plan.settings, 6, 25);
  std::int64_t reads = 0;
  const OwnRecords own = Counted(held, reads);
  auto coins = RandomStream(FixedKey(8));
  for (const std::int64_t drawn : {0, 1, 12, 25}) {
    std::vector<std::int64_t> rows = AllRows(held);
    rows.resize(static_cast<std::size_t>(drawn));
    const auto placed = PlaceRows(coins, rows, kHeight);
    for (const auto& slots : {placed, rows}) {
      reads = 0;
      const RingMatrix encoded = EncodeRecords(plan, own, slots, kHeight);
      EXPECT_EQ(reads, kHeight) << drawn;
      for (Index k = 0; k < kHeight; ++k) {
        const bool padding =
            k >= static_cast<Index>(slots.size()) || slots[static_cast<std::size_t>(k)] == kPadding;
        EXPECT_EQ((encoded.row(k) == 0).all(), padding) << "slot " << k << " with " << drawn << " drawn";
      }
    }
    reads = 0;
    const RingMatrix features = EncodeRows(plan, own, 0, drawn, kHeight);
    EXPECT_EQ(reads, kHeight) << drawn;
    EXPECT_TRUE((features.bottomRows(kHeight - drawn) == 0).all());
    EXPECT_FALSE((features.topRows(drawn).col(plan.settings.features) == 0).any());
  }
  reads = 0;
  EXPECT_TRUE((EncodeRecords(plan, OwnRecords(), {}, 4) == 0).all());  // of an owner without records
}

TEST(EncodeRecords, ReadsOtherRecordsForPaddingInEachBatch) {
  constexpr std::int64_t kHeight = 40;
  const StepPlan plan = MakeStepPlan(SmallSettings());
  const OwnRecords held = MakeRecords(plan.settings, 6, 1000);
  std::set<std::int64_t> seen;
  OwnRecords own{.x = {}, .y = held.y};
  own.stored = StoredFeatures{
      .rows = held.rows(), .features = held.features(), .read = [&](std::int64_t row, std::span<float> out) {
        seen.insert(row);
        std::copy_n(held.x.row(row).begin(), out.size(), out.begin());
      }};
  for (std::int64_t first = 0; first < 10; ++first) (void)EncodeRecords(plan, own, {first}, kHeight);
  EXPECT_GT(seen.size(), 250U);  // of 1,000, in 390 reads for padding that fall anywhere: 323 on average
}

TEST(EncodeRecords, RefusesWhatIsNotFiniteAndClassesOutOfRange) {
  const StepPlan plan = MakeStepPlan(SmallSettings());
  OwnRecords records = MakeRecords(plan.settings, 3, 3);
  records.x(1, 2) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW((void)EncodeRecords(plan, records, {0, 1, 2}, 3), DataError);
  records.x(1, 2) = std::numeric_limits<float>::infinity();
  EXPECT_THROW((void)EncodeRecords(plan, records, {0, 1, 2}, 3), DataError);
  records.x(1, 2) = 0;
  records.y[2] = 3;
  EXPECT_THROW((void)EncodeRecords(plan, records, {0, 1, 2}, 3), DataError);
}

TEST(EncodeRecords, PutsOwnWeightsLastAndWithinTheLargest) {
  TrainingSettings settings = SmallSettings();
  settings.max_record_weight = 0.7;
  const StepPlan plan = MakeStepPlan(settings);
  OwnRecords records = MakeRecords(settings, 3, 4);
  records.weights = {0.7, 0, 0.25, std::nextafter(0.7, 0)};
  const RingMatrix encoded = EncodeRecords(plan, records, {0, kPadding, 1, 2, 3}, 6);
  ASSERT_EQ(encoded.cols(), EncodedColumns(plan));
  const Index last = encoded.cols() - 1;
  EXPECT_EQ(encoded(0, last), plan.record_weights.largest);
  EXPECT_EQ(encoded(1, last), 0U);
  EXPECT_EQ(encoded(2, last), 0U);
  EXPECT_EQ(encoded(3, last), Word{1} << (plan.record_weights.frac_bits - 2));
  EXPECT_EQ(encoded(4, last), plan.record_weights.largest);
  EXPECT_EQ(encoded(5, last), 0U);
  for (const double outside : {-0.001, 0.7001, std::numeric_limits<double>::quiet_NaN()}) {
    records.weights[2] = outside;
    EXPECT_THROW((void)EncodeRecords(plan, records, {2}, 1), DataError) << outside;
  }
  records.weights.clear();  // of records that nobody trains on
  EXPECT_EQ(EncodeRecords(plan, records, {0}, 1)(0, last), 0U);
}

TEST(EncodeRecords, TakesFeaturesThatAreReadAsThoseInMemory) {
  const StepPlan plan = MakeStepPlan(SmallSettings());
  const OwnRecords held = MakeRecords(plan.settings, 4, 6);
  OwnRecords read{.x = {}, .y = held.y};
  bool readable = true;
  read.stored = StoredFeatures{
      .rows = held.rows(), .features = held.features(), .read = [&](std::int64_t row, std::span<float> out) {
        if (!readable) throw DataError("a row cannot be read");
        std::copy_n(held.x.row(row).begin(), out.size(), out.begin());
      }};
  EXPECT_EQ(read.rows(), 6);
  EXPECT_EQ(read.features(), plan.settings.features);
  EXPECT_TRUE((EncodeRecords(plan, read, {3, 1, 0}, 4) == EncodeRecords(plan, held, {3, 1, 0}, 4)).all());
  readable = false;
  EXPECT_THROW((void)EncodeRecords(plan, read, {5}, 1), DataError);
}

TEST(EncodeBlock, EncodesAsManyRowsAsThereAreSlots) {
  TrainingSettings settings = SmallSettings();
  settings.sampling = Sampling::kPublic;
  settings.rows = {40, 0, 0};
  settings.vertical = VerticalSettings{.features = {1, 2, 3}, .label_party = 1};
  const StepPlan plan = MakeStepPlan(settings);
  const OwnRecords all = MakeRecords(settings, 4, 40);
  for (int owner = 0; owner < 3; ++owner) {
    const OwnRecords held{.x = all.x.leftCols(owner + 1), .y = all.y};
    std::int64_t reads = 0;
    const OwnRecords own = Counted(held, reads);
    const RingMatrix encoded = EncodeBlock(plan, owner, own, {3, kPadding, 1}, 9);
    EXPECT_EQ(reads, 9);
    EXPECT_TRUE((encoded.row(1) == 0).all());
    EXPECT_TRUE((encoded.bottomRows(6) == 0).all());
    EXPECT_FALSE((encoded.row(2) == 0).all());
  }
}

TEST(JoinBlocks, TakesTheWeightsOfTheLabelsHolder) {
  TrainingSettings settings = SmallSettings();
  settings.sampling = Sampling::kPublic;
  settings.rows = {40, 0, 0};
  settings.max_record_weight = 2;
  for (const int holder : {0, 1, 2}) {
    settings.vertical = VerticalSettings{.features = {1, 2, 3}, .label_party = holder};
    const StepPlan plan = MakeStepPlan(settings);
    const OwnRecords all = MakeRecords(settings, 4, 12);
    std::array<RingMatrix, 3> blocks;
    Index first = 0;
    for (int owner = 0; owner < 3; ++owner) {
      const OwnRecords own{.x = all.x.middleCols(first, owner + 1), .y = all.y, .weights = all.weights};
      blocks.at(static_cast<std::size_t>(owner)) = EncodeBlock(plan, owner, own, AllRows(own), 13);
      EXPECT_EQ(blocks.at(static_cast<std::size_t>(owner)).cols(), BlockColumns(plan, owner));
      first += owner + 1;
    }
    const auto joined = RunParties(Seed{1}, [&](mpc::Context& party) {
      std::array<mpc::ArithShare, 3> shares;
      for (std::size_t owner = 0; owner < 3; ++owner)
        shares.at(owner) = InsecureDeal(party, blocks.at(owner));
      return protocols::Reveal(party, JoinBlocks(plan, shares), protocols::ReleaseReason::kTest);
    })[0];
    ASSERT_EQ(joined.cols(), EncodedColumns(plan));
    const RingMatrix whole = EncodeRecords(plan, all, AllRows(all), 13);
    const Index labels = 1 + plan.columns;
    EXPECT_TRUE((joined.middleCols(6, labels) == whole.middleCols(6, labels)).all());
    EXPECT_TRUE((joined.rightCols(1) == whole.rightCols(1)).all());
    EXPECT_GT(joined.rightCols(1).maxCoeff(), 0U);
    EXPECT_GE(joined(0, 6 + labels), Word{1} << plan.row_norm_bits);  // the norms before them
  }
}

// Rows far beyond every bound, so that each block lies at its own: squares, rounded up one by one, must not
// add up to more than the range analysis counts.
TEST(EncodeBlock, KeepsTheSumOfSquaresWithinTheBound) {
  for (const int f : {8, 16, 20, 24}) {
    for (const double row_norm : {0.75, 1.0, 7.3}) {
      TrainingSettings settings = SmallSettings();
      settings.fraction_bits = f;
      settings.row_norm = row_norm;
      settings.sampling = Sampling::kPublic;
      settings.rows = {40, 0, 0};
      settings.vertical = VerticalSettings{.features = {1, 2, 3}, .label_party = 1};
      const StepPlan plan = MakeStepPlan(settings);
      OwnRecords all = MakeRecords(settings, 4, 40);
      all.x.topRows(20) *= 1000;
      std::array<RingMatrix, 3> blocks;
      Index first = 0;
      for (int owner = 0; owner < 3; ++owner) {
        OwnRecords own{.x = all.x.middleCols(first, owner + 1), .y = all.y};
        blocks.at(static_cast<std::size_t>(owner)) = EncodeBlock(plan, owner, own, AllRows(own), 41);
        first += owner + 1;
      }
      const auto joined = RunParties(Seed{1}, [&](mpc::Context& party) {
        std::array<mpc::ArithShare, 3> shares;
        for (std::size_t owner = 0; owner < 3; ++owner)
          shares.at(owner) = InsecureDeal(party, blocks.at(owner));
        return protocols::Reveal(party, JoinBlocks(plan, shares), protocols::ReleaseReason::kTest);
      })[0];
      ASSERT_EQ(joined.cols(), EncodedColumns(plan));
      EXPECT_TRUE((joined.bottomRows(1) == 0).all());
      const auto most = static_cast<Word>(std::ldexp(row_norm * row_norm + 1, plan.row_norm_bits));
      for (Index row = 0; row < 40; ++row) {
        unsigned __int128 squared = static_cast<unsigned __int128>(1) << (2 * f);
        for (Index col = 0; col < settings.features; ++col) {
          const auto value = static_cast<__int128>(mpc::Signed(joined(row, col)));
          squared += static_cast<unsigned __int128>(value * value);
        }
        const Word norm = joined(row, joined.cols() - 1);
        ASSERT_GE(static_cast<unsigned __int128>(norm) << (2 * f - plan.row_norm_bits), squared);
        ASSERT_LE(norm, most);
        if (row < 20) {
          ASSERT_GE(static_cast<double>(norm), 0.9 * static_cast<double>(most) - 4);
        }
        ASSERT_EQ(joined(row, 6), Word{1} << f);
        for (int label = 0; label < 3; ++label) {
          ASSERT_EQ(joined(row, 7 + label),
                    all.y[static_cast<std::size_t>(row)] == label ? Word{1} << f : Word{0});
        }
      }
    }
  }
}

TEST(DrawRows, TakesEachRowAtTheRateOnceAndNeverMoreThanTheLimit) {
  RandomStream coins(InsecureKey(Seed{1}, 0));
  double total = 0;
  for (int draw = 0; draw < 2000; ++draw) total += static_cast<double>(DrawRows(coins, 300, 0.1, 300).size());
  // Five standard deviations of a binomial of 600,000 coins: a right build fails for one key in 1.7 million.
  EXPECT_NEAR(total, 60000, 5 * std::sqrt(600000 * 0.1 * 0.9));
  for (int draw = 0; draw < 200; ++draw) {
    const auto rows = DrawRows(coins, 300, 0.5, 20);
    EXPECT_EQ(rows.size(), 20U);
    EXPECT_EQ(std::set<std::int64_t>(rows.begin(), rows.end()).size(), 20U);
  }
}

TEST(DrawGroups, TakesAllRowsOfAGroupOrNoneByACoinEach) {
  RandomStream coins(InsecureKey(Seed{5}, 0));
  const std::vector<std::int64_t> groups{0, 1, 0, 2, 2, 2, 3, 1, 4};
  constexpr std::size_t kGroups = 5;
  constexpr int kDraws = 40000;
  constexpr double kRate = 0.3;
  std::array<double, kGroups> taken{};
  std::array<std::array<double, kGroups>, kGroups> together{};
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto rows = DrawGroups(coins, groups, kRate, 9);
    ASSERT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    std::array<std::int64_t, kGroups> count{};
    for (const std::int64_t row : rows)
      ++count.at(static_cast<std::size_t>(groups.at(static_cast<std::size_t>(row))));
    for (std::size_t a = 0; a < kGroups; ++a) {
      ASSERT_TRUE(count.at(a) == 0 ||
                  count.at(a) == std::count(groups.begin(), groups.end(), static_cast<int>(a)));
      if (count.at(a) == 0) continue;
      ++taken.at(a);
      for (std::size_t b = 0; b < a; ++b) together.at(a).at(b) += count.at(b) > 0 ? 1 : 0;
    }
  }
  // Five standard deviations for each of five groups and ten pairs, which two coins take together with
  // probability 0.09: a right build fails for one key in 116,000.
  for (std::size_t a = 0; a < kGroups; ++a) {
    EXPECT_NEAR(taken.at(a), kDraws * kRate, 5 * std::sqrt(kDraws * kRate * (1 - kRate)));
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_NEAR(together.at(a).at(b), kDraws * 0.09, 5 * std::sqrt(kDraws * 0.09 * 0.91));
    }
  }
  EXPECT_EQ(DrawGroups(coins, groups, 1, 9).size(), 9U);
  EXPECT_EQ(DrawGroups(coins, groups, 1, 4).size(), 4U);
  EXPECT_TRUE(DrawGroups(coins, {}, 1, 4).empty());
  EXPECT_THROW((void)DrawGroups(coins, {0, 2}, 0.5, 4), ContractError);
}

TEST(PlaceRows, PutsEachRowIntoEverySlotEquallyOften) {
  RandomStream coins(InsecureKey(Seed{3}, 0));
  constexpr int kDraws = 20000;
  constexpr std::size_t kSlots = 6;
  std::array<double, kSlots> slot_of_row{};
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto slots = PlaceRows(coins, {7, 9}, kSlots);
    ASSERT_EQ(slots.size(), kSlots);
    ASSERT_EQ(std::count(slots.begin(), slots.end(), kPadding), 4);
    ASSERT_EQ(std::count(slots.begin(), slots.end(), 9), 1);
    ++slot_of_row[static_cast<std::size_t>(std::find(slots.begin(), slots.end(), 7) - slots.begin())];
  }
  // Five standard deviations for each of six slots: a right build fails for one key in 290,000.
  for (const double count : slot_of_row)
    EXPECT_NEAR(count, kDraws / 6.0, 5 * std::sqrt(kDraws / 6.0 * 5 / 6));
}

TEST(PlaceRows, RefusesMoreRowsThanSlots) {
  RandomStream coins(InsecureKey(Seed{4}, 0));
  EXPECT_THROW((void)PlaceRows(coins, {1, 2, 3}, 2), ContractError);
}

TEST(DrawRows, DropsUniformlyAboveTheLimit) {
  RandomStream coins(InsecureKey(Seed{2}, 0));
  std::vector<double> kept(10, 0);
  constexpr int kDraws = 20000;
  for (int draw = 0; draw < kDraws; ++draw) {
    for (const std::int64_t row : DrawRows(coins, 10, 1.0, 4)) ++kept[static_cast<std::size_t>(row)];
  }
  // Five standard deviations for each of ten rows: a right build fails for one key in 170,000.
  for (const double count : kept) EXPECT_NEAR(count, kDraws * 0.4, 5 * std::sqrt(kDraws * 0.4 * 0.6));
}

}  // namespace
}  // namespace trefoil::ml
