#include "deposit/make_deposit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets/sha256.h"
#include "deposit/format/bytes.h"
#include "ml/records.h"
#include "tests/deposit/sample_deposit.h"
#include "tests/support/error_text.h"
#include "tests/support/faults/file_calls.h"
#include "tests/support/secrecy/uniformity.h"

namespace trefoil::deposit {
namespace {

using mpc::RingMatrix;
using mpc::Word;
using testing::HasSubstr;
using testing_support::ErrorText;
using testing_support::TakeFileCalls;

/// What a party has once it opened its file: components `party` and `party` + 1.
OpenedDeposit Opened(const TemporaryFolder& folder, const Study& study, const MadeDeposit& made, int party) {
  const auto file = folder.Write(FileNameOf(party), made.files.at(static_cast<std::size_t>(party)));
  return ReadDeposit(file, SampleReader(study, party));
}

/// The sum of components, features modulo 2^b.
RingMatrix SumOf(const RowLayout& layout, const std::vector<RingMatrix>& parts) {
  RingMatrix sum = parts.at(0);
  for (std::size_t k = 1; k < parts.size(); ++k) sum += parts[k];
  sum.leftCols(layout.features) = sum.leftCols(layout.features).unaryExpr([&](Word word) {
    return word & ((Word{1} << layout.feature_bits) - 1);
  });
  return sum;
}

/// The signed number that a feature stands for.
double ValueOf(const RowLayout& layout, Word word, int fraction_bits) {
  const auto modulus = std::int64_t{1} << layout.feature_bits;
  const auto number = static_cast<std::int64_t>(word);
  return std::ldexp(static_cast<double>(number < modulus / 2 ? number : number - modulus), -fraction_bits);
}

TEST(MakeDeposit, GivesTheRecordsToAnyTwoParties) {
  const TemporaryFolder folder;
  const auto study = SampleStudy(folder);
  const auto layout = LayoutOf(study.records);
  const auto made = SampleDeposit(study);
  const auto table = SampleTable();
  for (int party = 0; party < 3; ++party) {
    const int other = (party + 1) % 3;
    const auto mine = Opened(folder, study, made, party);
    const auto theirs = Opened(folder, study, made, other);
    EXPECT_EQ(mine.id, made.id);
    EXPECT_EQ(mine.owner, "hospital");
    EXPECT_EQ(mine.header.population, "ward-3");
    // The component that both hold is the same; the third is the other's alone.
    EXPECT_EQ(TextOf(mine.components[1]), TextOf(theirs.components[0]));
    const auto rows = SumOf(layout, {NumbersOf(layout, 8, party, mine.components[0]),
                                     NumbersOf(layout, 8, other, mine.components[1]),
                                     NumbersOf(layout, 8, (party + 2) % 3, theirs.components[1])});
    ASSERT_EQ(rows.col(4).sum(), 3U) << "mask bits";
    std::set<int> found;
    for (mpc::Index row = 0; row < rows.rows(); ++row) {
      if (rows(row, 4) == 0) {
        EXPECT_TRUE((rows.row(row) == 0).all()) << "padding";
        continue;
      }
      EXPECT_EQ(rows.row(row).rightCols(3).sum(), 1U);
      const int label = rows(row, 5) == 1 ? 0 : rows(row, 6) == 1 ? 1 : 2;
      const auto record = std::find(table.y.begin(), table.y.end(), label) - table.y.begin();
      found.insert(label);
      for (int k = 0; k < 4; ++k) EXPECT_EQ(ValueOf(layout, rows(row, k), 16), table.x(record, k));
    }
    EXPECT_EQ(found.size(), 3U);
  }
}

TEST(MakeDeposit, GivesTheSameDepositForTheSameCoins) {
  const TemporaryFolder folder;
  const auto study = SampleStudy(folder);
  // The id is a hash of the header, and so of the components: none of this changes within a version.
  EXPECT_EQ(ToHex(SampleDeposit(study).id),
            "c7cffdbb9fdfa63881b193ed594cfd1113fb22ef84b2e5e8aecaf6bd663fea48");
  EXPECT_NE(SampleDeposit(study, 6).id, SampleDeposit(study).id);
}

TEST(MakeDeposit, PutsRecordsIntoSlotsAnew) {
  const TemporaryFolder folder;
  const auto study = SampleStudy(folder);
  const auto layout = LayoutOf(study.records);
  // Of 56 ways to fill three of eight slots, forty deposits meet fewer than ten in 10^-20 of all cases.
  std::set<std::vector<Word>> masks;
  for (std::uint8_t coins = 1; coins <= 40; ++coins) {
    RandomStream stream(testing_support::FixedKey(coins));
    const auto parts = ShareRows(study.records, SampleTable(), 8, stream);
    std::vector<RingMatrix> numbers;
    for (int k = 0; k < 3; ++k)
      numbers.push_back(NumbersOf(layout, 8, k, parts.at(static_cast<std::size_t>(k)).content.bytes()));
    const RingMatrix mask = SumOf(layout, numbers).col(4);
    masks.emplace(mask.data(), mask.data() + mask.size());
  }
  EXPECT_GE(masks.size(), 10U);
}

/// The rows that all components of shared records add up to.
RingMatrix SharedRows(const jobs::RecordSchema& records, const data::Table& table, std::uint64_t capacity,
                      RandomStream& coins) {
  const auto layout = LayoutOf(records);
  const auto parts = ShareRows(records, table, capacity, coins);
  std::vector<RingMatrix> numbers;
  for (int k = 0; k < 3; ++k)
    numbers.push_back(NumbersOf(layout, capacity, k, parts.at(static_cast<std::size_t>(k)).content.bytes()));
  return SumOf(layout, numbers);
}

// As an owner that is a party draws them with the same coins (ml/batches/batch_source.cpp).
TEST(MakeDeposit, HasTheBatchesOfOwnerPoissonSampling) {
  const TemporaryFolder folder;
  const auto records = SampleRecordsOfBatches(folder);
  const auto layout = LayoutOf(records);
  const auto table = SampleTable();
  RandomStream coins(testing_support::FixedKey(9));
  const auto rows = SharedRows(records, table, kSampleSteps * kSampleBatch, coins);
  RandomStream again(testing_support::FixedKey(9));
  std::int64_t taken = 0;
  for (std::int64_t step = 0; step < kSampleSteps; ++step) {
    const auto slots = ml::PlaceRows(again, ml::DrawRows(again, 3, kSampleRate, kSampleBatch), kSampleBatch);
    for (std::int64_t slot = 0; slot < kSampleBatch; ++slot) {
      const mpc::Index row = step * kSampleBatch + slot;
      const auto record = slots.at(static_cast<std::size_t>(slot));
      if (record == ml::kPadding) {
        EXPECT_TRUE((rows.row(row) == 0).all()) << row;
        continue;
      }
      ++taken;
      for (int k = 0; k < 4; ++k) EXPECT_EQ(ValueOf(layout, rows(row, k), 16), table.x(record, k)) << row;
      EXPECT_EQ(rows(row, 4), 1U);
      EXPECT_EQ(rows(row, 5 + table.y.at(static_cast<std::size_t>(record))), 1U);
      EXPECT_EQ(rows.row(row).rightCols(3).sum(), 1U);
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_THROW((void)ShareRows(records, table, kSampleSteps * kSampleBatch - 1, coins), ContractError);
}

double BinomialOf(int n, int k, double q) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0)) * std::pow(q, k) *
         std::pow(1 - q, n - k);
}

// Sizes are binomial, cut at the limit; all slots and all records are alike. Each of the 27 counts is within
// 5.5 deviations but with probability 4 * 10^-8, so that the test fails by itself with one below 2 * 10^-6.
TEST(MakeDeposit, DrawsBatchesByTheirLaw) {
  constexpr int kRecords = 10;
  constexpr int kLimit = 5;
  constexpr int kSteps = 4000;
  constexpr double kRate = 0.3;
  const TemporaryFolder folder;
  auto records = SampleRecordsOfBatches(folder);
  auto& batches = *records.store.batches;
  batches.steps = kSteps;
  batches.rows = kLimit;
  batches.sampling_rate = kRate;
  batches.records = kRecords;
  data::Table table;
  table.x = data::Matrix::Zero(kRecords, 4);
  for (int k = 0; k < kRecords; ++k) table.x(k, 0) = 0.125F * static_cast<float>(k);
  table.y.assign(kRecords, 1);
  RandomStream coins(testing_support::FixedKey(11));
  const auto rows = SharedRows(records, table, kSteps * kLimit, coins);
  std::array<int, kLimit + 1> sizes{};
  std::array<int, kLimit> slots{};
  std::array<int, kRecords> taken{};
  for (mpc::Index step = 0; step < kSteps; ++step) {
    std::set<std::size_t> here;
    for (mpc::Index slot = 0; slot < kLimit; ++slot) {
      const mpc::Index row = step * kLimit + slot;
      if (rows(row, 4) == 0) continue;
      const auto record =
          static_cast<std::size_t>(std::lround(8 * ValueOf(LayoutOf(records), rows(row, 0), 16)));
      ++slots.at(static_cast<std::size_t>(slot));
      ++taken.at(record);
      here.insert(record);
    }
    ++sizes.at(here.size());
    EXPECT_EQ((rows.col(4).middleRows(step * kLimit, kLimit)).sum(), here.size()) << "a record once";
  }
  double mean = 0;
  const auto expect_near = [&](int found, double probability) {
    EXPECT_NEAR(found, kSteps * probability, 5.5 * std::sqrt(kSteps * probability * (1 - probability)));
  };
  for (int size = 0; size <= kLimit; ++size) {
    double probability = BinomialOf(kRecords, size, kRate);
    for (int more = size + 1; size == kLimit && more <= kRecords; ++more)
      probability += BinomialOf(kRecords, more, kRate);
    mean += size * probability;
    expect_near(sizes.at(static_cast<std::size_t>(size)), probability);
  }
  for (const int count : slots) expect_near(count, mean / kLimit);
  for (const int count : taken) expect_near(count, mean / kRecords);
}

/// Numbers packed as component 2 is, as words. With features of 24 bits each bit of them is one of a
/// number's.
std::vector<Word> Packed(const RowLayout& layout, const RingMatrix& numbers) {
  std::vector<std::uint8_t> bytes;
  for (mpc::Index row = 0; row < numbers.rows(); ++row) {
    for (mpc::Index k = 0; k < numbers.cols(); ++k) {
      bytes.resize(bytes.size() + (k < layout.features ? layout.feature_bytes() : sizeof(Word)));
      PutNumber(std::span(bytes).last(k < layout.features ? layout.feature_bytes() : sizeof(Word)),
                numbers(row, k));
    }
  }
  std::vector<Word> words(bytes.size() / sizeof(Word));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(Word));
  return words;
}

