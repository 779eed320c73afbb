#include "mpc/prss.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <cstring>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/local_transport.h"
#include "tests/support/run_parties.h"

namespace trefoil::mpc {
namespace {

using testing_support::InsecureKey;
using testing_support::InsecurePrss;
using testing_support::Seed;
using Words = std::vector<Word>;

Words Stream(Prss& prss, int component, Purpose purpose = Purpose::kMask, OperationId operation = 7,
             std::size_t count = 9) {
  Words out(count, 42);
  prss.Fill(component, purpose, operation, out);
  return out;
}

TEST(Prss, GivesBothHoldersOfAComponentTheSameStream) {
  for (int component = 0; component < 3; ++component) {
    Prss own = InsecurePrss(Seed{1}, component);
    Prss before = InsecurePrss(Seed{1}, (component + 2) % 3);
    EXPECT_EQ(Stream(own, component), Stream(before, component));
  }
}

TEST(Prss, HasATwinWithTheSameStreams) {
  Prss prss = InsecurePrss(Seed{1}, 1);
  Prss twin = prss.Twin();
  for (const int component : {1, 2}) EXPECT_EQ(Stream(prss, component), Stream(twin, component));
}

TEST(Prss, GivesOtherStreamsToOtherComponentsPurposesOperationsAndKeys) {
  Prss prss = InsecurePrss(Seed{1}, 2);
  Prss other = InsecurePrss(Seed{2}, 2);
  std::vector<Words> streams{Stream(prss, 2), Stream(prss, 0), Stream(other, 2)};
  for (const Purpose purpose : {Purpose::kInput, Purpose::kZero, Purpose::kDeal, Purpose::kReshare}) {
    streams.push_back(Stream(prss, 2, purpose));
  }
  for (int byte = 0; byte < 8; ++byte)
    streams.push_back(Stream(prss, 2, Purpose::kMask, OperationId{9} << (8 * byte)));
  for (std::size_t i = 0; i < streams.size(); ++i) {
    for (std::size_t j = i + 1; j < streams.size(); ++j)
      EXPECT_NE(streams[i], streams[j]) << i << " and " << j;
  }
}

TEST(Prss, StartsAStreamAnewWithEachCall) {
  Prss prss = InsecurePrss(Seed{1}, 0);
  const Words all = Stream(prss, 0);
  const Words first = Stream(prss, 0, Purpose::kMask, 7, 3);
  EXPECT_EQ(first, Words(all.begin(), all.begin() + 3));
  EXPECT_TRUE(Stream(prss, 0, Purpose::kMask, 7, 0).empty());
}

TEST(Prss, ContinuesAStreamThatItBegan) {
  Prss prss = InsecurePrss(Seed{1}, 0);
  const Words all = Stream(prss, 0, Purpose::kMask, 7, 5000);
  Words parts(5000);
  const std::span<Word> out(parts);
  prss.Start(0, Purpose::kMask, 7);
  prss.Continue(0, out.first(3));
  (void)Stream(prss, 1);  // the other component's does not disturb it
  prss.Continue(0, out.subspan(3, 2049));
  prss.Continue(0, out.subspan(2052));
  EXPECT_EQ(parts, all);
  EXPECT_THROW(prss.Continue(2, out), ContractError);
}

TEST(Prss, GivesTheSameStreamInWordsOfHalfTheBytes) {
  Prss prss = InsecurePrss(Seed{1}, 1);
  for (const int component : {1, 2}) {
    const Words words = Stream(prss, component);
    std::vector<HalfWord> halves(2 * words.size() - 1, 42);
    prss.FillHalves(component, Purpose::kMask, 7, halves);
    EXPECT_EQ(std::memcmp(halves.data(), words.data(), halves.size() * sizeof(HalfWord)), 0);
  }
  std::vector<HalfWord> halves(3);
  EXPECT_THROW(prss.FillHalves(0, Purpose::kMask, 7, halves), ContractError);
}

// Of lengths around what is put together at a time.
TEST(Prss, GivesTheDifferenceOfBothStreamsAsAPartOfZero) {
  Prss prss = InsecurePrss(Seed{1}, 2);
  for (const std::size_t count : {0U, 1U, 7U, 1023U, 1024U, 1025U, 5000U}) {
    const Words own = Stream(prss, 2, Purpose::kZero, 9, count);
    const Words next = Stream(prss, 0, Purpose::kZero, 9, count);
    Words zero(count, 42);
    Words bits(count, 42);
    prss.FillZero(9, zero);
    prss.FillZeroBits(9, bits);
    for (std::size_t k = 0; k < count; ++k) {
      ASSERT_EQ(zero[k], own[k] - next[k]) << "word " << k << " of " << count;
      ASSERT_EQ(bits[k], own[k] ^ next[k]) << "word " << k << " of " << count;
    }
  }
}

TEST(Prss, RefusesTheComponentThatThePartyDoesNotHold) {
  for (int self = 0; self < 3; ++self) {
    Prss prss = InsecurePrss(Seed{1}, self);
    EXPECT_THROW((void)Stream(prss, (self + 2) % 3), ContractError);
  }
}

/// AES-128 of one block under the first 16 bytes of the key.
std::array<unsigned char, 16> EncryptedBlock(const SecretKey& key,
                                             const std::array<unsigned char, 16>& block) {
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                EVP_CIPHER_CTX_free);
  std::array<unsigned char, 32> out{};
  int written = 0;
  EXPECT_EQ(EVP_EncryptInit_ex(context.get(), EVP_aes_128_ecb(), nullptr, key.bytes().data(), nullptr), 1);
  EXPECT_EQ(EVP_EncryptUpdate(context.get(), out.data(), &written, block.data(), 16), 1);
  EXPECT_EQ(written, 16);
  std::array<unsigned char, 16> encrypted{};
  std::copy_n(out.begin(), 16, encrypted.begin());
  return encrypted;
}

TEST(Prss, IsAesOfPurposeOperationAndCounter) {
  const SecretKey key = InsecureKey(Seed{3}, 1);
  Prss prss = InsecurePrss(Seed{3}, 1);
  constexpr std::size_t kBlocks = 300;  // beyond the counter's last byte
  const Words stream = Stream(prss, 1, Purpose::kReshare, 0x0807060504030201, 2 * kBlocks);
  for (std::size_t counter = 0; counter < kBlocks; ++counter) {
    // purpose | operation, lowest byte first | counter, highest byte first
    const auto encrypted =
        EncryptedBlock(key, {5, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0,
                             static_cast<unsigned char>(counter >> 8), static_cast<unsigned char>(counter)});
    ASSERT_EQ(std::memcmp(encrypted.data(), &stream[2 * counter], encrypted.size()), 0)
        << "block " << counter;
  }
}

/// The streams that each party gets for its two components, after an agreement over local links.
using Agreed = std::array<std::array<Words, 2>, 3>;

TEST(Prss, GivesAllPartiesTheSameHashKeyAndOthersToOtherOperationsAndSessions) {
  const HashKey key = InsecurePrss(Seed{1}, 0).HashKeyOf(7);
  Prss third = InsecurePrss(Seed{1}, 2);
  EXPECT_EQ(InsecurePrss(Seed{1}, 1).HashKeyOf(7), key);
  EXPECT_EQ(third.Twin().HashKeyOf(7), key);
  std::set<HashKey> keys{key, InsecurePrss(Seed{2}, 0).HashKeyOf(7)};
  for (int byte = 0; byte < 8; ++byte) keys.insert(third.HashKeyOf(OperationId{9} << (8 * byte)));
  EXPECT_EQ(keys.size(), 10U);
}

Agreed RunAgreement(std::array<HashKey, 3>& hash_keys,
                    const std::array<std::string, 3>& sessions = {"ab", "ab", "ab"}) {
  auto transports = net::MakeLocalTransports(std::chrono::seconds(30));
  std::array<std::future<std::array<Words, 2>>, 3> parties;
  for (std::size_t self = 0; self < 3; ++self) {
    parties[self] = std::async(std::launch::async, [&transport = *transports[self],
                                                    &hash_key = hash_keys[self], &session = sessions[self]] {
      Prss prss = AgreeOnKeys(transport, session);
      EXPECT_EQ(transport.counters().bytes_sent, 64U);
      EXPECT_EQ(transport.counters().rounds, 1U);
      hash_key = prss.HashKeyOf(3);
      return std::array<Words, 2>{Stream(prss, transport.self()), Stream(prss, (transport.self() + 1) % 3)};
    });
  }
  return {parties[0].get(), parties[1].get(), parties[2].get()};
}

TEST(AgreeOnKeys, GivesMatchingKeysToTheHoldersAndOtherKeysEachTime) {
  std::array<std::array<HashKey, 3>, 2> hash_keys{};
  const Agreed first = RunAgreement(hash_keys[0]);
  const Agreed second = RunAgreement(hash_keys[1]);
  for (const auto& of_session : hash_keys) {
    for (const HashKey& key : of_session) EXPECT_EQ(key, of_session[0]);
  }
  EXPECT_NE(hash_keys[0][0], hash_keys[1][0]);
  for (std::size_t component = 0; component < 3; ++component) {
    EXPECT_EQ(first[component][0], first[(component + 2) % 3][1]);
    EXPECT_NE(first[component][0], first[component][1]);
    EXPECT_NE(first[component][0], second[component][0]);
  }
}

TEST(AgreeOnKeys, BindsKeysToTheSession) {
  std::array<HashKey, 3> hash_keys{};
  const Agreed agreed = RunAgreement(hash_keys, {"ab", "ac", "ac"});
  EXPECT_NE(agreed[0][0], agreed[2][1]);  // component 0
  EXPECT_NE(agreed[1][0], agreed[0][1]);
  EXPECT_EQ(agreed[2][0], agreed[1][1]);
}

TEST(AgreeOnKeys, RefusesAPublicKeyOfZeros) {
  auto transports = net::MakeLocalTransports(std::chrono::seconds(30));
  transports[1]->Send(0, net::Bytes(32));
  transports[2]->Send(0, net::Bytes(32));
  EXPECT_THROW((void)AgreeOnKeys(*transports[0], "ab"), ProtocolError);
}

TEST(AgreeOnKeys, RefusesAPublicKeyOfAnotherLength) {
  auto transports = net::MakeLocalTransports(std::chrono::seconds(30));
  transports[1]->Send(0, net::Bytes(31));
  transports[2]->Send(0, net::Bytes(33));
  EXPECT_THROW((void)AgreeOnKeys(*transports[0], "ab"), ProtocolError);
}

}  // namespace
}  // namespace trefoil::mpc
