#include "runtime/resume/run_agreement.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "jobs/job_cost.h"
#include "tests/support/error_text.h"
#include "tests/support/fixed_key.h"
#include "tests/support/run_parties.h"

namespace trefoil::runtime {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing_support::FixedKey;
using testing_support::RunParties;
using testing_support::Seed;

ml::SessionSteps Session(const std::string& id, int first, int begun, bool from_start = false) {
  return {.id = id, .from_start = from_start, .first = first, .begun = begun};
}

RunClaim Claim(std::vector<CheckpointName> held, ml::SessionHistory sessions) {
  return {.run_id = "aa", .held = std::move(held), .sessions = std::move(sessions)};
}

constexpr int kSteps = 17;

std::string AgreementError(const std::array<RunClaim, 3>& claims, int self = 0) {
  return testing_support::ErrorText<ConfigError>([&] { (void)Agree(claims, self, kSteps); });
}

TEST(Agree, BeginsARunThatNobodyKnows) {
  const auto agreed = Agree({}, 1, kSteps);
  EXPECT_EQ(agreed.run_id, "");
  EXPECT_FALSE(agreed.from);
  EXPECT_TRUE(agreed.earlier.empty());
}

// Plans of jobs of calls count it.
TEST(ClaimText, OfARunOfCallsThatBeginsHasTheLengthThatPlansHave) {
  RunClaim claim;
  claim.anew = true;
  EXPECT_EQ(ToText(claim).size(), jobs::kBytesOfNewRun);
}

TEST(Agree, GoesOnFromTheLastCheckpointThatAllThreeHold) {
  const ml::SessionHistory sessions{Session("aa", 0, 17, true)};
  const auto ahead = Claim({{10, "aa"}, {15, "aa"}}, sessions);
  const auto behind = Claim({{5, "aa"}, {10, "aa"}}, sessions);
  for (const auto& claims : {std::array{ahead, behind, ahead}, std::array{behind, ahead, behind}}) {
    const auto agreed = Agree(claims, 2, kSteps);
    EXPECT_EQ(agreed.run_id, "aa");
    EXPECT_EQ(agreed.from, (CheckpointName{10, "aa"}));
  }
  EXPECT_EQ(Agree({ahead, ahead, ahead}, 0, kSteps).from, (CheckpointName{15, "aa"}));
}

TEST(Agree, GoesOnAgainWhereAllThreeWereToldTo) {
  auto told = Claim({{10, "aa"}}, {Session("aa", 0, 17, true)});
  const auto untold = told;
  told.again = true;
  EXPECT_TRUE(Agree({told, told, told}, 0, kSteps).again);
  EXPECT_FALSE(Agree({told, untold, told}, 0, kSteps).again);
  EXPECT_TRUE(ReadClaim(ToText(told), 1, 20).again);
  EXPECT_FALSE(ReadClaim(ToText(untold), 1, 20).again);
}

// Party 1 went back to a copy from before the last step, or lost its last checkpoint. If the run went on from
// an earlier checkpoint, it would release a second model.
TEST(Agree, GoesOnFromWhatWasReleasedOrNotAtAll) {
  const ml::SessionHistory sessions{Session("aa", 0, 17, true)};
  auto released = Claim({{15, "aa"}, {17, "aa"}}, sessions);
  released.released = true;
  auto behind = Claim({{10, "aa"}, {15, "aa"}}, sessions);
  EXPECT_EQ(Agree({released, released, released}, 0, kSteps).from, (CheckpointName{17, "aa"}));
  EXPECT_THAT(AgreementError({released, behind, released}),
              HasSubstr("a run whose model may have been released here"));
  EXPECT_THAT(AgreementError({behind, behind, released}, 1), HasSubstr("may have been released at party 2"));
  behind.held.clear();
  EXPECT_THAT(AgreementError({released, behind, released}), HasSubstr("may have been released here"));
  auto lost = released;  // the file of its last checkpoint is gone
  lost.held.pop_back();
  auto waiting = released;
  waiting.released = false;
  for (const auto& claims : {std::array{lost, waiting, waiting}, std::array{lost, lost, lost}})
    EXPECT_THAT(AgreementError(claims), HasSubstr("no checkpoint behind its last step that all three hold"));
  // It was killed before all three had the last checkpoint, so nothing was released.
  released.released = false;
  EXPECT_EQ(Agree({released, Claim({{15, "aa"}}, sessions), released}, 0, kSteps).from,
            (CheckpointName{15, "aa"}));
  released.released = true;
  EXPECT_TRUE(ReadClaim(ToText(released), 1, 17).released);
}

TEST(Agree, GoesOnFromWhatTheEvaluationHasCountedAtAllThree) {
  const ml::SessionHistory sessions{Session("aa", 0, 17, true)};
  const CheckpointName last{17, "aa"};
  const CheckpointName counted{17, "aa", true};
  auto ahead = Claim({last, counted}, sessions);
  const auto behind = Claim({{15, "aa"}, last}, sessions);
  EXPECT_EQ(Agree({ahead, ahead, ahead}, 0, kSteps).from, counted);
  for (const auto& claims : {std::array{ahead, behind, ahead}, std::array{behind, ahead, ahead}})
    EXPECT_EQ(Agree(claims, 1, kSteps).from, last);
  ahead.released = true;  // this is set only once all three have kept what was counted
  EXPECT_EQ(Agree({ahead, ahead, ahead}, 0, kSteps).from, counted);
  EXPECT_THAT(AgreementError({ahead, behind, ahead}), HasSubstr("may have been released here"));
  EXPECT_EQ(ReadClaim(ToText(ahead), 1, 17).held, ahead.held);
  EXPECT_THROW((void)ReadClaim(ToText(ahead), 1, 18), ProtocolError);  // counted before the last step
}

// Step 15 was reached twice: in session aa, of which one party kept its share, and in bb, of which two did.
TEST(Agree, NeverMixesSharesOfDifferentSessions) {
  const ml::SessionHistory sessions{Session("aa", 0, 17, true), Session("bb", 10, 16)};
  const auto agreed =
      Agree({Claim({{10, "aa"}, {15, "aa"}}, sessions), Claim({{10, "aa"}, {15, "bb"}}, sessions),
             Claim({{10, "aa"}, {15, "bb"}}, sessions)},
            0, kSteps);
  EXPECT_EQ(agreed.from, (CheckpointName{10, "aa"}));
}

TEST(Agree, CountsEverySessionThatAnyoneKnowsWithTheMostStepsThatAnyoneBegan) {
  auto evaluated = Session("bb", 10, 15);
  evaluated.evaluated = true;
  const auto agreed =
      Agree({Claim({{10, "aa"}}, {Session("aa", 0, 12, true), Session("bb", 10, 14)}),
             Claim({{10, "aa"}}, {Session("aa", 0, 13, true), Session("bb", 10, 11), Session("cc", 10, 11)}),
             Claim({{10, "aa"}}, {Session("aa", 0, 12, true), evaluated})},
            0, kSteps);
  ASSERT_EQ(agreed.earlier.size(), 3U);
  EXPECT_EQ(agreed.earlier[0].begun, 13);
  EXPECT_TRUE(agreed.earlier[0].from_start);
  EXPECT_EQ(agreed.earlier[1].begun, 15);
  EXPECT_TRUE(agreed.earlier[1].evaluated);
  EXPECT_EQ(agreed.earlier[2].id, "cc");
}

TEST(Agree, BeginsAnewWhereTheFirstCheckpointWasNotWrittenByAll) {
  const ml::SessionHistory sessions{Session("aa", 0, 1, true)};
  const auto agreed = Agree({Claim({{0, "aa"}}, sessions), Claim({}, sessions), RunClaim{}}, 0, kSteps);
  EXPECT_EQ(agreed.run_id, "aa");
  EXPECT_FALSE(agreed.from);
  EXPECT_EQ(agreed.earlier.size(), 1U);
}

TEST(Agree, SaysWhoseRunOrCheckpointIsAnother) {
  const ml::SessionHistory sessions{Session("aa", 0, 17, true)};
  const auto holder = Claim({{10, "aa"}, {15, "aa"}}, sessions);
  auto other = holder;
  other.run_id = "bb";
  EXPECT_THAT(AgreementError({holder, other, holder}, 1), HasSubstr("found run aa at party 0, run bb here"));
  EXPECT_THAT(AgreementError({holder, holder, RunClaim{}}),
              HasSubstr("found checkpoints of steps 10 and 15 here, 10 and 15 at party 1, none at party 2"));
  EXPECT_THAT(AgreementError({Claim({{5, "aa"}}, sessions), holder, holder}), HasSubstr("steps 5 here"));
}

TEST(ReadClaim, ReadsBackWhatWasWritten) {
  auto claim = Claim({{10, "ab"}, {15, "cd"}}, {Session("ab", 0, 12, true), Session("cd", 10, 16)});
  claim.sessions[1].evaluated = true;
  const auto again = ReadClaim(ToText(claim), 1, 20);
  EXPECT_EQ(ToText(again), ToText(claim));
  EXPECT_EQ(again.held, claim.held);
  EXPECT_TRUE(again.sessions[1].evaluated);
}

TEST(ReadClaim, RefusesWhatIsNoAccountOfARunOfSoManySteps) {
  const auto good = Claim({{10, "ab"}}, {Session("ab", 3, 12, true)});
  EXPECT_NO_THROW((void)ReadClaim(ToText(good), 1, 12));
  auto bad = std::vector<RunClaim>(6, good);
  bad[0].run_id = "no hexadecimal";
  bad[1].held[0].step = 13;
  bad[2].held[0].step = -1;
  bad[3].sessions[0].begun = 13;
  bad[4].sessions[0].begun = 2;
  bad[5].sessions[0].id = std::string(65, 'a');
  for (const auto& claim : bad)
    EXPECT_THROW((void)ReadClaim(ToText(claim), 1, 12), ProtocolError) << ToText(claim);
  for (const char* text : {"", "[]", "{}", "null", R"({"run_id":1})"})
    EXPECT_THROW((void)ReadClaim(text, 1, 12), ProtocolError) << text;
  EXPECT_THROW((void)ReadClaim(std::string(100000, '['), 1, 12), ProtocolError);
}

TEST(AgreeOnRun, GivesTheSameToAllThree) {
  const auto agreed = RunParties(Seed{1}, [](mpc::Context& party) {
    const ml::SessionHistory sessions{Session("aa", 0, 12 + party.self(), true)};
    return AgreeOnRun(party, Claim({{5 * party.self(), "ff"}, {10, "aa"}}, sessions), 20);
  });
  for (const auto& one : agreed) {
    EXPECT_EQ(one.from, (CheckpointName{10, "aa"}));
    EXPECT_EQ(one.earlier.at(0).begun, 14);
  }
}

// Many times, since who sees what first varies.
TEST(AgreeOnRun, TellsAllThreeWhyItIsRefused) {
  for (int trial = 0; trial < 30; ++trial) {
    const auto texts = RunParties(Seed{1}, [](mpc::Context& party) {
      auto claim = Claim({{10, "aa"}}, {Session("aa", 0, 12, true)});
      if (party.self() == 2) claim.held.clear();
      try {
        (void)AgreeOnRun(party, claim, 20);
      } catch (const ConfigError& error) {
        return std::string(error.what());
      }
      return std::string("none");
    });
    for (const auto& text : texts) EXPECT_THAT(text, HasSubstr("found checkpoints of steps"));
  }
}

enum class Mixed { kNothing, kWeights, kVelocity, kClip, kSchedule, kSlots };

/// Party 2's checkpoint differs from the others' in one part. Returns what each party says.
std::array<std::string, 3> SaidOf(Mixed mixed, bool vertical) {
  return RunParties(Seed{1}, [&](mpc::Context& party) {
    const auto differs = [&](Mixed part) { return party.self() == 2 && mixed == part; };
    const auto share = [&](mpc::Word state) {
      const auto component = [&](int j) {
        return mpc::RingMatrix::Constant(3, 2, 10 * state + static_cast<mpc::Word>(j));
      };
      return mpc::FixedShare(mpc::ArithShare(component(party.self()), component(party.next())), 16);
    };
    ml::Checkpoint checkpoint{.state = {.weights = share(differs(Mixed::kWeights) ? 5 : 1),
                                        .velocity = share(differs(Mixed::kVelocity) ? 6 : 2),
                                        .step = 15,
                                        .clip_at = differs(Mixed::kClip) ? 1 : 0}};
    checkpoint.coins.emplace(ml::PublicCoins{.schedule = FixedKey(differs(Mixed::kSchedule) ? 7 : 3),
                                             .slots = FixedKey(differs(Mixed::kSlots) ? 8 : 4)});
    try {
      RequireOneCheckpoint(party, checkpoint, "00", vertical, "runs/here");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  });
}

TEST(RequireOneCheckpoint, RefusesAtAllThreeWhatIsOfAnotherState) {
  EXPECT_THAT(SaidOf(Mixed::kNothing, false), Each("none"));
  for (const auto part : {Mixed::kWeights, Mixed::kVelocity, Mixed::kClip, Mixed::kSchedule}) {
    const auto said = SaidOf(part, false);
    for (std::size_t party = 0; party < 3; ++party) {
      const std::string name = party == 2 ? "this party" : "party 2";
      EXPECT_EQ(said.at(party),
                name +
                    " holds a checkpoint of step 15 that does not belong with the other two's: "
                    "--resume: expected the run directory of one run at all three, with its "
                    "checkpoint folder as it was left; found runs/here here");
    }
  }
}

// The places of rows are their owner's alone, but with a vertical partition.
TEST(RequireOneCheckpoint, ComparesThePlacesOfRowsWhereAllKnowThem) {
  EXPECT_THAT(SaidOf(Mixed::kSlots, false), Each("none"));
  EXPECT_THAT(SaidOf(Mixed::kSlots, true), Each(HasSubstr("checkpoint of step 15 that does not belong")));
}

}  // namespace
}  // namespace trefoil::runtime