/// That one party's components of so many equal records are uniform, and two parties' are not.
void ExpectNothingForOneParty(jobs::RecordSchema records) {
  records.fraction_bits = 21;
  records.features.row_norm = 1.5;
  const auto layout = LayoutOf(records);
  ASSERT_EQ(layout.feature_bits, 24);
  constexpr std::uint64_t kRows = 4096;
  data::Table table;
  table.x = data::Matrix::Constant(kRows, 4, 0.5F);
  table.y.assign(kRows, 1);
  RandomStream coins(testing_support::FixedKey(9));
  const auto parts = ShareRows(records, table, kRows, coins);
  std::vector<RingMatrix> x;
  for (int k = 0; k < 3; ++k)
    x.push_back(NumbersOf(layout, kRows, k, parts.at(static_cast<std::size_t>(k)).content.bytes()));
  // All that a party can add up of its two components; a check fails by itself with probability below 3 *
  // 10^-13, by the bound of tests/support/secrecy/uniformity.h over less than 3,000 checks of 10^-16.
  testing_support::UniformityChecker checker;
  for (std::size_t party = 0; party < 3; ++party) {
    const auto& own = x[party];
    const auto& next = x[(party + 1) % 3];
    EXPECT_TRUE(checker.AreUniform(Packed(layout, own))) << party;
    EXPECT_TRUE(checker.AreUniform(Packed(layout, SumOf(layout, {own, next})))) << party;
    const RingMatrix negative = RingMatrix::Zero(next.rows(), next.cols()) - next;
    EXPECT_TRUE(checker.AreUniform(Packed(layout, SumOf(layout, {own, negative})))) << party;
  }
  EXPECT_LT(checker.checks(), 3000U);
  // Two parties' components are not: the check would find it.
  EXPECT_FALSE(checker.AreUniform(Packed(layout, SumOf(layout, {x[0], x[1], x[2]}))));
}

