#include "deposit/inbox/receipt.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trefoil::deposit {
namespace {

TEST(ReceiptTest, HoldsForOneDepositPartyAndCertificate) {
  const auto identity = net::MakeIdentity("party-1");
  const auto fingerprint = net::Fingerprint(identity.certificate_pem);
  Hash id{};
  id[3] = 9;
  const auto receipt = SignReceipt(id, 1, 1'795'000'000, identity);
  CheckReceipt(receipt, id, 1, fingerprint, "r");
  const auto check = [&](const std::string& text) { CheckReceipt(text, id, 1, fingerprint, "r"); };
  EXPECT_THROW(CheckReceipt(receipt, Hash{}, 1, fingerprint, "r"), DataError);
  EXPECT_THROW(CheckReceipt(receipt, id, 2, fingerprint, "r"), DataError);
  const auto other = net::MakeIdentity("party-1");
  EXPECT_THROW(CheckReceipt(receipt, id, 1, net::Fingerprint(other.certificate_pem), "r"), DataError);
  auto json = nlohmann::json::parse(receipt);
  json["time"] = 1'795'000'001;
  EXPECT_THROW(check(json.dump()), DataError);
  for (const double time : {1'795'000'000.0, -1e29}) {
    json["time"] = time;
    EXPECT_THROW(check(json.dump()), DataError) << "no whole number";
  }
  json = nlohmann::json::parse(SignReceipt(id, 1, 1'795'000'000, other));
  json["certificate"] = identity.certificate_pem;
  EXPECT_THROW(check(json.dump()), DataError);
  for (const char* text : {"", "{}", "[]", "no JSON", R"({"deposit": 1, "party": "1"})"}) {
    EXPECT_THROW(check(text), DataError) << text;
  }
  json["signature"] = "xyz";
  EXPECT_THROW(check(json.dump()), DataError);
  json["certificate"] = "none";
  EXPECT_THROW(check(json.dump()), DataError);
}

}  // namespace
}  // namespace trefoil::deposit
