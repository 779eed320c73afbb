#include "jobs/config/party_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "jobs/config/fields.h"
#include "jobs/job.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/edit_case.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

constexpr const char* kParty = R"([party]
id = 0
listen = "0.0.0.0:7700"
advertise = "a.example.org:7700"
[[peer]]
id = 2
address = "c.example.org:7702"
certificate = "peers/party-2.crt"
[[peer]]
id = 1
address = "[::1]:7701"
certificate = "peers/party-1.crt"
[tls]
certificate = "party.crt"
private_key = "/keys/party.key"
[data]
x = "data/images"
y = "data/labels"
[timeouts]
start = "2m"
peer = "500ms"
)";

TEST(PartyFile, ReadsEveryKey) {
  const TemporaryFolder folder;
  const auto party = ReadParty(folder.Write("party.toml", kParty));
  EXPECT_EQ(party.id, 0);
  EXPECT_EQ(ToText(party.listen), "0.0.0.0:7700");
  EXPECT_EQ(ToText(party.advertise), "a.example.org:7700");
  EXPECT_EQ(party.peers[0].id, 1);
  EXPECT_EQ(ToText(party.peers[0].address), "[::1]:7701");
  EXPECT_EQ(party.peers[1].id, 2);
  EXPECT_EQ(party.peers[1].certificate, folder.path() / "peers/party-2.crt");
  EXPECT_EQ(party.private_key, "/keys/party.key");
  EXPECT_EQ(party.data.x, folder.path() / "data/images");
  EXPECT_TRUE(party.data.file.empty());
  EXPECT_EQ(party.start_timeout, std::chrono::seconds(120));
  EXPECT_EQ(party.peer_timeout, std::chrono::milliseconds(500));
  EXPECT_EQ(party.handshake_timeout, std::chrono::seconds(10));
  EXPECT_FALSE(party.metrics);
  EXPECT_FALSE(party.ledger);
}

TEST(PartyFile, ReadsWhereMetricsAreServed) {
  const TemporaryFolder folder;
  const auto party =
      ReadParty(folder.Write("party.toml", std::string(kParty) + "[metrics]\nlisten = \"127.0.0.1:9100\"\n"));
  ASSERT_TRUE(party.metrics);
  EXPECT_EQ(ToText(party.metrics->listen), "127.0.0.1:9100");
  EXPECT_FALSE(party.metrics->exposed);
  EXPECT_NE(PartyToml(party).find("[metrics]\nlisten = \"127.0.0.1:9100\"\n"), std::string::npos);
  for (const char* address : {"0.0.0.0:9100", "localhost:9100", "10.0.0.1:9100", "[::]:9100"}) {
    const auto open = std::string(kParty) + "[metrics]\nlisten = \"" + address + "\"\n";
    EXPECT_THROW((void)ReadParty(folder.Write("open.toml", open)), ConfigError) << address;
    const bool name = std::string(address).starts_with("localhost");
    const auto exposed = folder.Write("exposed.toml", open + "exposed = true\n");
    if (name) {
      EXPECT_THROW((void)ReadParty(exposed), ConfigError);
    } else {
      EXPECT_EQ(ToText(ReadParty(exposed).metrics->listen), address);
    }
  }
}

TEST(PartyFile, RefusesOneFileForTwoLedgers) {
  const TemporaryFolder folder;
  const auto with = [&](const std::string& file) {
    const std::string kept = "epsilon_cap = 1.0\ndelta = 1e-5\n";
    return folder.Write("party.toml", kParty + ("[ledger]\nfile = \"l.jsonl\"\n" + kept) +
                                          "[evaluation_ledger]\nfile = \"" + file + "\"\n" + kept);
  };
  EXPECT_EQ(ReadParty(with("tests.jsonl")).evaluation_ledger->file, folder.path() / "tests.jsonl");
  for (const auto& same :
       {std::string("l.jsonl"), std::string("peers/../l.jsonl"), (folder.path() / "l.jsonl").string()}) {
    EXPECT_THAT(testing_support::ErrorText<ConfigError>([&] { (void)ReadParty(with(same)); }),
                testing::HasSubstr("expected another file than that of [ledger]"))
        << same;
  }
}

