#include "deposit/format/sealed_body.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/error.h"
#include "deposit/format/bytes.h"

namespace trefoil::deposit {
namespace {

constexpr std::size_t kChunk = 65536;
constexpr std::size_t kTag = 17;
constexpr std::size_t kBegin = 32 + 24;

std::vector<std::uint8_t> BodyOf(std::size_t bytes) {
  std::vector<std::uint8_t> body(bytes);
  std::iota(body.begin(), body.end(), std::uint8_t{1});
  return body;
}

/// Whether it opens; then it must be that body.
bool Opens(const std::string& sealed, const KeyPair& key, std::string_view header,
           const std::vector<std::uint8_t>& body) {
  const auto opened = OpenBody(BytesOf(sealed), key, header);
  if (opened) {
    EXPECT_EQ(TextOf(opened->bytes()), TextOf(body));
  }
  return opened.has_value();
}

TEST(SealedBody, OpensForItsRecipientAlone) {
  const auto key = MakeKeyPair(KeyKind::kParty);
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{128}, kChunk - 1, kChunk, kChunk + 1, 3 * kChunk}) {
    const auto body = BodyOf(bytes);
    const auto sealed = SealBody(body, key.known, "header");
    EXPECT_EQ(sealed.size(), SealedBytes(bytes));
    EXPECT_EQ(sealed.size(), kBegin + bytes + kTag * ((bytes + kChunk - 1) / kChunk));
    EXPECT_TRUE(Opens(sealed, key, "header", body)) << bytes;
    EXPECT_FALSE(Opens(sealed, MakeKeyPair(KeyKind::kParty), "header", body));
    EXPECT_FALSE(Opens(sealed, key, "Header", body));
    EXPECT_FALSE(Opens(sealed, key, "", body));
    EXPECT_NE(sealed, SealBody(body, key.known, "header")) << "a fresh key each time";
  }
}

TEST(SealedBody, DoesNotOpenWhereItWasChanged) {
  const auto key = MakeKeyPair(KeyKind::kParty);
  const auto body = BodyOf(100);
  const auto sealed = SealBody(body, key.known, "header");
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    auto changed = sealed;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    EXPECT_FALSE(Opens(changed, key, "header", body)) << at;
  }
  for (std::size_t length = 0; length < sealed.size(); ++length)
    EXPECT_FALSE(Opens(sealed.substr(0, length), key, "header", body)) << length;
  EXPECT_FALSE(Opens(sealed + "x", key, "header", body));
}

TEST(SealedBody, DoesNotOpenWithChunksMissingRepeatedOrExchanged) {
  const auto key = MakeKeyPair(KeyKind::kParty);
  const auto body = BodyOf(3 * kChunk);
  const auto sealed = SealBody(body, key.known, "header");
  const auto begin = sealed.substr(0, kBegin);
  const auto chunk = [&](std::size_t k) {
    return sealed.substr(kBegin + k * (kChunk + kTag), kChunk + kTag);
  };
  ASSERT_TRUE(Opens(begin + chunk(0) + chunk(1) + chunk(2), key, "header", body));
  EXPECT_FALSE(Opens(begin + chunk(0) + chunk(1), key, "header", body)) << "without the last";
  EXPECT_FALSE(Opens(begin + chunk(0) + chunk(2), key, "header", body));
  EXPECT_FALSE(Opens(begin + chunk(1) + chunk(2), key, "header", body));
  EXPECT_FALSE(Opens(begin + chunk(1) + chunk(0) + chunk(2), key, "header", body));
  EXPECT_FALSE(Opens(begin + chunk(0) + chunk(1) + chunk(1) + chunk(2), key, "header", body));
}

TEST(SealedBody, IsNotMadeForAKeyThatSharesNoSecret) {
  EXPECT_THROW((void)SealBody(BodyOf(1), PublicKey{}, "header"), ConfigError);
}

}  // namespace
}  // namespace trefoil::deposit
