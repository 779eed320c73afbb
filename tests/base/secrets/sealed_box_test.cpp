#include "base/secrets/sealed_box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "tests/support/fixed_key.h"

namespace trefoil {
namespace {

using testing_support::FixedKey;

const std::vector<std::uint8_t> kSecret{1, 2, 3, 4, 5, 6, 7, 8};

TEST(SealedBox, OpensWithTheSameKeyAndHeaderOnly) {
  const auto sealed = Seal(FixedKey(1), "header", kSecret);
  EXPECT_EQ(sealed.size(), kSecret.size() + 40);
  EXPECT_EQ(Unseal(FixedKey(1), "header", sealed), kSecret);
  EXPECT_FALSE(Unseal(FixedKey(2), "header", sealed));
  EXPECT_FALSE(Unseal(FixedKey(1), "headex", sealed));
  EXPECT_FALSE(Unseal(FixedKey(1), "", sealed));
  EXPECT_EQ(Unseal(FixedKey(1), "", Seal(FixedKey(1), "", {})), std::vector<std::uint8_t>{});
}

TEST(SealedBox, NoticesEveryChangedBitAndAnyOtherLength) {
  const auto sealed = Seal(FixedKey(1), "header", kSecret);
  for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    auto changed = sealed;
    changed[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_FALSE(Unseal(FixedKey(1), "header", changed)) << bit;
  }
  for (std::size_t size = 0; size < sealed.size(); ++size)
    EXPECT_FALSE(Unseal(FixedKey(1), "header", std::span(sealed).first(size))) << size;
  auto longer = sealed;
  longer.push_back(0);
  EXPECT_FALSE(Unseal(FixedKey(1), "header", longer));
}

TEST(SealedBox, HidesTheSecretAnewEachTime) {
  const auto first = Seal(FixedKey(1), "header", kSecret);
  const auto second = Seal(FixedKey(1), "header", kSecret);
  EXPECT_NE(first, second);
  EXPECT_EQ(std::search(first.begin(), first.end(), kSecret.begin(), kSecret.end()), first.end());
}

TEST(DeriveKey, DependsOnSecretAndPurpose) {
  const std::vector<std::uint8_t> other{1, 2, 3, 4, 5, 6, 7, 9};
  const auto sealed = Seal(DeriveKey(kSecret, "model share"), "", kSecret);
  EXPECT_TRUE(Unseal(DeriveKey(kSecret, "model share"), "", sealed));
  EXPECT_FALSE(Unseal(DeriveKey(other, "model share"), "", sealed));
  EXPECT_FALSE(Unseal(DeriveKey(kSecret, "checkpoint"), "", sealed));
  EXPECT_THROW((void)DeriveKey(kSecret, ""), ContractError);
  EXPECT_THROW((void)DeriveKey(kSecret, std::string(65, 'x')), ContractError);
}

TEST(Wipe, OverwritesBytes) {
  auto bytes = kSecret;
  Wipe(std::span(bytes));
  EXPECT_EQ(bytes, std::vector<std::uint8_t>(kSecret.size()));
}

}  // namespace
}  // namespace trefoil
