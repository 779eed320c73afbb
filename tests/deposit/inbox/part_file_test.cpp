#include "deposit/inbox/part_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/passing_error.h"
#include "base/secrets/sha256.h"
#include "tests/deposit/inbox/inbox_fixture.h"

namespace trefoil::deposit {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// Whoever has seen another party's file of the deposit can write this party's number into its prefix, and any
// length: its owner has not signed these.
TEST_F(InboxTest, LetsNobodyBarADepositByAPartOfIt) {
  OpenInbox();
  const auto file = SampleDeposit(study_).files[1];
  auto squatting = SampleDeposit(study_).files[1];
  squatting[32] = static_cast<char>(squatting[32] ^ 1);  // the body's length
  squatting += 'x';
  const auto bytes = BytesOf(squatting);
  auto upload = inbox_->Open(
      {.target = "/deposits",
       .body_bytes = kPrefixBytes + kHeaderBytes + DecodePrefix(bytes.first<kPrefixBytes>()).body_bytes,
       .offset = 0,
       .address = ""});
  ASSERT_FALSE(upload->Begin(bytes.first(kPrefixBytes)));
  ASSERT_FALSE(upload->Admitted());
  ASSERT_FALSE(upload->Take(bytes.subspan(kPrefixBytes, 50)));
  ASSERT_THAT(Parts(), SizeIs(1));
  EXPECT_EQ(OffsetIn(Status(file)), 0U);
  EXPECT_EQ(Post(file).status, 201U);
  EXPECT_EQ(upload->Take(bytes.subspan(kPrefixBytes + 50, 10))->status, 409U);
  EXPECT_THAT(Parts(), IsEmpty());
}

// Nor can another owner, whom the party lists, too, and who signs the deposit's id as its own.
TEST_F(InboxTest, KeepsPartsOfTwoOwnersApart) {
  OpenInbox();
  Trust("clinic", 12);
  const auto file = SampleDeposit(study_).files[1];
  const auto header = *DecodeHeader(std::string_view(file).substr(kPrefixBytes, kHeaderBytes));
  const auto foreign = SignDeposit(header, {"", "", ""}, SamplePair(KeyKind::kOwner, 12)).files[1];
  const auto under_way = Begin("/deposits", file, 0, kPrefixBytes + 250);
  const auto squatting = Begin("/deposits", foreign, 0, kPrefixBytes + 100);
  EXPECT_FALSE(squatting.answer);
  EXPECT_EQ(OffsetIn(Status(file)), 250U);
  EXPECT_EQ(OffsetIn(Status(foreign)), 100U);
  EXPECT_FALSE(under_way.upload->Take(BytesOf(file).subspan(kPrefixBytes + 250)));
  EXPECT_EQ(under_way.upload->End().status, 201U) << "which the other one did not overtake";
}

// An inbox of an earlier version named parts by the deposit alone.
TEST_F(InboxTest, GoesOnWithPartsUnderTheirNameOfBefore) {
  OpenInbox();
  const auto made = SampleDeposit(study_);
  (void)Begin("/deposits", made.files[1], 0, kPrefixBytes + 250);
  ASSERT_THAT(Parts(), SizeIs(1));
  std::filesystem::rename(Parts()[0], folder_.path() / "s/parts" / (ToHex(made.id) + ".part"));
  OpenInbox();
  EXPECT_EQ(OffsetIn(Status(made.files[1])), 250U);
  EXPECT_EQ(Post(made.files[1], 250).status, 201U);
  EXPECT_THAT(Parts(), IsEmpty());
}

TEST_F(InboxTest, KeepsFewPartsOfAnOwner) {
  OpenInbox();
  Trust("clinic", 12);
  const auto one = FileOfAnother(19, true);  // sealed anew, it would be another file
  (void)Begin("/deposits", one, 0, kPrefixBytes + 9);
  for (int k = 1; k < PartFolder::kPerOwner; ++k)
    (void)Begin("/deposits", FileOfAnother(static_cast<std::uint8_t>(20 + k), true), 0, kPrefixBytes + 9);
  EXPECT_EQ(Post(FileOfAnother(40, true)).status, 429U);
  EXPECT_EQ(Post(one).status, 201U) << "one of those";
  EXPECT_EQ(Post(FileOfAnother(41, true)).status, 201U) << "which has made room";
  EXPECT_EQ(Post(FileOfAnother(42, true, 12)).status, 201U) << "another owner's";
  for (const auto& part : Parts())
    std::filesystem::last_write_time(
        part, std::filesystem::file_time_type::clock::now() - PartFolder::kKept - std::chrono::hours(1));
  EXPECT_EQ(Post(FileOfAnother(43, true)).status, 201U);
  EXPECT_THAT(Parts(), IsEmpty());
}

TEST_F(InboxTest, IsAloneWithItsParts) {
  OpenInbox();
  EXPECT_THROW(PartFolder(folder_.path() / "s/parts"), PassingError);
}

}  // namespace
}  // namespace trefoil::deposit
