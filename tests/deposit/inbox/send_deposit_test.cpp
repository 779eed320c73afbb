#include "deposit/inbox/send_deposit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "deposit/inbox/receipt.h"
#include "tests/deposit/inbox/inbox_fixture.h"
#include "tests/support/error_text.h"

namespace trefoil::deposit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::ErrorText;

constexpr SendPatience kNone{.attempts = 1, .pause = std::chrono::milliseconds(1)};

class SendDepositTest : public InboxTest {
 protected:
  SendDepositTest() {
    OpenInbox();
    Serve([this](const net::UploadHead& head) { return inbox_->Open(head); });
  }
  void Serve(std::function<std::unique_ptr<net::Upload>(const net::UploadHead&)> open) {
    server_.emplace(net::HttpsServerConfig{.host = "127.0.0.1",
                                           .port = 0,
                                           .identity = SampleIdentity(),
                                           .limits = {},
                                           .log = [](const std::string&) {},
                                           .open = std::move(open)});
    party_ = study_.parties[1];
    party_.inbox = "127.0.0.1:" + std::to_string(server_->port());
    party_.certificate = SampleFingerprint();
  }
  std::string Send(const std::string& file, const SendPatience& patience = kNone) {
    sent_.clear();
    return SendDeposit(
        folder_.Write("f", file), party_,
        [this](std::uint64_t sent, std::uint64_t total) { sent_.emplace_back(sent, total); }, patience);
  }

  std::optional<net::HttpsServer> server_;
  StudyParty party_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sent_;
};

TEST_F(SendDepositTest, BringsADepositAndItsReceipt) {
  const auto made = SampleDeposit(study_);
  const auto size = std::uint64_t{made.files[1].size()};
  const auto receipt = Send(made.files[1]);
  CheckReceipt(receipt, made.id, 1, SampleFingerprint(), "r");
  EXPECT_THAT(sent_, ElementsAre(std::pair(size, size)));
  EXPECT_EQ(Send(made.files[1]), receipt);
  EXPECT_THAT(sent_, testing::IsEmpty()) << "nothing is sent twice";
  EXPECT_EQ(Open().List().size(), 1U);
}

TEST_F(SendDepositTest, BelievesNoReceiptThatItFinds) {
  const auto made = SampleDeposit(study_);
  const auto file = folder_.Write("f", made.files[1]);
  const auto check = [&](const std::string& text, const std::filesystem::path& of) {
    CheckKeptReceipt(folder_.Write("r", text), of, party_);
  };
  const auto right = Send(made.files[1]);
  check(right, file);
  check(right, folder_.path() / "deleted");
  auto altered = nlohmann::json::parse(right);
  altered["time"] = altered["time"].get<std::uint64_t>() + 1;
  auto renamed = nlohmann::json::parse(right);
  renamed["deposit"] = ToHex(Hash{});
  const auto of_party_2 = SignReceipt(made.id, 2, 1, SampleIdentity());
  const auto of_another_key = SignReceipt(made.id, 1, 1, net::MakeIdentity("party-1"));
  for (const auto& of : {file, folder_.path() / "deleted"}) {
    for (const auto& text : {altered.dump(), renamed.dump(), of_party_2, of_another_key, std::string(),
                             std::string("[]"), std::string(R"({"deposit": "00"})")}) {
      EXPECT_THAT(ErrorText<DataError>([&] { check(text, of); }), HasSubstr("move it away")) << text;
    }
  }
  const auto of_another = SignReceipt(Hash{}, 1, 1, SampleIdentity());
  check(of_another, folder_.path() / "deleted");  // it is one, and nothing says of what else
  EXPECT_THROW(check(of_another, file), DataError);
}

TEST_F(SendDepositTest, GoesOnWhereItEnded) {
  const auto file = SampleDeposit(study_).files[1];
  std::atomic<std::uint64_t> offset{0};
  Serve([&](const net::UploadHead& head) {
    offset = head.offset;
    return inbox_->Open(head);
  });
  (void)Begin("/deposits", file, 0, kPrefixBytes + 300);
  (void)Send(file);
  EXPECT_EQ(offset, 300U);
  EXPECT_EQ(Open().List().size(), 1U);
}