TEST(PartyFile, ReadsRanksAndWhereTheyAre) {
  const TemporaryFolder folder;
  const auto with = [&](const std::string& ranks, const std::string& addresses) {
    std::string text = kParty;
    text.insert(text.find("[[peer]]"), ranks);
    text.insert(text.find("certificate = \"peers/party-1.crt\""), addresses);
    return folder.Write("party.toml", text);
  };
  EXPECT_EQ(ReadParty(folder.Write("one.toml", kParty)).ranks, 1);
  EXPECT_EQ(PartyToml(ReadParty(folder.Write("one.toml", kParty))).find("ranks"), std::string::npos);
  const auto party = ReadParty(with("ranks = 2\n", "rank_addresses = [\"b0:7700\", \"b1:7703\"]\n"));
  EXPECT_EQ(party.ranks, 2);
  EXPECT_EQ(ToText(party.peers[0].rank_addresses.at(1)), "b1:7703");
  EXPECT_TRUE(party.peers[1].rank_addresses.empty());
  EXPECT_EQ(ReadParty(folder.Write("again.toml", PartyToml(party))).peers[0].rank_addresses,
            party.peers[0].rank_addresses);
  EXPECT_THROW((void)ReadParty(with("ranks = 3\n", "rank_addresses = [\"b0:7700\", \"b1:7703\"]\n")),
               ConfigError);
  EXPECT_THROW((void)ReadParty(with("ranks = 2\n", "rank_addresses = [\"b0:7700\", \"b1\"]\n")), ConfigError);
  EXPECT_THROW((void)ReadParty(with("ranks = 0\n", "")), ConfigError);
  std::string last = kParty;
  last.replace(last.find("0.0.0.0:7700"), 12, "0.0.0.0:65535");
  EXPECT_NO_THROW((void)ReadParty(folder.Write("last.toml", last)));
  last.insert(last.find("[[peer]]"), "ranks = 2\n");
  EXPECT_THROW((void)ReadParty(folder.Write("last.toml", last)), ConfigError);
}

TEST(PartyFile, ReadsTheLedger) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& ledger) {
    return ReadParty(folder.Write("party.toml", kParty + ("[ledger]\n" + ledger)));
  };
  auto party = read("file = \"l\"\nepsilon_cap = 10\ndelta = 1e-5\n");
  ASSERT_TRUE(party.ledger);
  EXPECT_EQ(party.ledger->file, folder.path() / "l");
  EXPECT_EQ(party.ledger->epsilon_cap, 10);
  EXPECT_EQ(party.ledger->delta, 1e-5);
  party.ledger->epsilon_cap = 2.5;
  EXPECT_EQ(ReadParty(folder.Write("again.toml", PartyToml(party))).ledger->epsilon_cap, 2.5);
  EXPECT_THROW((void)read("file = \"l\"\ndelta = 1e-5\n"), ConfigError);
  EXPECT_THROW((void)read("file = \"l\"\nepsilon_cap = 10\n"), ConfigError);
  EXPECT_THROW((void)read("epsilon_cap = 10\ndelta = 1e-5\n"), ConfigError);
  EXPECT_THROW((void)read("file = \"l\"\nepsilon_cap = 0\ndelta = 1e-5\n"), ConfigError);
  EXPECT_THROW((void)read("file = \"l\"\nepsilon_cap = 1\ndelta = 1\n"), ConfigError);
}

TEST(PartyFile, ReadsBackWhatItWrites) {
  const TemporaryFolder folder;
  auto party = ReadParty(folder.Write("party.toml", kParty));
  const auto again = ReadParty(folder.Write("again.toml", PartyToml(party)));
  EXPECT_EQ(PartyToml(again), PartyToml(party));
  party.data = {};
  EXPECT_TRUE(ReadParty(folder.Write("again.toml", PartyToml(party))).data.x.empty());
}

TEST(PartyFile, ReadsSeveralFilesOfOneTable) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& file) {
    const auto text = Replaced(kParty, "x = \"data/images\"\ny = \"data/labels\"", "file = " + file);
    return ReadParty(folder.Write("party.toml", text));
  };
  const auto party = read("[\"a.csv\", \"/b/b.csv\"]");
  const std::vector<std::filesystem::path> files{folder.path() / "a.csv", "/b/b.csv"};
  EXPECT_EQ(party.data.table(), files);
  EXPECT_EQ(ReadParty(folder.Write("again.toml", PartyToml(party))).data.table(), files);
  EXPECT_EQ(read("[\"a.csv\"]").data.table().size(), 1U);
  for (const char* wrong : {"[]", "[\"\"]", "[\"a.csv\", 1]", "[\"a.csv\", \"./a.csv\"]", "7"})
    EXPECT_THROW((void)read(wrong), ConfigError) << wrong;
}

