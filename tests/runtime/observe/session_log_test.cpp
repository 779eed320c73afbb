#include "runtime/observe/session_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "runtime/ledger/ledger_file.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const AuditedSession kSession{
    .party = 1, .job = "first", .job_hash = "aa", .data = "dd", .fingerprints = {"F0", "F1", "F2"}};

/// A session with a release that ends well, and one that fails.
fs::path TwoSessions(const TemporaryFolder& folder) {
  const auto file = folder.path() / "audit.jsonl";
  AuditLog first(file, kSession);
  first.Connected("0123");
  first.ReleasedFile("model.npz", folder.Write("model.npz", "abc"));
  first.Released({{.name = "evaluation.correct", .value = 17.5}, {.name = "means", .sha256 = "ab"}});
  (void)first.Done();
  AuditLog second(file, kSession);
  (void)second.Failed(3, {.code = net::AbortCode::kPeerLost, .about = 2});
  return file;
}

std::vector<std::string> LinesOf(const fs::path& file) {
  std::istringstream stream(ReadTextFile(file, ""));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line + "\n");
  return lines;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line;
  return text;
}

std::string LogError(const fs::path& file) {
  return testing_support::ErrorText<DataError>([&] { (void)ReadAuditLog(file); });
}

TEST(SessionsMetAs, SaysWhatBeganTheSessionsOfThatId) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "audit.jsonl";
  auto session = kSession;
  AuditLog(file, session).Connected("0123");
  session.party = 2;
  session.data = "";
  AuditLog(file, session).Connected("0123");
  AuditLog(file, kSession).Connected("4567");
  const auto found = SessionsMetAs(file, "0123");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].party, 1);
  EXPECT_EQ(found[0].job_hash, "aa");
  EXPECT_EQ(found[0].data, "dd");
  EXPECT_EQ(found[0].fingerprints[1], "F1");
  EXPECT_EQ(found[1].party, 2);
  EXPECT_EQ(found[1].data, "");
  EXPECT_TRUE(SessionsMetAs(file, "89ab").empty());
}

TEST(AuditLog, SaysWhoTookPartInWhatWithWhichDataAndWhatWasReleased) {
  const TemporaryFolder folder;
  const auto file = TwoSessions(folder);
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);

  std::vector<nlohmann::json> entries;
  for (const auto& line : LinesOf(file)) entries.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(entries.size(), 8U);
  EXPECT_EQ(entries[0]["kind"], "session");
  EXPECT_EQ(entries[0]["party"], 1);
  EXPECT_EQ(entries[0]["job"], "first");
  EXPECT_EQ(entries[0]["job_hash"], "aa");
  EXPECT_EQ(entries[0]["data"], "dd");
  EXPECT_EQ(entries[0]["certificates"], nlohmann::json::array({"F0", "F1", "F2"}));
  EXPECT_EQ(entries[1]["id"], "0123");
  // FIPS 180-4's example.
  EXPECT_EQ(entries[2]["sha256"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(entries[3]["value"], 17.5);
  EXPECT_EQ(entries[4]["sha256"], "ab");
  EXPECT_EQ(entries[5]["outcome"], "done");
  EXPECT_EQ(entries[7]["reason"], "peer lost");
  EXPECT_EQ(entries[7]["exit_code"], 3);
  EXPECT_EQ(entries[7]["party"], 2);
  EXPECT_NE(entries[0]["session"], entries[6]["session"]);
  EXPECT_EQ(entries[0]["session"], entries[5]["session"]);

  const auto view = ReadAuditLog(file);
  EXPECT_EQ(view.lines, 8U);
  EXPECT_EQ(view.sessions, 2U);
  EXPECT_EQ(view.releases, 3U);
  EXPECT_EQ(view.open, 0U);
  EXPECT_EQ(view.head, entries[7]["hash"]);
}

TEST(AuditLog, SaltsTheHashOfASecretFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "audit.jsonl";
  AuditLog log(file, kSession);
  log.ReleasedSecretFile("predictions.csv", folder.Write("predictions.csv", "abc"), std::string(64, '5'));
  (void)log.Done();
  const auto entry = nlohmann::json::parse(LinesOf(file).at(1));
  // sha256sum of 64 times 5 and, behind them, of the digits of FIPS 180-4's example.
  EXPECT_EQ(entry["salted_sha256"], "223692c42beff106c7c8feee8df3b8b927e9b680b49248f0dec82748075b75ac");
  EXPECT_FALSE(entry.contains("sha256"));
  EXPECT_EQ(ReadAuditLog(file).releases, 1U);
}

TEST(AuditLog, EndsASessionOnceWhicheverThreadIsFirst) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "audit.jsonl";
  AuditLog log(file, kSession);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread)
      threads.emplace_back([&] { (void)log.Failed(3, {.code = net::AbortCode::kRankLost}); });
  }
  (void)log.Done();
  EXPECT_EQ(LinesOf(file).size(), 2U);
  EXPECT_EQ(ReadAuditLog(file).open, 0U);
}

