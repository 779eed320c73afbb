#include "apps/local/deployment.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "jobs/job.h"
#include "runtime/hosts.h"
#include "runtime/mesh_setup.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::apps {
namespace {

TEST(ParseHosts, WantsThree) {
  EXPECT_EQ(runtime::ParseHosts("a, b ,::1"), (std::array<std::string, 3>{"a", "b", "::1"}));
  for (const auto* bad : {"", "a", "a,b", "a,b,", ",a,b", "a,b,c,d", "a,b,c d", "a,b,\"c\"", "a:7700,b,c",
                          "a,b,1.2.3.4:1", "a,b,c:d:7700:x"}) {
    EXPECT_THROW((void)runtime::ParseHosts(bad), ConfigError) << bad;
  }
}

TEST(AddressesOf, SharesThePortWhereHostsDiffer) {
  EXPECT_EQ(ToText(AddressesOf({"a", "b", "c"}, 7700)[2]), "c:7700");
  EXPECT_EQ(ToText(AddressesOf({"a", "b", "a"}, 7700)[2]), "a:7702");
  EXPECT_THROW((void)AddressesOf({"a", "a", "a"}, 65534), ConfigError);
}

TEST(DescribeParty, ListensOnLoopbackOnlyWhereThatIsTheHost) {
  EXPECT_EQ(ToText(DescribeParty(0, AddressesOf({"127.0.0.1", "b", "c"}, 1)).listen), "127.0.0.1:1");
  EXPECT_EQ(ToText(DescribeParty(0, AddressesOf({"localhost", "b", "c"}, 1)).listen), "127.0.0.1:1");
  EXPECT_EQ(ToText(DescribeParty(0, AddressesOf({"a.org", "b", "c"}, 1)).listen), "0.0.0.0:1");
  EXPECT_EQ(ToText(DescribeParty(0, AddressesOf({"fd00::1", "b", "c"}, 1)).listen), "[::]:1");
}

TEST(MakeAllPartyFolders, MakesDeploymentsThatCanMeet) {
  const TemporaryFolder folder;
  const auto addresses = AddressesOf({"127.0.0.1", "127.0.0.1", "127.0.0.1"}, 7700);
  (void)MakeAllPartyFolders(
      {DescribeParty(0, addresses), DescribeParty(1, addresses), DescribeParty(2, addresses)}, folder.path());
  for (int id = 0; id < 3; ++id) {
    const auto party = jobs::ReadParty(PartyFolder(folder.path(), id) / "party.toml");
    const auto config = runtime::MeshConfigOf(party, "{}");
    EXPECT_EQ(config.self, id);
    EXPECT_EQ(config.listen_port, 7700 + id);
    for (const auto& peer : config.peers) EXPECT_EQ(peer.port, 7700 + peer.id);
  }
}

TEST(MeshConfigOf, NamesACertificateThatIsNotStored) {
  const TemporaryFolder folder;
  (void)MakePartyFolder(DescribeParty(0, AddressesOf({"a", "b", "c"}, 1)), folder.path());
  try {
    (void)runtime::MeshConfigOf(jobs::ReadParty(folder.path() / "party.toml"), "");
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("expected party 1's certificate: store it with trefoil trust"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace trefoil::apps