TEST(PartyFile, ReadsAPostgresDatabaseAndNoPassword) {
  const TemporaryFolder folder;
  const std::string files = "x = \"data/images\"\ny = \"data/labels\"\n";
  const auto read = [&](const std::string& keys) {
    return ReadParty(folder.Write("party.toml", Replaced(kParty, files, keys)));
  };
  const auto party = read("postgres = \"service=clinic\"\nquery = \"SELECT 1\"\n");
  EXPECT_TRUE(party.data.postgres);
  EXPECT_EQ(party.data.file, "service=clinic");
  EXPECT_EQ(party.data.query, "SELECT 1");
  const auto again = ReadParty(folder.Write("again.toml", PartyToml(party)));
  EXPECT_TRUE(again.data.postgres);
  EXPECT_EQ(again.data.file, "service=clinic");
  for (const char* keys :
       {"postgres = \"password=hunter2\"\nquery = \"SELECT 1\"\n",
        "postgres = \"postgres://me:hunter2@db/a\"\nquery = \"SELECT 1\"\n",
        "postgres = \"service=clinic\"\n", "postgres = \"a\"\nsqlite = \"b\"\nquery = \"SELECT 1\"\n",
        "postgres = \"a\"\nfile = \"b\"\nquery = \"SELECT 1\"\n", "query = \"SELECT 1\"\n"}) {
    try {
      (void)read(keys);
      ADD_FAILURE() << keys;
    } catch (const ConfigError& error) {
      EXPECT_EQ(std::string(error.what()).find("hunter2"), std::string::npos) << error.what();
    }
  }
}

TEST(PartyFile, KnowsOnlyTheInputsThatAreDeclared) {
  const TemporaryFolder folder;
  const auto file = folder.Write("party.toml", std::string(kParty) + "[sieve]\nmesh = \"m\"\n");
  const InputFields sieve = [](FieldVisitor& v, InputPaths& inputs) {
    v.Table("sieve", "", [&] { PathField(v, "mesh", inputs["sieve.mesh"], ""); });
  };
  const auto party = ReadParty(file, {sieve});
  EXPECT_EQ(party.inputs["sieve.mesh"], folder.path() / "m");
  EXPECT_EQ(ReadParty(folder.Write("again.toml", PartyToml(party)), {sieve}).inputs["sieve.mesh"],
            party.inputs["sieve.mesh"]);
  EXPECT_THROW((void)ReadParty(file), ConfigError);
}

TEST(PartyFile, WritesNamesThatWantEscapes) {
  const TemporaryFolder folder;
  auto party = ReadParty(folder.Write("party.toml", kParty));
  const std::string odd = "a\"b\\\\c\x7F\n\u00e4";
  for (auto* path :
       {&party.certificate, &party.private_key, &party.data.x, &party.data.y, &party.feature_model,
        &party.storage_key, &party.inputs["predict.share"], &party.inputs["pate.queries"], &party.log.audit})
    *path = folder.path() / odd;
  party.peers[0].certificate = folder.path() / odd;
  party.ledger = LedgerSettings{
      .file = folder.path() / odd, .epsilon_cap = 1, .delta = 1e-5, .mode = {}, .population = "\u00e4 \"b"};
  const auto again = ReadParty(folder.Write("again.toml", PartyToml(party)));
  EXPECT_EQ(PartyToml(again), PartyToml(party));
  EXPECT_EQ(again.private_key, folder.path() / odd);
  EXPECT_EQ(again.ledger->file, folder.path() / odd);
  EXPECT_EQ(again.ledger->population, "\u00e4 \"b");
  party.storage_key = "\xFF";
  EXPECT_THROW((void)PartyToml(party), ConfigError);
}

class PartyErrorTest : public testing::TestWithParam<EditCase> {};