TEST(AuditLog, TakesSessionsAtTheSameTime) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "audit.jsonl";
  AuditLog one(file, kSession);
  AuditLog other(file, kSession);
  one.Connected("01");
  other.Connected("02");
  (void)one.Done();
  EXPECT_EQ(ReadAuditLog(file).open, 1U);
  (void)other.Done();
  EXPECT_EQ(ReadAuditLog(file).open, 0U);
}

TEST(AuditLog, ShowsEveryChangedExchangedMissingAndAddedLine) {
  const TemporaryFolder folder;
  const auto file = TwoSessions(folder);
  const auto lines = LinesOf(file);
  const auto refused = [&](const std::vector<std::string>& changed) {
    return LogError(folder.Write("changed.jsonl", Joined(changed)));
  };
  EXPECT_EQ(refused(lines), "");
  for (std::size_t k = 0; k < lines.size(); ++k) {
    auto damaged = lines;
    damaged[k][lines[k].find("kind") + 8] ^= 1;
    EXPECT_THAT(refused(damaged), HasSubstr("changed.jsonl: line " + std::to_string(k + 1) + ": found "))
        << k;
    if (k + 1 == lines.size()) continue;
    auto exchanged = lines;
    std::swap(exchanged[k], exchanged[k + 1]);
    EXPECT_NE(refused(exchanged), "") << k;
    auto missing = lines;
    missing.erase(missing.begin() + static_cast<std::ptrdiff_t>(k));
    EXPECT_NE(refused(missing), "") << k;
    auto twice = lines;
    twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(k), lines[k]);
    EXPECT_NE(refused(twice), "") << k;
  }
}

TEST(AuditLog, ShowsASessionWhoseEndWasCutOff) {
  const TemporaryFolder folder;
  auto lines = LinesOf(TwoSessions(folder));
  lines.pop_back();
  EXPECT_EQ(ReadAuditLog(folder.Write("cut.jsonl", Joined(lines))).open, 1U);
  const auto torn = ReadAuditLog(folder.Write("torn.jsonl", Joined(lines) + "{\"exit_code\""));
  EXPECT_EQ(torn.open, 1U);
  EXPECT_EQ(torn.torn, 12U);
}

// Whoever can write to the file can chain entries; not every chain is an account of sessions.
TEST(AuditLog, RefusesChainsThatAreNoAccountOfSessions) {
  const TemporaryFolder folder;
  const nlohmann::json begin{{"kind", "session"}, {"version", 1}, {"session", "a"}, {"time", "t"}};
  const auto with = [](const char* kind, const char* session) {
    return nlohmann::json{{"kind", kind}, {"session", session}, {"time", "t"}};
  };
  const auto refused = [&](const std::vector<nlohmann::json>& entries) {
    const auto file = folder.path() / "chain.jsonl";
    fs::remove(file);
    {
      ChainFile chain(file, ChainFile::Access::kAppend, "a chain");
      for (const auto& entry : entries) chain.Append(entry);
    }
    return LogError(file);
  };
  EXPECT_EQ(refused({begin, with("release", "a"), with("end", "a")}), "");
  EXPECT_THAT(refused({with("release", "a")}), HasSubstr("line 1: found an entry of no session"));
  EXPECT_THAT(refused({begin, with("end", "a"), with("release", "a")}), HasSubstr("line 3: found an entry"));
  EXPECT_THAT(refused({begin, begin}), HasSubstr("line 2: found a session twice"));
  EXPECT_THAT(refused({begin, with("nonsense", "a")}), HasSubstr("line 2: found the kind"));
  EXPECT_THAT(refused({{{"kind", "session"}, {"session", "a"}, {"time", "t"}}}),
              HasSubstr("another version"));
  EXPECT_THAT(refused({{{"x", 1}}}), HasSubstr("found no kind, session or time"));
}

TEST(IsAuditLog, TellsItFromALedger) {
  const TemporaryFolder folder;
  EXPECT_TRUE(IsAuditLog(TwoSessions(folder)));
  {
    LedgerFile ledger(folder.path() / "ledger.jsonl");
    (void)ledger.Reserve({.data = std::string(64, 'd'),
                          .name = "n",
                          .record = {.job_hash = "aa", .run_id = "01", .events = {}},
                          .epsilon_cap = 10,
                          .delta = 1e-5});
  }
  EXPECT_FALSE(IsAuditLog(folder.path() / "ledger.jsonl"));
  EXPECT_FALSE(IsAuditLog(folder.path() / "nowhere"));
  EXPECT_FALSE(IsAuditLog(folder.path()));
}

}  // namespace
}  // namespace trefoil::runtime