TEST(MakeDeposit, TellsOnePartyNothing) {
  const TemporaryFolder folder;
  auto records = SampleRecords(folder);
  ExpectNothingForOneParty(records);
  records = SampleRecordsOfBatches(folder);
  auto& batches = *records.store.batches;
  batches.steps = 16;
  batches.rows = 256;
  batches.records = 4096;
  batches.sampling_rate = 0.05;
  ExpectNothingForOneParty(records);
}

TEST(MakeDeposit, HasSizesThatTellTheCapacityAlone) {
  const TemporaryFolder folder;
  const auto study = SampleStudy(folder);
  auto one = SampleTable();
  one.x.conservativeResize(1, 4);
  one.y.resize(1);
  RandomStream coins(testing_support::FixedKey(1));
  const auto owner = SamplePair(KeyKind::kOwner, 10);
  for (const std::uint64_t capacity : {3, 8, 500, 5000}) {
    const auto few = MakeDeposit(study, one, SampleTerms(capacity), owner, coins);
    const auto more = MakeDeposit(study, SampleTable(), SampleTerms(capacity), owner, coins);
    EXPECT_EQ(few.files[0].size(), 264U + 440 + 32 + 24 + 17 + 128) << "seeds and salts";
    for (std::size_t party = 0; party < 3; ++party)
      EXPECT_EQ(few.files[party].size(), more.files[party].size());
    // Features of 20 bits in 3 bytes, a mask bit and three classes in 8 each.
    const std::size_t body = 64 + 32 + capacity * (4 * 3 + 4 * 8);
    EXPECT_EQ(more.files[1].size(), 264 + 440 + 32 + 24 + body + 17 * ((body + 65535) / 65536));
    EXPECT_EQ(more.files[1].size(), more.files[2].size());
  }
}

