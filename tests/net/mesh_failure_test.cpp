#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "base/error.h"
#include "mesh_testing.h"
#include "net/mesh/mesh.h"
#include "net/start/starter.h"
#include "raw_party.h"

namespace trefoil::net {
namespace {

using std::chrono::milliseconds;
using namespace testing_support;  // NOLINT: the vocabulary of these tests

// Runs parties 0 and 1 against a party 2 in the test's hands, after its handshake; those to which it does not
// say that it is ready wait for its word. Both wait for each other, not for it.
std::array<Outcome, kParties> AgainstRawParty2(TestMesh& mesh,
                                               const std::function<void(RawParty2&)>& misbehave,
                                               const std::function<void(int, MeshTransport&)>& body,
                                               std::array<bool, 2> ready = {true, true}) {
  std::array<Outcome, kParties> outcomes;
  const auto run = [&](int party) {
    outcomes[static_cast<std::size_t>(party)] =
        RunParty(mesh.config(party), [&](MeshTransport& transport) { body(party, transport); });
  };
  std::thread zero(run, 0);
  std::thread one(run, 1);
  {
    RawParty2 raw(mesh.config(0).listen_port, mesh.config(1).listen_port, TestMesh::IdentityOf(2),
                  mesh.config(0).job_json, ready);
    misbehave(raw);
  }
  zero.join();
  one.join();
  return outcomes;
}

void WaitForTheOther(int self, MeshTransport& transport) { (void)transport.Receive(1 - self, 1); }

void ExpectBothName(const std::array<Outcome, kParties>& outcomes, int peer) {
  for (const int party : {0, 1}) {
    const Outcome& outcome = outcomes[static_cast<std::size_t>(party)];
    EXPECT_EQ(outcome.kind, Outcome::Kind::kNetwork) << outcome.text;
    EXPECT_EQ(outcome.peer, peer) << outcome.text;
  }
}

// Dropping the sockets without good-bye is what the kernel does for a killed process.
TEST(MeshFailure, AKilledPartyIsNamedByBothOthersAtOnce) {
  TestMesh mesh;
  const auto outcomes = AgainstRawParty2(
      mesh, [](RawParty2&) {}, &WaitForTheOther);

  ExpectBothName(outcomes, 2);
  for (const int party : {0, 1}) {
    EXPECT_LT(outcomes[static_cast<std::size_t>(party)].seconds_since_start, milliseconds(3000));
  }
}

TEST(MeshFailure, ALinkThatEndsWithoutAWordIsKnownBeforeACallMeetsIt) {
  TestMesh mesh;
  const auto begin = std::chrono::steady_clock::now();
  const auto outcomes = AgainstRawParty2(
      mesh, [](RawParty2&) {},
      [&](int, MeshTransport& transport) {
        while (!transport.Loss() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10))
          std::this_thread::sleep_for(milliseconds(1));
        const auto loss = transport.Loss();
        ASSERT_TRUE(loss);
        EXPECT_EQ(loss->peer, 2);
        EXPECT_TRUE(loss->link_ended && loss->at > begin);
      });
  for (const int party : {0, 1}) EXPECT_EQ(outcomes[static_cast<std::size_t>(party)].peer, -1);
}

// Many times, since the order of what arrives varies: a party's end, the other's report of it, the other's
// own end.
TEST(MeshFailure, TheKilledPartyIsNamedInWhateverOrderThingsArrive) {
  for (int trial = 0; trial < 15; ++trial) {
    TestMesh mesh;
    const auto outcomes = AgainstRawParty2(
        mesh, [&](RawParty2&) { std::this_thread::sleep_for(milliseconds(trial)); },
        [](int self, MeshTransport& transport) {
          while (true) {
            transport.Send(1 - self, Bytes(50'000));
            (void)transport.Receive(1 - self, 50'000);
          }
        });
    ExpectBothName(outcomes, 2);
  }
}

TEST(MeshFailure, ASilentPartyIsLostWithinThePeerTimeout) {
  TestMesh mesh;
  for (const int party : {0, 1}) mesh.config(party).peer_timeout = milliseconds(400);
  std::chrono::steady_clock::time_point silent_from;
  const auto outcomes = AgainstRawParty2(
      mesh,
      [&](RawParty2&) {
        silent_from = std::chrono::steady_clock::now();
        std::this_thread::sleep_for(milliseconds(1500));
      },
      [&](int self, MeshTransport& transport) {
        EXPECT_THROW((void)transport.Receive(1 - self, 1), NetworkError);
        const auto waited = std::chrono::steady_clock::now() - silent_from;
        EXPECT_GE(waited, milliseconds(300));
        EXPECT_LT(waited, milliseconds(1300));
        (void)transport.Receive(1 - self, 1);  // the failure is final and the same
      });

  ExpectBothName(outcomes, 2);
  const bool heard = outcomes[0].text == "party 2: silent for 400 ms (timeouts.peer)" ||
                     outcomes[1].text == "party 2: silent for 400 ms (timeouts.peer)";
  EXPECT_TRUE(heard) << outcomes[0].text << "; " << outcomes[1].text;
}

class MeshAbort : public testing::TestWithParam<AbortCode> {};

TEST_P(MeshAbort, TellsBothOthersWhy) {
  TestMesh mesh;
  const auto outcomes = RunParties(mesh, {0, 1, 2}, [](int self, MeshTransport& transport) {
    if (self == 1) return transport.Abort({.code = GetParam()});
    try {
      (void)transport.Receive(2 - self, 1);
    } catch (const std::exception&) {
      const bool may_follow = GetParam() == AbortCode::kStopped || GetParam() == AbortCode::kRankLost;
      const auto loss = transport.Loss();
      EXPECT_EQ(loss.has_value(), may_follow);
      EXPECT_FALSE(loss && loss->link_ended);
      throw;
    }
  });

  for (const std::size_t party : {0U, 2U}) {
    const bool budget = GetParam() == AbortCode::kBudget;  // one party's is everybody's
    EXPECT_EQ(outcomes[party].kind, budget ? Outcome::Kind::kBudget : Outcome::Kind::kNetwork);
    EXPECT_EQ(outcomes[party].text, std::string("party 1: ") + Describe(GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Codes, MeshAbort,
                         testing::Values(AbortCode::kInternal, AbortCode::kConfiguration, AbortCode::kData,
                                         AbortCode::kBudget, AbortCode::kStopped, AbortCode::kStorage,
                                         AbortCode::kMemory, AbortCode::kProtocol, AbortCode::kRankLost),
                         [](const auto& test) {
                           return "Code" + std::to_string(static_cast<int>(test.param));
                         });

TEST(MeshFailure, AReportNamesThePartyThatWasLost) {
  TestMesh mesh;
  const auto outcomes = AgainstRawParty2(
      mesh,
      [](RawParty2& raw) {
        raw.to0.SendNext(FrameType::kAbort, {std::byte{3}, std::byte{1}});
        std::this_thread::sleep_for(milliseconds(600));
      },
      [](int self, MeshTransport& transport) {
        EXPECT_THROW(WaitForTheOther(self, transport), NetworkError);
        const auto loss = transport.Loss();
        EXPECT_EQ(loss.has_value(), self == 0);
        EXPECT_FALSE(loss && loss->link_ended);
        WaitForTheOther(self, transport);
      });

  EXPECT_EQ(outcomes[0].text, "party 1: lost (reported by party 2)");
}

TEST(MeshFailure, NothingCanBeSentAfterAnAbort) {
  TestMesh mesh;
  const auto outcomes = RunParties(mesh, {0, 1, 2}, [](int self, MeshTransport& transport) {
    if (self != 0) return (void)transport.Receive(0, 1);
    transport.Abort({.code = AbortCode::kStopped});
    EXPECT_THROW(transport.Send(1, Bytes(1)), NetworkError);
    EXPECT_THROW((void)transport.Receive(2, 1), NetworkError);
  });
  EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kDone);
  EXPECT_EQ(outcomes[1].peer, 0);
  EXPECT_EQ(outcomes[2].peer, 0);
}

TEST(MeshFailure, AbortFromAnotherThreadWakesAReader) {
  TestMesh mesh;
  const auto outcomes = RunParties(mesh, {0, 1, 2}, [](int self, MeshTransport& transport) {
    if (self != 0) return (void)transport.Receive(0, 1);
    std::thread stopper([&] {
      std::this_thread::sleep_for(milliseconds(50));
      transport.Abort({.code = AbortCode::kStopped});
    });
    EXPECT_THROW((void)transport.Receive(1, 1), NetworkError);
    stopper.join();
  });
  for (const std::size_t party : {1U, 2U}) {
    EXPECT_EQ(outcomes[party].text, std::string("party 0: ") + Describe(AbortCode::kStopped));
  }
}

TEST(MeshFailure, AnExceptionThatLeavesATransportBehindIsAnAbort) {
  TestMesh mesh;
  const auto outcomes = RunParties(mesh, {0, 1, 2}, [](int self, MeshTransport& transport) {
    if (self == 2) throw std::runtime_error("boom");
    (void)transport.Receive(1 - self, 1);
  });
  EXPECT_EQ(outcomes[2].text, "boom");
  ExpectBothName(outcomes, 2);
}

struct Misdeed {
  std::string name;
  std::function<void(RawLink&)> act;
};

class MeshMisdeed : public testing::TestWithParam<Misdeed> {};

TEST_P(MeshMisdeed, IsAProtocolErrorAndTheOtherPartyLearnsWhoseItWas) {
  TestMesh mesh;
  const auto outcomes = AgainstRawParty2(
      mesh,
      [](RawParty2& raw) {
        GetParam().act(raw.to0);
        std::this_thread::sleep_for(milliseconds(700));
      },
      &WaitForTheOther);

  EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kProtocol);
  EXPECT_EQ(outcomes[0].text.find("party 2: "), 0U) << outcomes[0].text;
  EXPECT_EQ(outcomes[1].peer, 2) << outcomes[1].text;
  EXPECT_EQ(outcomes[1].text, "party 2: broke the protocol (reported by party 0)");
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, MeshMisdeed,
    testing::Values(Misdeed{"Replay",
                            [](RawLink& link) {
                              link.SendNext(FrameType::kData, Bytes(4));
                              --link.sequence;
                              link.SendNext(FrameType::kData, Bytes(4));
                            }},
                    Misdeed{"Gap",
                            [](RawLink& link) {
                              ++link.sequence;
                              link.SendNext(FrameType::kData, Bytes(4));
                            }},
                    Misdeed{"OtherSession",
                            [](RawLink& link) {
                              link.session[0] ^= 1;
                              link.SendNext(FrameType::kData, Bytes(4));
                            }},
                    Misdeed{"UnknownLength",
                            [](RawLink& link) {
                              link.Send({.type = FrameType::kData,
                                         .sequence = link.sequence,
                                         .length = kMaxPayloadBytes + 1,
                                         .session = link.session},
                                        {});
                            }},
                    Misdeed{"GreetingAgain",
                            [](RawLink& link) { link.SendNext(FrameType::kHello, Bytes(79)); }},
                    Misdeed{"EmptyAbort", [](RawLink& link) { link.SendNext(FrameType::kAbort, {}); }}),
    [](const auto& test) { return test.param.name; });

TEST(MeshFailure, AMessageCutShortByAKillIsNotDelivered) {
  TestMesh mesh;
  const auto outcomes = AgainstRawParty2(
      mesh,
      [](RawParty2& raw) {
        raw.to0.Send({.type = FrameType::kData,
                      .sequence = raw.to0.sequence,
                      .length = 100,
                      .session = raw.to0.session},
                     Bytes(50));
        raw.to0.CloseNotify();
        raw.to1.CloseNotify();
      },
      [](int self, MeshTransport& transport) {
        if (self == 0) (void)transport.Receive(2, 100);
      });
  EXPECT_EQ(outcomes[0].peer, 2);
}

// A message of the wrong length, which only its receiver can find: it, and not who found it, is blamed by all
// three, in whatever order the reports arrive.
TEST(MeshFailure, WhoBreaksTheProtocolIsNamedByAllThree) {
  for (int trial = 0; trial < 10; ++trial) {
    TestMesh mesh;
    const auto outcomes = RunParties(mesh, {0, 1, 2}, [](int self, MeshTransport& transport) {
      if (self == 0) transport.Send(1, Bytes(4));
      try {
        (void)transport.Receive(self == 1 ? 0 : 1, 3);
      } catch (const ProtocolError& error) {
        if (self == 1) {
          EXPECT_EQ(error.peer(), 0);
          transport.Abort({.code = AbortCode::kProtocol, .about = error.peer()});
        }
        throw;
      }
    });
    EXPECT_EQ(outcomes[1].text, "party 0 sent a message of 4 bytes, expected 3");
    EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kProtocol);
    EXPECT_EQ(outcomes[0].text.find("party 0: broke the protocol, as party 1 found"), 0U) << outcomes[0].text;
    EXPECT_EQ(outcomes[2].peer, 0) << outcomes[2].text;
    EXPECT_EQ(outcomes[2].text.find("party 0: broke the protocol"), 0U) << outcomes[2].text;
  }
}

// Party 2, whom party 1 has told of a breach by party 0, gives up its link to party 0, and its word arrives
// first.
TEST(MeshFailure, WhoIsGivenUpHearsOfTheBreachThatAnotherFound) {
  TestMesh mesh;
  std::promise<void> given_up;
  std::promise<void> accused;
  const auto outcomes = AgainstRawParty2(
      mesh,
      [&](RawParty2& raw) {
        raw.to0.SendNext(FrameType::kAbort, EncodeAbort({.code = AbortCode::kPeerLost, .about = 0}));
        std::this_thread::sleep_for(milliseconds(20));  // until it is there
        given_up.set_value();
        accused.get_future().wait();  // this link's end would be told of first
      },
      [&](int self, MeshTransport& transport) {
        if (self == 0) return (void)transport.Receive(1, 1);
        given_up.get_future().wait();
        transport.Abort({.code = AbortCode::kProtocol, .about = 0});
        accused.set_value();
      });
  EXPECT_EQ(outcomes[0].text.find("party 0: broke the protocol, as party 1 found"), 0U) << outcomes[0].text;
}

// Party 2 finds, while party 0 still waits for its word that it is ready, that party 0 breaks the protocol.
// Party 1 computes already, or waits as well; it hears of it from party 0, or from both.
class MeshBreachAtStart : public testing::TestWithParam<bool> {};

TEST_P(MeshBreachAtStart, NamesWhoIsAccusedAtAllThree) {
  const bool third_computes = GetParam();
  const AbortReason reason{.code = AbortCode::kProtocol, .about = 0};
  TestMesh mesh;
  Frame told;
  const auto outcomes = AgainstRawParty2(
      mesh,
      [&](RawParty2& raw) {
        EXPECT_TRUE(!third_computes || mesh.WaitForLog("1: computes"));
        raw.to0.SendNext(FrameType::kAbort, EncodeAbort(reason));
        if (!third_computes) raw.to1.SendNext(FrameType::kAbort, EncodeAbort(reason));
        told = raw.to0.ReceiveFrame();
        std::this_thread::sleep_for(milliseconds(300));
      },
      [&](int self, MeshTransport& transport) {
        mesh.config(self).log("computes");
        WaitForTheOther(self, transport);
      },
      {false, third_computes});

  EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kProtocol);
  EXPECT_EQ(outcomes[0].text.find("party 0: broke the protocol, as party 2 found"), 0U) << outcomes[0].text;
  EXPECT_EQ(outcomes[1].peer, 0);
  EXPECT_EQ(outcomes[1].text.find("party 0: broke the protocol"), 0U) << outcomes[1].text;
  EXPECT_EQ(told.header.type, FrameType::kAbort);
  EXPECT_EQ(told.payload, EncodeAbort(reason));
}

INSTANTIATE_TEST_SUITE_P(Third, MeshBreachAtStart, testing::Bool(),
                         [](const auto& test) { return std::string(test.param ? "Computes" : "Waits"); });

// Party 0 computes already and finds it; party 1 still waits for party 2's word.
TEST(MeshFailure, WhoWaitsStillLearnsWhoBrokeTheProtocol) {
  TestMesh mesh;
  const auto outcomes = AgainstRawParty2(mesh,
                                         [](RawParty2& raw) {
                                           raw.to0.SendNext(FrameType::kHello, Bytes(79));
                                           std::this_thread::sleep_for(milliseconds(300));
                                         },
                                         &WaitForTheOther, {true, false});

  EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kProtocol);
  EXPECT_EQ(outcomes[1].peer, 2);
  EXPECT_EQ(outcomes[1].text, "party 2: broke the protocol (reported by party 0)");
}

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;
constexpr int kPieces = 128;  // more than the system's buffers hold

/// Party 0 leaves all of it to the end, for which a peer may be silent for 800 ms.
std::array<Outcome, kParties> SendMuchAtLast(TestMesh& mesh, const std::function<void(RawParty2&)>& take,
                                             const std::function<void(MeshTransport&)>& end = {}) {
  for (const int party : {0, 1}) mesh.config(party).peer_timeout = milliseconds(800);
  return AgainstRawParty2(mesh, take, [&](int self, MeshTransport& transport) {
    if (self == 1) return;
    for (int piece = 0; piece < kPieces; ++piece) transport.Send(2, Bytes(kPieceBytes));
    if (end) end(transport);
  });
}

/// Takes the pieces one by one, with a pause before each, and returns how many it got in that time.
int TakePieces(RawLink& link, milliseconds pause, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  int taken = 0;
  try {
    for (; taken < kPieces && std::chrono::steady_clock::now() < end; ++taken) {
      std::this_thread::sleep_for(pause);
      (void)link.ReceiveFrame();
    }
  } catch (const std::runtime_error&) {  // the end of the stream
  }
  return taken;
}

// It takes several times as long as a silence may, and more than all that the system has taken at once.
TEST(MeshFailure, APeerOnASlowLineGetsAllThatWasSentBeforeAnOrderlyEnd) {
  TestMesh mesh;
  int taken = 0;
  const auto outcomes = SendMuchAtLast(
      mesh, [&](RawParty2& raw) { taken = TakePieces(raw.to0, milliseconds(20), std::chrono::seconds(60)); });

  EXPECT_EQ(taken, kPieces);
  EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kDone) << outcomes[0].text;
  EXPECT_GT(outcomes[0].seconds_since_start, milliseconds(1600));
}

TEST(MeshFailure, APeerThatTakesNothingAtTheEndIsGivenUp) {
  TestMesh mesh;
  const auto outcomes =
      SendMuchAtLast(mesh, [](RawParty2&) { std::this_thread::sleep_for(milliseconds(3000)); });

  EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kDone) << outcomes[0].text;
  EXPECT_GT(outcomes[0].seconds_since_start, milliseconds(750));
  EXPECT_LT(outcomes[0].seconds_since_start, milliseconds(2500));
}

TEST(MeshFailure, AnAbortCutsAnOrderlyEndShort) {
  TestMesh mesh;
  const auto outcomes = SendMuchAtLast(
      mesh,  // whose party 2 is never silent
      [&](RawParty2& raw) { (void)TakePieces(raw.to0, milliseconds(100), std::chrono::seconds(6)); },
      [](MeshTransport& transport) {
        std::thread other([&] {
          std::this_thread::sleep_for(milliseconds(300));
          transport.Abort({.code = AbortCode::kStopped});
        });
        EXPECT_THROW(transport.Finish(), NetworkError);
        other.join();
      });

  EXPECT_EQ(outcomes[0].kind, Outcome::Kind::kDone) << outcomes[0].text;
  EXPECT_LT(outcomes[0].seconds_since_start, milliseconds(4000));
}

}  // namespace
}  // namespace trefoil::net
