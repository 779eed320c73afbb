#include "deposit/on_shares/checked_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "deposit/format/bytes.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/deposit/sample_deposit.h"
#include "tests/support/error_text.h"
#include "tests/support/run_parties.h"

namespace trefoil::deposit {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using testing::HasSubstr;
using testing_support::ErrorText;
using testing_support::RunParties;
using testing_support::Seed;

constexpr std::uint64_t kCapacity = 8;
constexpr Index kMask = 4;  // the sample's columns: four features, mask bit, three classes
constexpr Word kTop = Word{1} << 63;

class CheckedRowsTest : public testing::Test {
 protected:
  using Components = std::array<std::vector<std::uint8_t>, 3>;

  /// The sample table's components.
  [[nodiscard]] Components Shared() const {
    RandomStream coins(testing_support::FixedKey(5));
    const auto parts = ShareRows(study_.records, SampleTable(), kCapacity, coins);
    Components components;
    for (std::size_t k = 0; k < components.size(); ++k) {
      const auto bytes = parts.at(k).content.bytes();
      components.at(k).assign(bytes.begin(), bytes.end());
    }
    return components;
  }

  [[nodiscard]] RingMatrix NumbersIn(const Components& components, int component) const {
    return NumbersOf(layout_, kCapacity, component, components.at(static_cast<std::size_t>(component)));
  }

  /// What the components add up to: features from -2^(b - 1), all else modulo 2^64.
  [[nodiscard]] RingMatrix SumOf(const Components& components) const {
    RingMatrix sum = NumbersIn(components, 0) + NumbersIn(components, 1) + NumbersIn(components, 2);
    const int above = 64 - layout_.feature_bits;
    sum.leftCols(kMask) = sum.leftCols(kMask).unaryExpr(
        [above](Word word) { return static_cast<Word>(static_cast<std::int64_t>(word << above) >> above); });
    return sum;
  }

  /// What an owner can do who sends other numbers: adds to one of them, within the format.
  void Add(Components& components, Index row, Index column, Word number) const {
    RingMatrix words = NumbersIn(components, kWordComponent);
    words(row, column) += number;
    const Word modulo = (Word{1} << layout_.feature_bits) - 1;
    auto rest = std::span(components[kWordComponent]);
    for (Index at_row = 0; at_row < words.rows(); ++at_row) {
      for (Index k = 0; k < words.cols(); ++k) {
        const auto bytes = k < kMask ? layout_.feature_bytes() : sizeof(Word);
        PutNumber(rest.first(bytes), k < kMask ? words(at_row, k) & modulo : words(at_row, k));
        rest = rest.subspan(bytes);
      }
    }
  }

  /// As `party` has it. The components must outlive it.
  static OpenedDeposit HeldBy(int party, const Components& components) {
    OpenedDeposit deposit;
    deposit.id.fill(7);
    deposit.header.capacity = kCapacity;
    deposit.components = {components.at(static_cast<std::size_t>(party)),
                          components.at(static_cast<std::size_t>((party + 1) % 3))};
    return deposit;
  }

  /// The rows, opened, as each party has them; nothing where they are not taken.
  [[nodiscard]] std::array<std::optional<RingMatrix>, 3> Checked(const Components& components,
                                                                 Index numbers_at_a_time = 1 << 20) const {
    return RunParties(Seed{1}, [&](mpc::Context& party) -> std::optional<RingMatrix> {
      const auto deposit = HeldBy(party.self(), components);
      const auto rows = CheckedRows(party, study_.records, deposit, numbers_at_a_time);
      if (!rows) return std::nullopt;
      return protocols::Reveal(party, *rows, protocols::ReleaseReason::kTest);
    });
  }

  void ExpectFaulty(const Components& components, const std::string& what) const {
    for (const auto& rows : Checked(components)) EXPECT_FALSE(rows) << what;
  }

