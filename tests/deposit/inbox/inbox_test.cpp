#include "deposit/inbox/inbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "deposit/inbox/receipt.h"
#include "tests/deposit/inbox/inbox_fixture.h"

namespace trefoil::deposit {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// "STATUS CODE" of a problem.
std::string CodeIn(const net::HttpAnswer& answer) {
  const auto json = nlohmann::json::parse(answer.body, nullptr, false);
  EXPECT_EQ(answer.type, "application/problem+json") << answer.body;
  EXPECT_EQ(json.value("status", 0U), answer.status);
  EXPECT_FALSE(json.value("detail", "").empty());
  return std::to_string(answer.status) + " " + json.value("code", "");
}

TEST_F(InboxTest, TakesADepositAndSaysSo) {
  EXPECT_EQ(OpenInbox().Open({.target = "/"}), nullptr);
  const auto made = SampleDeposit(study_);
  EXPECT_EQ(OffsetIn(Status(made.files[1])), 0U);
  const auto answer = Post(made.files[1]);
  EXPECT_EQ(answer.status, 201U) << answer.body;
  CheckReceipt(answer.body, made.id, 1, SampleFingerprint(), "answer");
  EXPECT_THAT(Parts(), IsEmpty());
  auto store = Open();
  ASSERT_THAT(store.List(), SizeIs(1));
  store.Verify(store.List()[0]);
  // Again, and after a restart: the same receipt, and nothing is taken twice.
  EXPECT_EQ(Post(made.files[1]).body, answer.body);
  EXPECT_EQ(Status(made.files[1]).body, answer.body);
  OpenInbox();
  EXPECT_EQ(Post(made.files[1]).body, answer.body);
  EXPECT_EQ(Status(made.files[1]).status, 201U);
  EXPECT_THAT(store.List(), SizeIs(1));
}

TEST_F(InboxTest, GoesOnWhereAnUploadEnded) {
  OpenInbox();
  const auto file = SampleDeposit(study_).files[1];
  (void)Begin("/deposits", file, 0, kPrefixBytes + 250);
  EXPECT_EQ(OffsetIn(Status(file)), 250U);
  OpenInbox();  // killed, and begun anew
  EXPECT_EQ(OffsetIn(Status(file)), 250U);
  EXPECT_EQ(Post(file, 251).status, 409U) << "a byte is missing";
  EXPECT_EQ(OffsetIn(Post(file, 300)), 250U);
  EXPECT_EQ(Post(file, 200).status, 201U) << "some bytes again";
  EXPECT_THAT(Parts(), IsEmpty());
}

TEST_F(InboxTest, TakesAPartThatWasWhole) {
  OpenInbox();
  const auto file = SampleDeposit(study_).files[1];
  (void)Begin("/deposits", file, 0, file.size());  // killed before it was taken
  EXPECT_EQ(Post(file, file.size() - kPrefixBytes).status, 201U);
}

TEST_F(InboxTest, AnswersAnotherFileOfTheSameDepositByAConflict) {
  OpenInbox();
  const auto file = SampleDeposit(study_).files[1];
  auto other = file;
  other.back() = static_cast<char>(other.back() ^ 1);
  // Well signed, with the same header and another body.
  const auto header = *DecodeHeader(std::string_view(file).substr(kPrefixBytes, kHeaderBytes));
  const auto resigned = SignDeposit(header, {"", other.substr(kPrefixBytes + kHeaderBytes), ""},
                                    SamplePair(KeyKind::kOwner, 10))
                            .files[1];
  (void)Begin("/deposits", file, 0, kPrefixBytes + 10);
  EXPECT_EQ(OffsetIn(Status(resigned)), 0U) << "until one is whole, the later one takes the other's place";
  EXPECT_EQ(CodeIn(Post(resigned)), "422 sealing");
  EXPECT_EQ(Post(file).status, 201U);
  EXPECT_EQ(CodeIn(Post(other)), "409 repeated") << "the same prefix, another body";
  EXPECT_EQ(CodeIn(Post(resigned)), "409 repeated");
  EXPECT_EQ(CodeIn(Status(resigned)), "409 repeated");
  EXPECT_EQ(Post(file, 10).status, 409U) << "a rest, where all was taken";
}

TEST_F(InboxTest, RefusesAPrefixBeforeAnythingIsKept) {
  OpenInbox();
  const auto made = SampleDeposit(study_);
  const auto with = [&](std::size_t at) {
    auto changed = made.files[1];
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    return changed;
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {with(0), "400 magic"},           {with(16), "400 version"},
      {with(24), "400 size"},           {with(50), "403 signature"},
      {with(80), "403 signature"},      {with(210), "403 signature"},
      {made.files[0], "400 party"},     {FileOfAnother(5, false, 12), "403 owner"},
      {made.files[1] + "x", "400 size"}};
  for (const auto& [file, code] : cases) {
    EXPECT_EQ(CodeIn(Post(file)), code);
    if (code != "400 size") {
      EXPECT_EQ(CodeIn(Status(file)), code);
    }
  }
  EXPECT_THAT(Parts(), IsEmpty());
}

// Owners' public keys are in every deposit, and no secret.
TEST_F(InboxTest, TellsNobodyWhichOwnersAreListed) {
  OpenInbox();
  auto forged = SampleDeposit(study_).files[1].substr(0, kPrefixBytes);
  std::vector<std::string> answers;
  for (const int owner : {10, 12}) {
    const auto key = SamplePair(KeyKind::kOwner, owner).known;
    std::copy(key.begin(), key.end(), forged.begin() + 40);
    std::fill(forged.begin() + 72, forged.end(), '\0');  // id, bodies and signature
    const auto answer = Status(forged);
    EXPECT_EQ(CodeIn(answer), "403 signature");
    answers.push_back(answer.body);
  }
  EXPECT_EQ(answers[0], answers[1]);
}

TEST_F(InboxTest, RefusesWhatIsTooLarge) {
  const auto file = SampleDeposit(study_).files[1];
  OpenInbox(file.size() - 1);
  EXPECT_EQ(CodeIn(Post(file)), "413 size");
  auto claims = file;  // which its prefix alone says
  claims[39] = '\x7F';
  EXPECT_EQ(CodeIn(Status(claims)), "413 size");
  const auto upload =
      inbox_->Open({.target = "/deposits", .body_bytes = 1000, .offset = ~std::uint64_t{0}, .address = ""});
  EXPECT_EQ(CodeIn(*upload->Begin(BytesOf(file).first(kPrefixBytes))), "413 size") << "no sum wraps";
  EXPECT_THAT(Parts(), IsEmpty());
  OpenInbox(file.size());
  EXPECT_EQ(Post(file).status, 201U);
}

TEST_F(InboxTest, ForgetsWhatIsAlteredOnceItIsWhole) {
  OpenInbox();
  const auto file = SampleDeposit(study_).files[1];
  auto altered = file;
  altered.back() = static_cast<char>(altered.back() ^ 1);
  EXPECT_EQ(CodeIn(Post(altered)), "422 body");
  EXPECT_THAT(Parts(), IsEmpty());
  altered = file;
  altered[kPrefixBytes] = static_cast<char>(altered[kPrefixBytes] ^ 1);
  EXPECT_EQ(CodeIn(Post(altered)), "422 header");
  EXPECT_EQ(Post(file).status, 201U);
}

TEST_F(InboxTest, AsksAnewForWhatWasLostOfAPart) {
  OpenInbox();
  const auto file = SampleDeposit(study_).files[1];
  (void)Begin("/deposits", file, 0, kPrefixBytes + 250);
  Damage(kPrefixBytes + 100);
  const auto answer = Post(file, 250);
  EXPECT_EQ(CodeIn(answer), "409 ");
  EXPECT_EQ(OffsetIn(answer), 0U);
  EXPECT_THAT(Parts(), IsEmpty());
  EXPECT_EQ(OffsetIn(Status(file)), 0U);
  (void)Begin("/deposits", file, 0, kPrefixBytes + 250);
  Damage(0);
  EXPECT_EQ(OffsetIn(Status(file)), 0U) << "nothing says whose part it is";
  EXPECT_EQ(Post(file).status, 201U);
}

TEST_F(InboxTest, AsksAnewNoMoreThanOnce) {
  OpenInbox();
  auto altered = SampleDeposit(study_).files[1];
  altered.back() = static_cast<char>(altered.back() ^ 1);
  (void)Begin("/deposits", altered, 0, kPrefixBytes + 250);
  EXPECT_EQ(OffsetIn(Post(altered, 250)), 0U);
  EXPECT_EQ(CodeIn(Post(altered)), "422 body");
  EXPECT_THAT(Parts(), IsEmpty());
}

TEST_F(InboxTest, SaysWhyTheStoreTakesADepositNot) {
  OpenInbox();
  const auto first = SampleDeposit(study_);
  EXPECT_EQ(Post(first.files[1]).status, 201U);
  EXPECT_EQ(CodeIn(Post(FileOfAnother(6, false))), "409 live");
  EXPECT_EQ(Post(FileOfAnother(7, true)).status, 201U);
  auto store = Open();
  const auto withdraw = [&](const Hash& id) {
    const auto content = SignWithdrawal(id, 1, SamplePair(KeyKind::kOwner, 10));
    store.Withdraw(ParseWithdrawal(content, "w"), SampleReader(study_, 1).owners, "w", 1);
  };
  withdraw(first.id);
  EXPECT_EQ(CodeIn(Post(first.files[1])), "410 withdrawn");
  EXPECT_EQ(CodeIn(Status(first.files[1])), "410 withdrawn");
  const auto ahead = FileOfAnother(8, true);
  withdraw(DecodePrefix(BytesOf(ahead).first<kPrefixBytes>()).id);
  EXPECT_EQ(CodeIn(Post(ahead)), "410 withdrawn");
  EXPECT_THAT(Parts(), IsEmpty());
}

TEST_F(InboxTest, ForgetsAPartThatIsWithdrawn) {
  OpenInbox();
  const auto made = SampleDeposit(study_);
  const auto& file = made.files[1];
  auto store = Open();
  const auto withdraw = [&](int owner) {
    const auto owners = ReadTrustedOwners(folder_.path() / "o");
    const auto content = SignWithdrawal(made.id, 1, SamplePair(KeyKind::kOwner, owner));
    store.Withdraw(ParseWithdrawal(content, "w"), owners, "w", 1);
  };
  const auto under_way = Begin("/deposits", file, 0, kPrefixBytes + 250);
  Trust("clinic", 12);
  withdraw(12);
  EXPECT_THAT(Parts(), SizeIs(1)) << "it is not that owner's";
  EXPECT_EQ(OffsetIn(Status(file)), 250U);
  withdraw(10);
  EXPECT_THAT(Parts(), IsEmpty());
  EXPECT_EQ(CodeIn(under_way.upload->End()), "410 withdrawn");
  EXPECT_EQ(CodeIn(Status(file)), "410 withdrawn");
  EXPECT_EQ(CodeIn(Begin("/deposits", file, 0, kPrefixBytes).answer.value()), "410 withdrawn");
  EXPECT_THAT(Parts(), IsEmpty());
}

// A withdrawal that is killed behind its transaction leaves the part, to which no body belongs.
TEST_F(InboxTest, ForgetsAPartWhoseWithdrawalWasKilled) {
  OpenInbox();
  const auto made = SampleDeposit(study_);
  const auto under_way = Begin("/deposits", made.files[1], 0, kPrefixBytes + 250);
  ASSERT_THAT(Parts(), SizeIs(1));
  const auto part = Parts()[0];
  const auto content = ReadTextFile(part, "a part");
  const auto withdrawal = SignWithdrawal(made.id, 1, SamplePair(KeyKind::kOwner, 10));
  Open().Withdraw(ParseWithdrawal(withdrawal, "w"), ReadTrustedOwners(folder_.path() / "o"), "w", 1);
  ASSERT_THAT(Parts(), IsEmpty());
  WriteSecretFile(part, content);
  const auto next = Open();
  EXPECT_THAT(Parts(), IsEmpty());
}

TEST_F(InboxTest, ForgetsAPartOfADepositThatCameByOtherMeansAndWasWithdrawn) {
  OpenInbox();
  const auto made = SampleDeposit(study_);
  (void)Begin("/deposits", made.files[1], 0, kPrefixBytes + 250);
  auto store = Open();
  EXPECT_FALSE(ReasonOf(store, Opened(made)));
  const auto content = SignWithdrawal(made.id, 1, SamplePair(KeyKind::kOwner, 10));
  store.Withdraw(ParseWithdrawal(content, "w"), SampleReader(study_, 1).owners, "w", 1);
  EXPECT_THAT(Parts(), IsEmpty());
}

TEST_F(InboxTest, GivesAReceiptForWhatCameByOtherMeans) {
  OpenInbox();
  const auto made = SampleDeposit(study_);
  auto store = Open();
  EXPECT_FALSE(ReasonOf(store, Opened(made)));
  EXPECT_EQ(OffsetIn(Status(made.files[1])), 0U) << "all of it is asked for";
  const auto answer = Post(made.files[1]);
  CheckReceipt(answer.body, made.id, 1, SampleFingerprint(), "answer");
  EXPECT_EQ(nlohmann::json::parse(answer.body).at("time"), 1'795'000'001U);
  EXPECT_EQ(Post(made.files[1]).body, answer.body);
}

TEST_F(InboxTest, GivesAReceiptByItsPresentCertificate) {
  OpenInbox();
  const auto made = SampleDeposit(study_);
  const auto before = Post(made.files[1]).body;
  const auto renewed = net::MakeIdentity("party-1");
  OpenInbox(1 << 20, renewed);
  EXPECT_EQ(OffsetIn(Status(made.files[1])), 0U) << "all of it is asked for";
  const auto answer = Post(made.files[1]);
  EXPECT_EQ(answer.status, 201U) << answer.body;
  CheckReceipt(answer.body, made.id, 1, net::Fingerprint(renewed.certificate_pem), "answer");
  EXPECT_EQ(nlohmann::json::parse(answer.body).at("time"), nlohmann::json::parse(before).at("time"));
  EXPECT_EQ(Post(made.files[1]).body, answer.body);
  EXPECT_EQ(Status(made.files[1]).body, answer.body);
  EXPECT_THAT(Open().List(), SizeIs(1));
}

TEST_F(InboxTest, LetsALaterUploadGoOn) {
  OpenInbox();
  const auto file = SampleDeposit(study_).files[1];
  const auto lost = Begin("/deposits", file, 0, kPrefixBytes + 100);
  EXPECT_EQ(Post(file, 100).status, 201U);
  EXPECT_EQ(lost.upload->Take(BytesOf(file).subspan(kPrefixBytes + 100, 10))->status, 409U);
  EXPECT_EQ(lost.upload->End().status, 409U);
}

TEST_F(InboxTest, TakesNothingForAnUploadThatIsNotAdmitted) {
  OpenInbox();
  const auto file = SampleDeposit(study_).files[1];
  const auto bytes = BytesOf(file);
  const auto begin = [&] {
    auto upload =
        inbox_->Open({.target = "/deposits", .body_bytes = file.size(), .offset = 0, .address = ""});
    EXPECT_FALSE(upload->Begin(bytes.first(kPrefixBytes)));
    return upload;
  };
  (void)begin();
  EXPECT_THAT(Parts(), IsEmpty());
  const auto under_way = Begin("/deposits", file, 0, kPrefixBytes + 250);
  (void)begin();
  EXPECT_EQ(OffsetIn(Status(file)), 250U) << "nothing is cut";
  EXPECT_FALSE(under_way.upload->Take(bytes.subspan(kPrefixBytes + 250)));
  EXPECT_EQ(under_way.upload->End().status, 201U) << "nor is it overtaken";
}

TEST_F(InboxTest, HasFourPlacesForAnOwner) {
  OpenInbox();
  Trust("clinic", 11);
  const auto file = SampleDeposit(study_).files[1];
  std::vector<Asked> uploads(4);
  for (auto& upload : uploads) upload = Begin("/deposits", file, 0, kPrefixBytes);
  for (const auto& upload : uploads) EXPECT_FALSE(upload.answer);
  EXPECT_EQ(Begin("/deposits", file, 0, kPrefixBytes).answer.value().status, 503U);
  EXPECT_EQ(Post(FileOfAnother(3, false, 11)).status, 201U) << "another owner";
  uploads.pop_back();
  EXPECT_EQ(Post(file).status, 201U);
  // What was taken before, and is only compared, has a place as well.
  uploads.push_back(Begin("/deposits", file, 0, kPrefixBytes));
  EXPECT_FALSE(uploads.back().answer);
  EXPECT_EQ(Begin("/deposits", file, 0, kPrefixBytes).answer.value().status, 503U);
}

TEST_F(InboxTest, AnswersAnOwnerSoOftenInAMinute) {
  OpenInbox();
  Trust("clinic", 12);
  const auto file = SampleDeposit(study_).files[1];
  for (int k = 0; k < 120; ++k) EXPECT_EQ(Status(file).status, 200U) << k;
  EXPECT_EQ(Status(file).status, 429U);
  EXPECT_EQ(Status(FileOfAnother(42, true, 12)).status, 200U) << "another owner";
}

TEST_F(InboxTest, KnowsANewOwnerWithoutARestart) {
  OpenInbox();
  const auto file = FileOfAnother(5, false, 12);
  EXPECT_EQ(CodeIn(Status(file)), "403 owner");
  Trust("clinic", 12);
  EXPECT_EQ(Status(file).status, 200U);
  std::filesystem::remove(folder_.path() / "o/clinic.pub");
  EXPECT_EQ(CodeIn(Status(file)), "403 owner");
}

TEST_F(InboxTest, KnowsAKeyThatIsReplacedInPlace) {
  OpenInbox();
  const auto owners = folder_.path() / "o";
  const auto before = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  const auto file = FileOfAnother(5, false, 12);
  std::filesystem::last_write_time(owners, before);
  EXPECT_EQ(CodeIn(Status(file)), "403 owner");
  std::ofstream(owners / "hospital.pub")
      << PublicKeyText(KeyKind::kOwner, SamplePair(KeyKind::kOwner, 12).known);
  std::filesystem::last_write_time(owners, before);  // as if it had not been touched, nor has it
  EXPECT_EQ(Status(file).status, 200U);
  EXPECT_EQ(CodeIn(Status(FileOfAnother(5, false))), "403 owner");
}

}  // namespace
}  // namespace trefoil::deposit