TEST_F(SendDepositTest, BeginsAnewWhereTheInboxLostWhatItHad) {
  const auto file = SampleDeposit(study_).files[1];
  const SendPatience twice{.attempts = 2, .pause = std::chrono::milliseconds(1)};
  (void)Begin("/deposits", file, 0, kPrefixBytes + 250);
  Damage(kPrefixBytes + 100);
  EXPECT_THAT(Send(file, twice), HasSubstr("signature"));
  EXPECT_EQ(Open().List().size(), 1U);
}

TEST_F(SendDepositTest, SendsAFileThatIsDamagedNoMoreThanTwice) {
  std::atomic<int> uploads{0};
  Serve([&](const net::UploadHead& head) {
    if (head.target == "/deposits") ++uploads;
    return inbox_->Open(head);
  });
  auto altered = SampleDeposit(study_).files[1];
  altered.back() = static_cast<char>(altered.back() ^ 1);
  (void)Begin("/deposits", altered, 0, kPrefixBytes + 250);
  const SendPatience often{.attempts = 9, .pause = std::chrono::milliseconds(1)};
  EXPECT_THAT(ErrorText<DataError>([&] { (void)Send(altered, often); }), HasSubstr("status 422"));
  EXPECT_EQ(uploads, 2);
}

TEST_F(SendDepositTest, TriesAgainWhereAnInboxFails) {
  std::atomic<int> failing{0};  // which of the requests to come
  Serve([&](const net::UploadHead& head) -> std::unique_ptr<net::Upload> {
    if (failing-- == 0) throw std::runtime_error("planted");
    return inbox_->Open(head);
  });
  const auto made = SampleDeposit(study_);
  EXPECT_THAT(ErrorText<NetworkError>([&] { (void)Send(made.files[1]); }), HasSubstr("status 500"));
  failing = 1;  // the deposit, behind the status
  EXPECT_THROW((void)Send(made.files[1]), NetworkError);
  failing = 1;
  CheckReceipt(Send(made.files[1], {.attempts = 2, .pause = std::chrono::milliseconds(1)}), made.id, 1,
               SampleFingerprint(), "r");
}

TEST_F(SendDepositTest, SaysWhatTheInboxRefuses) {
  EXPECT_THAT(ErrorText<DataError>([&] { (void)Send(FileOfAnother(5, false, 12)); }),
              HasSubstr("status 403: refused (owner): found the owner's key"));
  (void)Send(SampleDeposit(study_).files[1]);
  EXPECT_THAT(ErrorText<DataError>([&] { (void)Send(FileOfAnother(6, false)); }),
              HasSubstr("status 409: refused (live)"));
}

TEST_F(SendDepositTest, SendsNothingToAnotherServer) {
  std::atomic<int> asked{0};
  Serve([&](const net::UploadHead&) -> std::unique_ptr<net::Upload> {
    ++asked;
    return {};
  });
  const auto file = SampleDeposit(study_).files[1];
  EXPECT_THAT(ErrorText<DataError>([&] { (void)Send(file); }), HasSubstr("status 404"));
  EXPECT_EQ(asked, 1);
  party_.certificate[0] = party_.certificate[0] == 'A' ? 'B' : 'A';
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)Send(file); }),
              HasSubstr("found a server with the certificate"));
  server_.reset();  // which ends its thread
  EXPECT_EQ(asked, 1);
}

TEST_F(SendDepositTest, WantsAPartysFileAndAnInboxThatIsThere) {
  const auto made = SampleDeposit(study_);
  EXPECT_THROW((void)Send(made.files[0]), ConfigError);
  EXPECT_THROW((void)Send("short"), ConfigError);
  server_.reset();
  EXPECT_THAT(ErrorText<NetworkError>([&] { (void)Send(made.files[1]); }), HasSubstr("party 1: 127.0.0.1:"));
  party_.inbox.clear();
  EXPECT_THROW((void)Send(made.files[1]), ConfigError);
}

}  // namespace
}  // namespace trefoil::deposit
