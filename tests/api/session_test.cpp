#include "trefoil/session.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/data/temporary_folder.h"
#include "tests/net/mesh_testing.h"
#include "trefoil/protocols.h"

namespace trefoil {
namespace {

using data::TemporaryFolder;
using net::testing_support::TestMesh;

TEST(RunInProcess, HasThreePartiesThatTalk) {
  const auto parties = ResultsInProcess([](Session& session) {
    Barrier(session);
    return std::pair(session.party(), session.traffic().rounds);
  });
  for (int party = 0; party < 3; ++party) EXPECT_EQ(parties.at(static_cast<std::size_t>(party)).first, party);
  EXPECT_GT(parties[0].second, 0U);
}

// Without it the others would wait for ten minutes, and what they throw would hide the cause.
TEST(RunInProcess, RethrowsTheFirstFailureAndStopsTheOthers) {
  const auto run = [] {
    RunInProcess([](Session& session) {
      if (session.party() == 1) throw DataError("party 1 has no data");
      Barrier(session);
    });
  };
  try {
    run();
    FAIL() << "found no error";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "party 1 has no data");
  }
}

TEST(RunInProcess, GivesUpOnAPartyThatStaysSilent) {
  const auto run = [] {
    RunInProcess(
        [](Session& session) {
          if (session.party() != 1) Barrier(session);
        },
        std::chrono::seconds(1));
  };
  EXPECT_THROW(run(), NetworkError);
}

/// Party files of three parties on this machine, with what they name.
class ThreePartyFiles {
 public:
  ThreePartyFiles() {
    TestMesh mesh;
    for (int self = 0; self < 3; ++self) {
      const auto& config = mesh.config(self);
      const auto name = std::to_string(self);
      (void)folder_.Put(name + ".crt", TestMesh::IdentityOf(self).certificate_pem);
      const auto key = folder_.Put(name + ".key", TestMesh::IdentityOf(self).private_key_pem);
      std::filesystem::permissions(key, std::filesystem::perms::owner_read);
      std::string text = "[party]\nid = " + name +
                         "\nlisten = \"127.0.0.1:" + std::to_string(config.listen_port) +
                         "\"\n\n[timeouts]\nstart = \"10s\"\n\n[tls]\ncertificate = \"" + name +
                         ".crt\"\nprivate_key = \"" + name + ".key\"\n";
      for (const auto& peer : config.peers) {
        const auto id = std::to_string(peer.id);
        text += "\n[[peer]]\nid = " + id + "\naddress = \"127.0.0.1:" + std::to_string(peer.port) +
                "\"\ncertificate = \"" + id + ".crt\"\n";
      }
      (void)folder_.Put(name + ".toml", text);
    }
  }

  [[nodiscard]] std::filesystem::path operator[](int party) const {
    return folder_ / (std::to_string(party) + ".toml");
  }

 private:
  TemporaryFolder folder_;
};

/// Calls body(party) at three parties, a thread each; what each ended with.
template <typename Body>
std::array<std::string, 3> AtThree(Body body) {
  std::array<std::string, 3> ends;
  std::array<std::thread, 3> threads;
  for (int party = 0; party < 3; ++party) {
    threads.at(static_cast<std::size_t>(party)) = std::thread([&, party] {
      try {
        ends.at(static_cast<std::size_t>(party)) = body(party);
      } catch (const std::exception& error) {
        ends.at(static_cast<std::size_t>(party)) = error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return ends;
}

TEST(Session, ConnectsOverTlsAsPartyFilesSay) {
  const ThreePartyFiles files;
  const auto ends = AtThree([&](int party) {
    auto session = Session::Connect(files[party], "sum of three numbers", 1);
    Share sum = Input(session, 0, Matrix::Constant(1, 1, party + 1.0), {1, 1});
    for (int owner : {1, 2}) sum = sum + Input(session, owner, Matrix::Constant(1, 1, party + 1.0), {1, 1});
    return std::to_string(Reveal(session, sum, "the sum of three numbers")(0, 0));
  });
  for (const auto& end : ends) EXPECT_EQ(end, "6.000000");
}

TEST(Session, RefusesAPeerWithAnotherProgram) {
  const ThreePartyFiles files;
  const auto ends = AtThree([&](int party) {
    auto session = Session::Connect(files[party], party == 2 ? "mean" : "sum", 1);
    return std::string("connected");
  });
  EXPECT_NE(ends[2].find("program"), std::string::npos) << ends[2];
}

}  // namespace
}  // namespace trefoil
