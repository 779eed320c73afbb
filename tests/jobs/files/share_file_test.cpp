#include "jobs/files/share_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets/sha256.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/files/share_codec.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/kept_job.h"
#include "tests/support/error_text.h"
#include "tests/support/faults/file_calls.h"
#include "tests/support/fixed_key.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;
using testing_support::FixedKey;
using testing_support::TakeFileCalls;

constexpr mpc::Word kMarker = 0x0123456789ABCDEF;

ShareFile SomeShare(const TemporaryFolder& folder) {
  ShareFile share{.party = 1,
                  .schema = ModelSchemaOf(ReadDpsgdSettings(folder.Write("job.toml", kKeptJob))),
                  .record = {},
                  .weights = {}};
  share.record = {
      .job_hash = Sha256Hex(share.schema.json), .run_id = "ab12", .events = {dp::NoisyEvaluation{2, 3}}};
  share.session = "cd34";
  mpc::RingMatrix own = mpc::RingMatrix::Constant(5, 3, kMarker);
  mpc::RingMatrix next = mpc::RingMatrix::Constant(5, 3, 7);
  next(4, 2) = ~mpc::Word{0};
  share.weights = {mpc::ArithShare(own, next), 16};
  return share;
}

std::string ShareError(const fs::path& file, int party, const SecretKey& key) {
  return testing_support::ErrorText<DataError>([&] { (void)LoadShare(file, party, key); });
}

TEST(ShareFile, ReadsBackWhatItWroteAndIsSealedToItsOwner) {
  const TemporaryFolder folder;
  const auto share = SomeShare(folder);
  const auto file = folder.path() / "model.share";
  (void)TakeFileCalls();
  SaveShare(file, share, FixedKey(1));
  EXPECT_THAT(TakeFileCalls(),
              testing::ElementsAre("fsync model.share", "fsync " + folder.path().filename().string()));
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  const auto text = ReadTextFile(file, "");
  const std::string marker(reinterpret_cast<const char*>(&kMarker), sizeof kMarker);
  EXPECT_EQ(text.find(marker), std::string::npos);

  const auto again = LoadShare(file, 1, FixedKey(1));
  EXPECT_EQ(again.schema.json, share.schema.json);
  EXPECT_EQ(again.record.run_id, "ab12");
  EXPECT_EQ(again.record.events.size(), 1U);
  EXPECT_EQ(again.session, "cd34");
  EXPECT_EQ(again.weights.frac_bits(), 16);
  EXPECT_TRUE((again.weights.ring().own() == share.weights.ring().own()).all());
  EXPECT_TRUE((again.weights.ring().next() == share.weights.ring().next()).all());
  EXPECT_THROW(SaveShare(file, share, FixedKey(1)), ConfigError);  // nothing is overwritten
}

// A file of version 1 as it was written: without a session, under its own first line.
TEST(ShareFile, ReadsOlderOnesWithoutASession) {
  const TemporaryFolder folder;
  const auto share = SomeShare(folder);
  const nlohmann::json header{
      {"party", share.party}, {"job", share.schema.json}, {"record", dp::ToJson(share.record)}};
  auto older = kModelShare;
  older.magic = "trefoil model share 1\n";
  std::vector<std::uint8_t> words(ShareBytes({.inputs = 5, .outputs = 3}));
  (void)PutShare(words, share.weights.ring());
  const auto file = folder.path() / "model.share";
  WriteSecretFile(file, SealFile(older, header, words, FixedKey(1)));
  const auto again = LoadShare(file, 1, FixedKey(1));
  EXPECT_EQ(again.session, "");
  EXPECT_EQ(again.record.run_id, "ab12");
  EXPECT_TRUE((again.weights.ring().own() == share.weights.ring().own()).all());

  auto newer = kModelShare;
  newer.magic = "trefoil model share 3\n";
  const auto unknown = folder.path() / "newer.share";
  WriteSecretFile(unknown, SealFile(newer, header, words, FixedKey(1)));
  EXPECT_NE(ShareError(unknown, 1, FixedKey(1)).find("found another file"), std::string::npos);
  auto nameless = share;
  nameless.session.clear();
  EXPECT_THROW(SaveShare(folder.path() / "none.share", nameless, FixedKey(1)), ContractError);
}

TEST(ShareFile, RefusesForeignOnes) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "model.share";
  SaveShare(file, SomeShare(folder), FixedKey(1));
  EXPECT_EQ(ShareError(file, 2, FixedKey(1)), file.string() + ": found party 1's share, expected party 2's");
  EXPECT_EQ(
      ShareError(file, 1, FixedKey(2)),
      file.string() +
          ": cannot be opened: it was changed, or this party's storage key is not the one that sealed it");
  fs::permissions(file, fs::perms::group_read, fs::perm_options::add);
  EXPECT_THROW((void)LoadShare(file, 1, FixedKey(1)), ConfigError);
  const auto other = folder.path() / "other";
  WriteSecretFile(other, "a text");
  EXPECT_NE(ShareError(other, 1, FixedKey(1)).find("found another file"), std::string::npos);
  EXPECT_THROW((void)LoadShare(folder.path() / "none", 1, FixedKey(1)), ConfigError);
}

TEST(ShareFile, RefusesAnyChange) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "model.share";
  SaveShare(file, SomeShare(folder), FixedKey(1));
  const auto text = ReadTextFile(file, "");
  const auto changed = folder.path() / "changed";
  const auto refused = [&](const std::string& content) {
    fs::remove(changed);
    WriteSecretFile(changed, content);
    return !ShareError(changed, 1, FixedKey(1)).empty();
  };
  EXPECT_FALSE(refused(text));
  for (std::size_t at = 0; at < text.size(); at += 3) {
    auto flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    EXPECT_TRUE(refused(flipped)) << at;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{25}, std::size_t{60}, text.size() - 1})
    EXPECT_TRUE(refused(text.substr(0, size))) << size;
  EXPECT_TRUE(refused(text + "x"));
}

TEST(StorageKey, ComesFromTheNamedFileOrTheTlsKey) {
  const TemporaryFolder folder;
  PartyFile party;
  party.private_key = folder.path() / "party.key";
  WriteSecretFile(party.private_key, std::string(200, 'k'));
  const auto file = folder.path() / "model.share";
  SaveShare(file, SomeShare(folder), StorageKey(party, kModelShare));
  EXPECT_EQ(LoadShare(file, 1, StorageKey(party, kModelShare)).record.run_id, "ab12");
  party.storage_key = folder.path() / "old.key";
  EXPECT_THROW((void)StorageKey(party, kModelShare), ConfigError);  // not there
  WriteSecretFile(party.storage_key, std::string(200, 'o'));
  EXPECT_NE(ShareError(file, 1, StorageKey(party, kModelShare)), "");
  fs::remove(party.storage_key);
  WriteSecretFile(party.storage_key, "short");
  EXPECT_THROW((void)StorageKey(party, kModelShare), ConfigError);
  fs::permissions(party.private_key, fs::perms::others_read, fs::perm_options::add);
  party.storage_key.clear();
  EXPECT_THROW((void)StorageKey(party, kModelShare), ConfigError);
}

}  // namespace
}  // namespace trefoil::jobs
