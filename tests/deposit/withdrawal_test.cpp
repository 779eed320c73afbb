#include "deposit/withdrawal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "deposit/refusal.h"
#include "tests/deposit/sample_study.h"

namespace trefoil::deposit {
namespace {

std::optional<Reason> ReasonOfWithdrawal(const std::string& content) {
  try {
    (void)ParseWithdrawal(content, "x.withdrawal");
  } catch (const RefusedDeposit& refused) {
    EXPECT_THAT(refused.what(), testing::StartsWith("x.withdrawal: refused ("));
    return refused.reason();
  }
  return {};
}

std::string SampleWithdrawal() {
  Hash id{};
  id[0] = 7;
  return SignWithdrawal(id, 1'795'000'000, SamplePair(KeyKind::kOwner, 10));
}

TEST(WithdrawalTest, SaysWhatItsOwnerSigned) {
  const auto content = SampleWithdrawal();
  ASSERT_EQ(content.size(), kWithdrawalBytes);
  const auto withdrawal = ParseWithdrawal(content, "x");
  EXPECT_EQ(withdrawal.deposit[0], 7);
  EXPECT_EQ(withdrawal.owner, SamplePair(KeyKind::kOwner, 10).known);
  EXPECT_EQ(withdrawal.time, 1'795'000'000U);
  EXPECT_EQ(withdrawal.content, content);
}

TEST(WithdrawalTest, RefusesEachBitThatIsNotTheOwners) {
  const auto content = SampleWithdrawal();
  for (std::size_t at = 0; at < content.size(); ++at) {
    auto changed = content;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const auto expected = at < 19 ? Reason::kMagic : at < 23 ? Reason::kVersion : Reason::kSignature;
    EXPECT_EQ(ReasonOfWithdrawal(changed), expected) << at;
  }
}

TEST(WithdrawalTest, RefusesEachOtherLength) {
  const auto content = SampleWithdrawal();
  for (std::size_t length = 0; length < content.size(); ++length)
    EXPECT_EQ(ReasonOfWithdrawal(content.substr(0, length)), length < 19 ? Reason::kMagic : Reason::kSize);
  EXPECT_EQ(ReasonOfWithdrawal(content + "x"), Reason::kSize);
}

}  // namespace
}  // namespace trefoil::deposit
