#include "deposit/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sodium.h>
#include <sys/stat.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets/sha256.h"
#include "deposit/trusted_owners.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"

namespace trefoil::deposit {
namespace {

using testing::HasSubstr;
using testing_support::ErrorText;

SecretKey SecretOf(const std::string& hex) {
  SecretKey key;
  EXPECT_EQ(sodium_hex2bin(key.bytes().data(), SecretKey::kBytes, hex.data(), hex.size(), nullptr, nullptr,
                           nullptr),
            0);
  return key;
}

unsigned ModeOf(const std::filesystem::path& file) {
  struct stat status {};
  EXPECT_EQ(stat(file.c_str(), &status), 0);
  return status.st_mode & 07777U;
}

TEST(KeyPair, IsAsTheStandardsSay) {
  // RFC 7748, section 6.1: Alice. RFC 8032, section 7.1: test 2.
  const auto party =
      PairOf(KeyKind::kParty, SecretOf("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"));
  EXPECT_EQ(ToHex(party.known), "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
  const auto owner =
      PairOf(KeyKind::kOwner, SecretOf("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"));
  EXPECT_EQ(ToHex(owner.known), "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  const auto signature = Sign(owner, "\x72");
  EXPECT_EQ(ToHex(signature),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
  EXPECT_TRUE(Verify(owner.known, "\x72", signature));
  EXPECT_FALSE(Verify(owner.known, "\x73", signature));
  EXPECT_FALSE(Verify(MakeKeyPair(KeyKind::kOwner).known, "\x72", signature));
}

TEST(KeyPair, OfAnOwnerHasAFormToSealTo) {
  const auto owner = MakeKeyPair(KeyKind::kOwner);
  const auto sealing = SealingPairOf(owner);
  EXPECT_EQ(SealingKeyOf(owner.known), sealing.known);
  EXPECT_NE(sealing.known, owner.known);
  EXPECT_NE(SealingKeyOf(MakeKeyPair(KeyKind::kOwner).known), sealing.known);
  // Of order 8, and the owner's point with that one added: neither is in the prime-order group.
  const auto small = FromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05").value();
  EXPECT_FALSE(SealingKeyOf(small));
  PublicKey mixed{};
  ASSERT_EQ(crypto_core_ed25519_add(mixed.data(), owner.known.data(), small.data()), 0);
  EXPECT_FALSE(SealingKeyOf(mixed));
}

TEST(KeyPair, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  for (const auto kind : {KeyKind::kParty, KeyKind::kOwner}) {
    const auto pair = MakeKeyPair(kind);
    WriteKeyPair(kind, pair, folder.path() / "keys");
    const auto file = folder.path() / "keys" / NameOf(kind);
    EXPECT_EQ(ModeOf(file.string() + ".key"), 0600U);
    const auto again = ReadKeyPair(kind, file.string() + ".key");
    EXPECT_EQ(again.known, pair.known);
    EXPECT_EQ(ToHex(again.secret.bytes()), ToHex(pair.secret.bytes()));
    EXPECT_EQ(ReadPublicKey(kind, file.string() + ".pub"), pair.known);
    EXPECT_THAT(ErrorText<ConfigError>([&] { WriteKeyPair(kind, pair, folder.path() / "keys"); }),
                HasSubstr("exists already"));
    EXPECT_EQ(Fingerprint(kind, pair.known).size(), 32 * 3 - 1U);
  }
  const auto key = MakeKeyPair(KeyKind::kOwner).known;
  EXPECT_NE(Fingerprint(KeyKind::kOwner, key), Fingerprint(KeyKind::kParty, key)) << "what a key is for";
}

TEST(KeyPair, IsRefusedWhereItIsSomethingElse) {
  const TemporaryFolder folder;
  WriteKeyPair(KeyKind::kOwner, MakeKeyPair(KeyKind::kOwner), folder.path());
  const auto secret = folder.path() / "owner.key";
  const auto known = folder.path() / "owner.pub";
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadPublicKey(KeyKind::kOwner, secret); }),
              HasSubstr("found a private key"));
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadPublicKey(KeyKind::kParty, secret); }),
              HasSubstr("found a private key"));
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadPublicKey(KeyKind::kParty, known); }),
              HasSubstr("expected a party's deposit key, deposit.pub"));
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadKeyPair(KeyKind::kParty, secret); }),
              HasSubstr("expected a party's deposit key, deposit.key"));
  chmod(known.c_str(), 0644);
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadKeyPair(KeyKind::kOwner, known); }),
              HasSubstr("found a public key, expected an owner's signing key, owner.key"));
  chmod(secret.c_str(), 0640);
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadKeyPair(KeyKind::kOwner, secret); }),
              HasSubstr("found mode 0640"));

  const auto text = ReadTextFile(known, "a key");
  std::string upper = text;
  for (auto at = upper.find('\n'); at < upper.size(); ++at)
    upper[at] = upper[at] >= 'a' ? static_cast<char>(upper[at] - 32) : upper[at];
  for (const auto& bad : {std::string(), text + "\n", text.substr(1), text.substr(0, text.size() - 1),
                          text.substr(0, text.size() - 3) + "gg\n", upper}) {
    if (bad == text) continue;  // of a key without letters
    EXPECT_NE(
        ErrorText<ConfigError>([&] { (void)ReadPublicKey(KeyKind::kOwner, folder.Write("x.pub", bad)); }), "")
        << bad;
  }
}