TEST_P(PartyErrorTest, NamesPlaceFoundAndExpected) {
  const TemporaryFolder folder;
  const auto file = folder.Write("p.toml", Replaced(kParty, GetParam().from, GetParam().to));
  try {
    (void)ReadParty(file);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.what(), folder.path().string() + "/" + GetParam().error);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, PartyErrorTest,
    testing::Values(
        EditCase{"unknown_key",
                 "listen =", "listn =", "p.toml:3: unknown key party.listn; did you mean party.listen?"},
        EditCase{"party_3", "id = 0", "id = 3",
                 "p.toml:2: party.id: found 3, expected a whole number from 0 to 2"},
        EditCase{"no_port", "\"0.0.0.0:7700\"", "\"0.0.0.0\"",
                 "p.toml:3: party.listen: found \"0.0.0.0\", expected host:port with a port from 1 to 65535"},
        EditCase{"peer_is_self", "id = 2", "id = 0",
                 "p.toml:6: peer.id: found 0, expected another party than party.id"},
        EditCase{"peer_twice", "id = 1", "id = 2",
                 "p.toml:10: peer.id: found 2, expected each other party once"},
        EditCase{
            "duration", "\"500ms\"", "\"500\"",
            "p.toml:21: timeouts.peer: found \"500\", expected a time above 0, of a day at most, such as "
            "\"500ms\", \"120s\" or \"2m\""},
        EditCase{"labels_missing", "y = \"data/labels\"\n", "",
                 "p.toml: missing data.y, expected a path, as the other of data.x and data.y is given"},
        EditCase{"file_and_x", "y = \"data/labels\"", "y = \"data/labels\"\nfile = \"t.csv\"",
                 "p.toml:19: data.file: data.x or data.y is given too, expected x and y, or file"},
        EditCase{"x_and_file_to_predict", "[timeouts]",
                 "[predict]\nx = \"x.npy\"\nfile = \"t.csv\"\n[timeouts]",
                 "p.toml:21: predict.file: predict.x is given too, expected only one of them"},
        EditCase{"empty_path", "\"party.crt\"", "\"\"",
                 "p.toml:14: tls.certificate: found \"\", expected a path"},
        EditCase{"key_missing", "private_key = \"/keys/party.key\"\n", "",
                 "p.toml: missing tls.private_key, expected a text in quotes"}),
    [](const auto& info) { return info.param.name; });

TEST(PartyFile, WantsTwoPeers) {
  const TemporaryFolder folder;
  const auto text = std::string(kParty);
  const auto one = text.substr(0, text.find("[[peer]]")) + text.substr(text.rfind("[[peer]]"));
  EXPECT_THROW((void)ReadParty(folder.Write("p.toml", one)), ConfigError);
}

class BadAddressTest : public testing::TestWithParam<const char*> {};
TEST_P(BadAddressTest, IsRefused) { EXPECT_THROW((void)ParseAddress(GetParam()), ConfigError); }
INSTANTIATE_TEST_SUITE_P(Addresses, BadAddressTest,
                         testing::Values("", "a", ":1", "a:", "a:0", "a:65536", "a:-1", "a:1x", "::1:7700",
                                         "a b:1"));

class BadDurationTest : public testing::TestWithParam<const char*> {};
TEST_P(BadDurationTest, IsRefused) { EXPECT_THROW((void)ParseDuration(GetParam()), ConfigError); }
INSTANTIATE_TEST_SUITE_P(Durations, BadDurationTest,
                         testing::Values("", "s", "0s", "-1s", "1", "1h", "1.5s", "1 s",
                                         "99999999999999999999s", "25000000000000m", "86401s"));

TEST(CheckKeyMode, WantsOwnerOnly) {
  const TemporaryFolder folder;
  const auto key = folder.Write("party.key", "secret");
  std::filesystem::permissions(key, std::filesystem::perms(0644));
  try {
    CheckKeyMode(key);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.what(), key.string() + ": found mode 0644, expected 0600: run chmod 600 " + key.string());
  }
  std::filesystem::permissions(key, std::filesystem::perms(0600));
  EXPECT_NO_THROW(CheckKeyMode(key));
  EXPECT_THROW(CheckKeyMode(folder.path() / "none"), ConfigError);
}

}  // namespace
}  // namespace trefoil::jobs
