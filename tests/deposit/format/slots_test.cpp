#include "deposit/format/slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "ml/records.h"
#include "tests/apps/temporary_folder.h"
#include "tests/deposit/sample_deposit.h"
#include "tests/support/error_text.h"

namespace trefoil::deposit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Hash kDeposit{7};

std::string HeadOf(int records) {
  return "deposit,07" + std::string(62, '0') + "\nrecords," + std::to_string(records) + "\nrecord,slot\n";
}

TEST(Slots, AreReadAsTheyWereWritten) {
  const TemporaryFolder folder;
  const auto of_records = SlotsOfRecords({ml::kPadding, 1, ml::kPadding, 2, 0});
  EXPECT_THAT(of_records, ElementsAre(4, 1, 3));
  const auto text = SlotsText(kDeposit, of_records);
  EXPECT_EQ(text, HeadOf(3) + "1,5\n2,2\n3,4\n");
  EXPECT_EQ(ReadSlots(folder.Write("s", text), kDeposit, 5), of_records);
  EXPECT_TRUE(ReadSlots(folder.Write("s", SlotsText(kDeposit, {})), kDeposit, 5).empty());
}

TEST(Slots, OfADepositSayWhereEachRecordLies) {
  const TemporaryFolder folder;
  const auto study = SampleStudy(folder);
  const auto layout = LayoutOf(study.records);
  const auto table = SampleTable();
  auto terms = SampleTerms();
  terms.purpose = "predict";
  for (std::uint8_t coins = 1; coins <= 5; ++coins) {
    RandomStream stream(testing_support::FixedKey(coins));
    const auto made = MakeDeposit(study, table, terms, SamplePair(KeyKind::kOwner, 10), stream);
    const auto place = folder.path() / std::to_string(coins);
    WriteDeposit(place, made);
    const auto slots = ReadSlots(place / kSlotsFile, made.id, terms.capacity);
    ASSERT_EQ(slots.size(), 3U);
    EXPECT_EQ(std::filesystem::status(place / kSlotsFile).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const auto first = ReadDeposit(place / FileNameOf(0), SampleReader(study, 0));
    const auto second = ReadDeposit(place / FileNameOf(1), SampleReader(study, 1));
    const mpc::RingMatrix rows = NumbersOf(layout, 8, 0, first.components[0]) +
                                 NumbersOf(layout, 8, 1, first.components[1]) +
                                 NumbersOf(layout, 8, 2, second.components[1]);
    for (std::size_t record = 0; record < slots.size(); ++record) {
      EXPECT_EQ(rows(slots[record], 4), 1U) << "its mask bit";
      EXPECT_EQ(rows(slots[record], 5 + table.y[record]), 1U) << "its class";
    }
  }
  EXPECT_EQ(SampleDeposit(study).slots, "") << "of a training nobody asks";
}

TEST(Slots, ThatNobodyWroteAreRefused) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& text) {
    const auto file = folder.Write("s", text);
    return testing_support::ErrorText<DataError>([&] { (void)ReadSlots(file, kDeposit, 5); });
  };
  EXPECT_THAT(error("record,slot\n1,5\n"),
              HasSubstr("s: line 1: found something else, expected the deposit 07"));
  EXPECT_THAT(error(SlotsText(Hash{8}, {4})),
              HasSubstr("line 1: found something else, expected the deposit 07"));
  EXPECT_THAT(error(HeadOf(1).substr(0, 84) + "1,5\n"),
              HasSubstr("line 2: found something else, expected the number"));
  EXPECT_THAT(error(HeadOf(1) + "2,5\n"), HasSubstr("line 4: found something else, expected record 1"));
  for (const char* slot : {"6", "0", "-1", "x", "", "1x", "01", " 1", "99999999999999999999", "1,1"})
    EXPECT_THAT(error(HeadOf(2) + "1,2\n2," + std::string(slot) + "\n"),
                HasSubstr("line 5: found something else, expected a slot from 1 to 5"))
        << slot;
  EXPECT_THAT(error(HeadOf(2) + "1,2\n2,2\n"), HasSubstr("that no other record has"));
  EXPECT_THAT(error(HeadOf(1) + "1,2"), HasSubstr("line 4"));
  EXPECT_THAT(error(HeadOf(2) + "1,2\n"), HasSubstr("s: found 1 records, expected the 2 of its second line"));
  EXPECT_THAT(error(HeadOf(0) + "1,2\n"), HasSubstr("found 1 records, expected the 0"));
}

}  // namespace
}  // namespace trefoil::deposit