  TemporaryFolder folder_;
  Study study_ = SampleStudy(folder_);
  RowLayout layout_ = LayoutOf(study_.records);
};

TEST_F(CheckedRowsTest, AreWhatAnHonestOwnerDeposited) {
  const auto components = Shared();
  const auto expected = SumOf(components);
  ASSERT_EQ(expected.col(kMask).sum(), 3U);
  for (const auto& rows : Checked(components)) {
    ASSERT_TRUE(rows);
    EXPECT_TRUE((*rows == expected).all());
  }
}

// With files, seals and signatures in between.
TEST_F(CheckedRowsTest, ComeFromTheFilesOfThreeParties) {
  const auto made = SampleDeposit(study_);
  std::array<OpenedDeposit, 3> opened;
  for (int party = 0; party < 3; ++party) {
    const auto k = static_cast<std::size_t>(party);
    opened.at(k) =
        ReadDeposit(folder_.Write(FileNameOf(party), made.files.at(k)), SampleReader(study_, party));
  }
  const auto sums = RunParties(Seed{2}, [&](mpc::Context& party) {
    const auto rows = CheckedRows(party, study_.records, opened.at(static_cast<std::size_t>(party.self())));
    EXPECT_TRUE(rows.has_value());
    return protocols::Reveal(party, Transposed(RowSums(Transposed(*rows))), protocols::ReleaseReason::kTest);
  });
  const auto table = SampleTable();
  for (Index k = 0; k < kMask; ++k)
    EXPECT_EQ(std::ldexp(static_cast<double>(mpc::Signed(sums[0](0, k))), -16), table.x.col(k).sum());
  for (Index k = kMask + 1; k < sums[0].cols(); ++k) EXPECT_EQ(sums[0](0, k), 1U);
}

// What an owner may send that signs it well; among other rows that are right.
TEST_F(CheckedRowsTest, AreNoneWhereOneIsNoRecordAndNoPadding) {
  const auto honest = Shared();
  const auto plain = SumOf(honest);
  Index record = 0;
  while (plain(record, kMask) == 0) ++record;
  Index padding = 0;
  while (plain(padding, kMask) != 0) ++padding;
  Index other_class = kMask + 1;
  while (plain(record, other_class) != 0) ++other_class;

  struct Change {
    std::string what;
    Index row;
    Index column;
    Word number;
  };
  const Word one = Word{1} << 16;
  for (const auto& [what, row, column, number] : {
           Change{"a second class", record, other_class, 1},
           Change{"a class of less than nothing", record, other_class, ~Word{0}},
           Change{"a class of 2^63", record, other_class, kTop},
           Change{"a record that weighs two", record, kMask, 1},
           Change{"a record that weighs 1 + 2^48", record, kMask, Word{1} << 48},
           Change{"a record that weighs 1 + 2^63", record, kMask, kTop},
           Change{"a record without a class", padding, kMask, 1},
           Change{"a class without a record", padding, kMask + 1, 1},
           Change{"padding that is not zero", padding, 0, 1},
           Change{"a record that is too long", record, 0, 4 * one},
           Change{"a feature out of range", padding, 1, Word{1} << (layout_.feature_bits - 1)},
       }) {
    auto components = honest;
    Add(components, row, column, number);
    ExpectFaulty(components, what);
  }
}

// 2^32 is nothing modulo 2^b, whatever its square would be: what is used is what was checked.
TEST_F(CheckedRowsTest, HaveFeaturesModuloThatOfTheStudyAlone) {
  const auto honest = Shared();
  auto components = honest;
  Add(components, 0, 0, Word{1} << 32);
  EXPECT_EQ(components, honest);
}

TEST_F(CheckedRowsTest, AreCheckedInEveryBlock) {
  RandomStream coins(testing_support::FixedKey(6));
  constexpr std::uint64_t kMany = 150;
  const auto parts = ShareRows(study_.records, SampleTable(), kMany, coins);
  std::array<std::vector<std::uint8_t>, 3> bytes;
  for (std::size_t k = 0; k < bytes.size(); ++k)
    bytes.at(k).assign(parts.at(k).content.bytes().begin(), parts.at(k).content.bytes().end());
  const auto taken = [&] {
    return RunParties(Seed{3}, [&](mpc::Context& party) {
      OpenedDeposit deposit;
      deposit.header.capacity = kMany;
      const auto self = static_cast<std::size_t>(party.self());
      deposit.components = {bytes.at(self), bytes.at((self + 1) % 3)};
      const auto rows = CheckedRows(party, study_.records, deposit, 1);  // 64 rows at a time
      return rows ? rows->rows() : Index{0};
    });
  };
  EXPECT_EQ(taken(), (std::array<Index, 3>{150, 150, 150}));
  // The last byte of a row is its last class's highest.
  for (const std::size_t row : {std::size_t{3}, std::size_t{70}, std::size_t{149}}) {
    auto& byte = bytes[kWordComponent][(row + 1) * layout_.row_bytes() - 1];
    byte = static_cast<std::uint8_t>(byte ^ 0x80U);
    EXPECT_EQ(taken(), (std::array<Index, 3>{0, 0, 0})) << row;
    byte = static_cast<std::uint8_t>(byte ^ 0x80U);
  }
}

TEST_F(CheckedRowsTest, NeedComponentsThatBelongTogether) {
  const auto components = Shared();
  auto other = components;
  Add(other, 2, 1, 1);
  const auto errors = RunParties(Seed{1}, [&](mpc::Context& party) {
    const auto deposit = HeldBy(party.self(), party.self() == 1 ? other : components);
    return ErrorText<ConfigError>([&] { (void)CheckedRows(party, study_.records, deposit); });
  });
  for (const auto& error : errors)
    EXPECT_THAT(error, HasSubstr("of which a component differs: expected what its owner deposited"));
  EXPECT_THAT(errors[0], HasSubstr("party 1 and party 2 hold each a component of deposit 0707"));
}

TEST(BoundsOf, AreTheStudysBoundsDownwards) {
  const TemporaryFolder folder;
  auto records = SampleRecords(folder);
  auto bounds = BoundsOf(records);
  EXPECT_EQ(bounds.features, 4);
  EXPECT_EQ(bounds.label_words, 3);
  EXPECT_EQ(bounds.largest_label, 1U);
  EXPECT_EQ(bounds.largest_squared_norm, (Word{1} << 34) - 1);  // rows are shorter than 2 at 2^16
  records.data.classes = 2;
  EXPECT_EQ(BoundsOf(records).label_words, 1);
  records.data.target.emplace();
  EXPECT_EQ(BoundsOf(records).largest_label, Word{1} << 24);
}

Hash HashOf(std::uint8_t byte) {
  Hash hash{};
  hash.fill(byte);
  return hash;
}

TEST(AgreeOnDeposits, GivesTheSameOrderAtAllThree) {
  const auto agreed = RunParties(Seed{1}, [](mpc::Context& party) {
    std::vector<Hash> ids{HashOf(3), HashOf(1), HashOf(2)};
    std::rotate(ids.begin(), ids.begin() + party.self(), ids.end());
    EXPECT_TRUE(AgreeOnDeposits(party, HashOf(9), {}).empty());
    return AgreeOnDeposits(party, HashOf(9), ids);
  });
  for (const auto& ids : agreed) EXPECT_EQ(ids, (std::vector<Hash>{HashOf(1), HashOf(2), HashOf(3)}));
}

TEST(AgreeOnDeposits, NamesWhatDiffers) {
  const auto errors = RunParties(Seed{1}, [](mpc::Context& party) {
    std::vector<Hash> ids{HashOf(3), HashOf(1)};
    if (party.self() == 2) ids.pop_back();
    return ErrorText<ConfigError>([&] { (void)AgreeOnDeposits(party, HashOf(9), ids); });
  });
  for (const auto& error : errors)
    EXPECT_THAT(error, HasSubstr("deposit " + ToHex(HashOf(1)) + ": not in the store of party 2"));
  const auto studies = RunParties(Seed{1}, [](mpc::Context& party) {
    return ErrorText<ConfigError>(
        [&] { (void)AgreeOnDeposits(party, party.self() == 1 ? HashOf(8) : HashOf(9), {HashOf(1)}); });
  });
  for (const auto& error : studies)
    EXPECT_THAT(error, HasSubstr("study: found " + ToHex(HashOf(9)) + " at party 0 and " + ToHex(HashOf(8)) +
                                 " at party 1"));
}

TEST(AgreeOnDeposits, RefusesMoreThanAListHasRoomFor) {
  std::vector<Hash> ids(100'001);
  for (std::size_t k = 0; k < ids.size(); ++k) std::memcpy(ids[k].data(), &k, sizeof(k));
  const auto errors = RunParties(Seed{1}, [&](mpc::Context& party) {
    return ErrorText<ConfigError>([&] { (void)AgreeOnDeposits(party, HashOf(9), ids); });
  });
  for (const auto& error : errors)
    EXPECT_THAT(error, HasSubstr("found 100001 deposits, expected at most 100000"));
}

TEST(AgreeOnDeposits, RefusesWhatIsNoList) {
  for (const std::string& text : {std::string(), ToHex(HashOf(9)), ToHex(HashOf(9)) + "\nx\n",
                                  ToHex(HashOf(9)) + "\n" + std::string(64, 'A') + "\n"}) {
    const auto errors = RunParties(Seed{1}, [&](mpc::Context& party) -> std::string {
      if (party.self() == 0) {
        (void)protocols::ExchangeTexts(party, text, 1000);
        return "party 0: found a list of deposits that cannot be read, expected one id a line";
      }
      return ErrorText<ProtocolError>([&] { (void)AgreeOnDeposits(party, HashOf(9), {HashOf(1)}); });
    });
    for (const auto& error : errors)
      EXPECT_EQ(error, "party 0: found a list of deposits that cannot be read, expected one id a line");
  }
}

}  // namespace
}  // namespace trefoil::deposit