TEST(MakeDeposit, HasTheBytesThatAreSaidBeforehand) {
  const TemporaryFolder folder;
  const auto study = SampleStudyOfBatches(folder);
  RandomStream coins(testing_support::FixedKey(1));
  const auto made =
      MakeDeposit(study, SampleTable(), SampleTerms(20), SamplePair(KeyKind::kOwner, 10), coins);
  const auto bytes = FileBytes(LayoutOf(study.records), RowsOfBatches(study.records).value());
  for (std::size_t party = 0; party < 3; ++party) EXPECT_EQ(made.files[party].size(), bytes[party]);
  EXPECT_EQ(bytes[1], 760U + 17 + 96 + 20 * (4 * 3 + 4 * 8));
  EXPECT_EQ(FileBytes(LayoutOf(study.records), 5000)[2],
            264U + 440 + 32 + 24 + 96 + 5000 * 44 + 17 * ((96 + 5000 * 44 + 65535) / 65536));
}

TEST(MakeDeposit, LeavesNothingOfTheRecordsOrSeedsInTheClear) {
  const TemporaryFolder folder;
  const auto study = SampleStudy(folder);
  const auto layout = LayoutOf(study.records);
  const auto made = SampleDeposit(study);
  std::vector<std::string> planted;
  const auto table = SampleTable();
  for (mpc::Index row = 0; row < 3; ++row) {
    std::string packed;
    for (mpc::Index k = 0; k < 4; ++k) {
      std::array<std::uint8_t, 3> bytes{};
      PutNumber(bytes, static_cast<Word>(static_cast<std::int64_t>(std::ldexp(table.x(row, k), 16))) &
                           ((Word{1} << layout.feature_bits) - 1));
      packed += TextOf(bytes);
    }
    planted.push_back(packed);
    planted.emplace_back(reinterpret_cast<const char*>(&table.x(row, 0)), 4 * sizeof(float));
  }
  for (int party = 0; party < 3; ++party) {
    const auto opened = Opened(folder, study, made, party);
    for (const auto& component : opened.components) planted.emplace_back(TextOf(component).substr(0, 32));
  }
  for (const auto& secret : planted) {
    for (const auto& file : made.files) EXPECT_EQ(file.find(secret), std::string::npos);
  }
}

