#include "trefoil/session.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/api/three_parties.h"
#include "trefoil/protocols.h"

namespace trefoil {
namespace {

using testing_support::AtThree;
using testing_support::ThreePartyFiles;

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

TEST(RunInProcess, TellsTheOthersWhy) {
  std::array<std::string, 3> told;
  const auto run = [&] {
    RunInProcess([&](Session& session) {
      if (session.party() == 1) throw DataError("party 1 has no data");
      try {
        Barrier(session);
      } catch (const NetworkError& error) {
        told.at(static_cast<std::size_t>(session.party())) = error.what();
      }
    });
  };
  EXPECT_THROW(run(), DataError);
  for (const std::size_t other : {0U, 2U}) {
    EXPECT_EQ(told.at(other), "party 1: aborted: its data is not what the job declares");
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

// Party 0 sends party 1 one number where it expects two; only party 1 can find that, in its own thread.
TEST(Session, TellsThePeersWhoBrokeTheProtocol) {
  const ThreePartyFiles files;
  const auto ends = AtThree([&](int party) {
    auto session = Session::Connect(files[party], "a number or two", 1);
    const Share one = Input(session, 0, Matrix::Constant(1, 1, 1.0), {1, 1});
    const Share two = Input(session, 0, Matrix::Constant(2, 1, 1.0), {2, 1});
    (void)RevealTo(session, {1}, party == 0 ? one : two, "numbers of a test");
    Barrier(session);
    return std::string("went on");
  });
  EXPECT_EQ(ends[1], "party 0 sent a message of 8 bytes, expected 16");
  EXPECT_EQ(ends[2].find("party 0: broke the protocol"), 0U) << ends[2];
}

// The caller's own error, which it handles.
TEST(Session, AbortSaysWhyWhereAnErrorIsHandled) {
  const ThreePartyFiles files;
  const auto ends = AtThree([&](int party) {
    auto session = Session::Connect(files[party], "records", 1);
    try {
      if (party == 1) throw DataError("party 1 has no data");
    } catch (const DataError& error) {
      session.Abort();
      return std::string(error.what());
    }
    Barrier(session);
    return std::string("went on");
  });
  EXPECT_EQ(ends[1], "party 1 has no data");
  for (const std::size_t other : {0U, 2U}) {
    EXPECT_EQ(ends.at(other), "party 1: aborted: its data is not what the job declares");
  }
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