TEST(TrustedOwners, HaveAnotherStateAfterAnyChange) {
  const TemporaryFolder folder;
  const auto owners = folder.path() / "owners";
  const auto now = std::time(nullptr);
  const auto later = now + 3600;
  EXPECT_FALSE(StateOfTrustedOwners(owners, later));
  WriteTrustedOwner(owners, {.name = "a", .key = MakeKeyPair(KeyKind::kOwner).known});
  EXPECT_FALSE(StateOfTrustedOwners(owners, now)) << "the clock may not have gone on";
  std::vector<std::string> states;
  const auto another = [&] {
    const auto state = StateOfTrustedOwners(owners, later);
    ASSERT_TRUE(state);
    EXPECT_EQ(state, StateOfTrustedOwners(owners, later));
    EXPECT_THAT(states, testing::Not(testing::Contains(*state)));
    states.push_back(*state);
  };
  another();
  const auto file = owners / "a.pub";
  const auto before = std::filesystem::last_write_time(file) - std::chrono::hours(1);
  std::filesystem::last_write_time(file, before);
  another();
  std::ofstream(file, std::ios::app) << "\n";
  std::filesystem::last_write_time(file, before);
  another();
  std::filesystem::copy_file(file, owners / "new");
  std::filesystem::last_write_time(owners / "new", before);
  std::filesystem::rename(owners / "new", file);
  another();
  std::filesystem::create_symlink("a.pub", owners / "b.pub");
  another();
  std::filesystem::remove(file);
  EXPECT_FALSE(StateOfTrustedOwners(owners, later)) << "a link to nothing";
}

TEST(TrustedOwners, AreThoseOfTheFolder) {
  const TemporaryFolder folder;
  const auto owners = folder.path() / "owners";
  EXPECT_TRUE(ReadTrustedOwners(owners).empty());
  const auto key = MakeKeyPair(KeyKind::kOwner).known;
  WriteTrustedOwner(owners, {.name = "b", .key = MakeKeyPair(KeyKind::kOwner).known});
  WriteTrustedOwner(owners, {.name = "a", .key = key});
  std::ofstream(owners / "README") << "no key";
  const auto found = ReadTrustedOwners(owners);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(found[0].key, key);
  EXPECT_EQ(found[1].name, "b");
  WriteTrustedOwner(owners, {.name = "c", .key = key});
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadTrustedOwners(owners); }),
              HasSubstr("c.pub: found the key of a"));
}

}  // namespace
}  // namespace trefoil::deposit