TEST(MakeDeposit, RefusesWhatIsNoRecordOfTheStudy) {
  const TemporaryFolder folder;
  const auto study = SampleStudy(folder);
  RandomStream coins(testing_support::FixedKey(1));
  const auto make = [&](const data::Table& table, std::uint64_t capacity) {
    (void)MakeDeposit(study, table, SampleTerms(capacity), SamplePair(KeyKind::kOwner, 10), coins);
  };
  auto bad = SampleTable();
  bad.y[1] = 3;
  EXPECT_THAT(ErrorText<DataError>([&] { make(bad, 8); }),
              HasSubstr("record 2: found a label out of its range"));
  bad = SampleTable();
  bad.x(2, 0) = NAN;
  EXPECT_THAT(ErrorText<DataError>([&] { make(bad, 8); }),
              HasSubstr("record 3: a feature is not a finite number"));
  EXPECT_THROW(make(SampleTable(), 2), ContractError);
}

TEST(WriteDeposit, MakesAFolderWithAllFilesOrNone) {
  const TemporaryFolder folder;
  const auto made = SampleDeposit(SampleStudy(folder));
  const auto out = folder.path() / "a/out";
  std::filesystem::create_directories(folder.path() / "a/out.part");
  folder.Write("a/out.part/party-1.deposit", "of an attempt that was killed");
  (void)TakeFileCalls();
  WriteDeposit(out / "", made);  // as a shell completes it
  EXPECT_THAT(TakeFileCalls(),
              testing::ElementsAre("fsync party-0.deposit", "fsync out.part", "fsync party-1.deposit",
                                   "fsync out.part", "fsync party-2.deposit", "fsync out.part", "rename out",
                                   "fsync a"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "a/out.part"));
  for (int party = 0; party < 3; ++party) {
    const auto file = out / FileNameOf(party);
    EXPECT_EQ(ReadTextFile(file, "a deposit"), made.files.at(static_cast<std::size_t>(party)));
    struct stat status {};
    ASSERT_EQ(stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0600U);
  }
  EXPECT_THAT(ErrorText<ConfigError>([&] { WriteDeposit(out, made); }), HasSubstr("exists already"));
}

TEST(WriteDeposit, TouchesNoOtherFile) {
  const TemporaryFolder folder;
  const auto made = SampleDeposit(SampleStudy(folder));
  std::filesystem::create_directory(folder.path() / "out.part");
  folder.Write("out.part/mine.txt", "mine");
  EXPECT_THAT(ErrorText<ConfigError>([&] { WriteDeposit(folder.path() / "out", made); }),
              HasSubstr("out.part: found a folder with other files"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "out.part/mine.txt"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out"));
}

}  // namespace
}  // namespace trefoil::deposit
