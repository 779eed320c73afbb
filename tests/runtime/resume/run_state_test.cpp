#include "runtime/resume/run_state.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/files/files.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/faults/file_calls.h"
#include "tests/support/fixed_key.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing_support::FixedKey;
using testing_support::TakeFileCalls;

constexpr const char* kResumedJob = R"(version = 1
type = "dpsgd"
name = "resumed"
[data]
name = "resumed"
format = "idx"
rows = [20, 20, 20]
features = 4
classes = 3
[training]
steps = 30
expected_batch = 12
max_batch_per_owner = 20
learning_rate = 1
checkpoint_every = 5
[privacy]
sigma = 1.5
delta = 1e-5
clip = 0.5
)";

constexpr mpc::Word kMarker = 0x0123456789ABCDEF;
const std::string kFirst(32, 'a');
const std::string kSecond(32, 'b');

class RunStateTest : public testing::Test {
 protected:
  RunOwner Owner() const { return {.party = 1, .job = job_, .data_hash = "dd"}; }
  [[nodiscard]] std::unique_ptr<RunState> Open() const {
    return std::make_unique<RunState>(run_, Owner(), FixedKey(1));
  }
  /// A state in whose session `id` nothing has begun yet.
  [[nodiscard]] std::unique_ptr<RunState> Begin(const std::string& id, const AgreedRun& agreed = {}) const {
    auto state = Open();
    (void)state->Begin(agreed, id);
    return state;
  }
  [[nodiscard]] ml::Checkpoint At(int step) const {
    mpc::RingMatrix own = mpc::RingMatrix::Constant(5, 3, kMarker);
    mpc::RingMatrix next = mpc::RingMatrix::Constant(5, 3, static_cast<mpc::Word>(step));
    ml::Checkpoint checkpoint{.state = {.weights = {mpc::ArithShare(own, next), 16},
                                        .velocity = {mpc::ArithShare(next, own), 16},
                                        .step = step}};
    if (job_->ShapeOfCheckpoint().coins)
      checkpoint.coins.emplace(ml::PublicCoins{.schedule = FixedKey(3), .slots = FixedKey(4)});
    return checkpoint;
  }
  [[nodiscard]] std::string ErrorOf(const RunOwner& owner, std::uint8_t key = 1) const {
    try {
      const RunState state(run_, owner, FixedKey(key));
    } catch (const DataError& error) {
      return std::string("data: ") + error.what();
    } catch (const ConfigError& error) {
      return std::string("configuration: ") + error.what();
    }
    return "none";
  }
  [[nodiscard]] std::vector<fs::path> Sealed() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(run_ / "checkpoint")) {
      if (entry.path().extension() == ".sealed") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  const TemporaryFolder folder_;
  const fs::path run_ = folder_.path() / "out";
  std::shared_ptr<const jobs::Job> job_ = jobs::ReadJob(folder_.Write("job.toml", kResumedJob));
};

TEST_F(RunStateTest, KnowsOfNoRunWhereThereIsNone) {
  const auto state = Open();
  EXPECT_EQ(state->claim().run_id, "");
  EXPECT_TRUE(state->claim().held.empty());
  EXPECT_FALSE(fs::exists(run_));  // nothing is made before there is something to keep
}

TEST_F(RunStateTest, KeepsTheLastTwoCheckpointsSealedToTheirOwner) {
  {
    const auto state = Begin(kFirst);
    EXPECT_EQ(state->run_id(), kFirst);
    state->Announce(6);
    for (const int step : {0, 5, 10}) state->Keep(At(step));
  }
  for (const auto& file :
       {run_ / "checkpoint/run.json", run_ / "checkpoint/step", Sealed().at(0), Sealed().at(1)})
    EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write) << file;
  EXPECT_EQ(fs::status(run_ / "checkpoint").permissions(), fs::perms::owner_all);
  EXPECT_EQ(Sealed().size(), 2U);
  const std::string marker(reinterpret_cast<const char*>(&kMarker), sizeof kMarker);
  for (const auto& file : Sealed()) EXPECT_EQ(ReadTextFile(file, "").find(marker), std::string::npos);

  auto state = Open();
  EXPECT_EQ(state->claim().held, (std::vector<CheckpointName>{{5, kFirst}, {10, kFirst}}));
  const auto resumption =
      state->Begin({.run_id = kFirst, .from = CheckpointName{5, kFirst}, .earlier = {}}, kSecond);
  EXPECT_EQ(resumption.from->state.step, 5);
  EXPECT_TRUE((resumption.from->state.weights.ring().own() == At(5).state.weights.ring().own()).all());
  EXPECT_TRUE((resumption.from->state.weights.ring().next() == At(5).state.weights.ring().next()).all());
  EXPECT_TRUE((resumption.from->state.velocity.ring().own() == At(5).state.velocity.ring().own()).all());
  EXPECT_EQ(resumption.from->state.weights.frac_bits(), 16);
  EXPECT_FALSE(resumption.from->coins);
  EXPECT_EQ(state->claim().held, (std::vector<CheckpointName>{{5, kFirst}}));  // 10 is done again
  EXPECT_EQ(Sealed().size(), 1U);
  EXPECT_EQ(state->run_id(), kFirst);
}

TEST_F(RunStateTest, KeepsTheCountsThatClassWeightsFollowFrom) {
  job_ = jobs::ReadJob(folder_.path() / "job.toml", {"model.class_weights=balanced"});
  auto checkpoint = At(5);
  checkpoint.class_counts = {5, -3, std::int64_t{1} << 40};
  Begin(kFirst)->Keep(checkpoint);
  const auto resumption =
      Open()->Begin({.run_id = kFirst, .from = CheckpointName{5, kFirst}, .earlier = {}}, kSecond);
  EXPECT_EQ(resumption.from->class_counts, checkpoint.class_counts);
}

TEST_F(RunStateTest, RefusesACheckpointWithoutACountForEachClass) {
  const auto error_of = [&](const std::vector<std::int64_t>& counts) {
    auto checkpoint = At(5);
    checkpoint.class_counts = counts;
    const CheckpointOwner owner{.party = 1, .run_id = kFirst, .job_hash = jobs::HashOf(*job_)};
    const auto file = folder_.path() / "one.sealed";
    SaveCheckpoint(file, owner, kFirst, checkpoint, FixedKey(1));
    try {
      (void)LoadCheckpoint(file, owner, *job_, FixedKey(1));
    } catch (const DataError& error) {
      return std::string(error.what()).substr(file.string().size());
    }
    return std::string("none");
  };
  const auto refused = [](int found, int expected) {
    return ": found a checkpoint with " + std::to_string(found) + " class counts, expected one with " +
           std::to_string(expected) + ", as its job has";
  };
  EXPECT_EQ(error_of({}), "none");
  EXPECT_EQ(error_of({5, 6, 7}), refused(3, 0));
  job_ = jobs::ReadJob(folder_.path() / "job.toml", {"model.class_weights=balanced"});
  EXPECT_EQ(error_of({5, 6, 7}), "none");
  EXPECT_EQ(error_of({}), refused(0, 3));
  EXPECT_EQ(error_of({5, 6}), refused(2, 3));
  EXPECT_EQ(error_of({5, 6, 7, 8}), refused(4, 3));
}

TEST_F(RunStateTest, KeepsWhereAnAdaptiveClipIsAndRefusesAnother) {
  const auto read_with = [&](std::optional<int> at) -> std::string {
    auto checkpoint = At(5);
    checkpoint.state.clip_at = at;
    const CheckpointOwner owner{.party = 1, .run_id = kFirst, .job_hash = jobs::HashOf(*job_)};
    const auto file = folder_.path() / "one.sealed";
    SaveCheckpoint(file, owner, kFirst, checkpoint, FixedKey(1));
    try {
      EXPECT_EQ(LoadCheckpoint(file, owner, *job_, FixedKey(1)).checkpoint.state.clip_at, at);
    } catch (const DataError& error) {
      return std::string(error.what()).substr(file.string().size());
    }
    return "none";
  };
  const std::string refused =
      ": found a checkpoint with another clip, expected one with a clip as its job has";
  EXPECT_EQ(read_with({}), "none");
  EXPECT_EQ(read_with(7), refused);
  job_ = jobs::ReadJob(folder_.path() / "job.toml", {"privacy.clip=adaptive"});
  EXPECT_EQ(read_with({}), refused);
  for (const int at : {-ml::kClipReach, -1, 0, ml::kClipReach}) EXPECT_EQ(read_with(at), "none");
  for (const int at : {-ml::kClipReach - 1, ml::kClipReach + 1}) EXPECT_EQ(read_with(at), refused);
}

TEST_F(RunStateTest, ChangesNothingWhereItsCheckpointIsRefused) {
  {
    const auto state = Begin(kFirst);
    for (const int step : {5, 10}) state->Keep(At(step));
  }
  const AgreedRun agreed{.run_id = kFirst, .from = CheckpointName{5, kFirst}, .earlier = {}};
  const auto run = ReadTextFile(run_ / "checkpoint/run.json", "");
  int seen = 0;
  const auto refuse = [&](const ml::Checkpoint& checkpoint) {
    seen = static_cast<int>(checkpoint.state.step);
    throw ConfigError("of another model");
  };
  EXPECT_THROW((void)Open()->Begin(agreed, kSecond, refuse), ConfigError);
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(Sealed().size(), 2U);  // 10 would be done again, and so be dropped
  EXPECT_EQ(ReadTextFile(run_ / "checkpoint/run.json", ""), run);
}

TEST_F(RunStateTest, NotesThatTheReleaseBegins) {
  {
    const auto state = Begin(kFirst);
    state->Keep(At(30));
    EXPECT_FALSE(state->claim().released);
    state->BeginRelease();
  }
  EXPECT_TRUE(Open()->claim().released);
}

TEST_F(RunStateTest, KnowsWhichSessionMadeWhatIsReleased) {
  {
    const auto state = Begin(kFirst);
    EXPECT_EQ(state->releasing_session(), kFirst);
    for (const int step : {25, 30}) state->Keep(At(step));
  }
  const AgreedRun from_before{.run_id = kFirst, .from = CheckpointName{25, kFirst}, .earlier = {}};
  const AgreedRun from_last{.run_id = kFirst, .from = CheckpointName{30, kFirst}, .earlier = {}};
  EXPECT_EQ(Begin(kSecond, from_last)->releasing_session(),
            kFirst);  // what the first session may have given out
  EXPECT_EQ(Begin(kSecond, from_before)->releasing_session(), kSecond);
}

TEST_F(RunStateTest, KeepsWhatTheEvaluationCountedBesideTheLastCheckpoint) {
  job_ = jobs::ReadJob(folder_.path() / "job.toml",
                       {"evaluation.holder=0", "evaluation.rows=20", "evaluation.sigma=25.0"});
  const CheckpointName last{30, kFirst};
  const CheckpointName name{30, kFirst, true};
  const auto counted_at = [&](int step) {
    auto checkpoint = At(step);
    checkpoint.counts =
        mpc::ArithShare(mpc::RingMatrix::Constant(1, 1, 7), mpc::RingMatrix::Constant(1, 1, 9));
    return checkpoint;
  };
  {
    const auto state = Begin(kFirst);
    for (const int step : {25, 30}) state->Keep(At(step));
    state->Keep(counted_at(30));
  }
  EXPECT_EQ(Open()->claim().held, (std::vector<CheckpointName>{last, name}));
  {  // Somebody lacks it: it is counted again, of the weights that the first session made.
    const auto state = Begin(kSecond, {.run_id = kFirst, .from = last, .earlier = {}});
    EXPECT_EQ(state->claim().held, (std::vector<CheckpointName>{last}));
    state->Keep(counted_at(30));
    EXPECT_EQ(state->claim().held, (std::vector<CheckpointName>{last, name}));
  }
  {
    const auto state = Open();
    const auto resumption = state->Begin({.run_id = kFirst, .from = name, .earlier = {}}, kSecond);
    ASSERT_TRUE(resumption.from->counts);
    EXPECT_EQ(resumption.from->counts->own()(0, 0), 7U);
    EXPECT_EQ(resumption.from->counts->next()(0, 0), 9U);
    EXPECT_EQ(state->releasing_session(), kFirst);
  }
  const CheckpointOwner owner{.party = 1, .run_id = kFirst, .job_hash = jobs::HashOf(*job_)};
  SaveCheckpoint(Sealed().at(0), owner, kFirst, counted_at(25), FixedKey(1));
  EXPECT_THAT(ErrorOf(Owner()), HasSubstr("found a checkpoint that does not fit its job"));
}

TEST_F(RunStateTest, KeepsTheCoinsOfPublicSampling) {
  job_ = jobs::ReadJob(folder_.path() / "job.toml", {"privacy.sampling=public"});
  {
    const auto state = Begin(kFirst);
    state->Keep(At(5));
  }
  const auto resumption =
      Open()->Begin({.run_id = kFirst, .from = CheckpointName{5, kFirst}, .earlier = {}}, kSecond);
  ASSERT_TRUE(resumption.from->coins);
  EXPECT_EQ(resumption.from->coins->schedule.bytes()[0], FixedKey(3).bytes()[0]);
  EXPECT_EQ(resumption.from->coins->slots.bytes()[31], FixedKey(4).bytes()[31]);
}

TEST_F(RunStateTest, CountsTheStepsOfASessionThatWasKilled) {
  (void)Begin(kFirst);
  EXPECT_TRUE(Open()->claim().sessions.empty());  // nothing was begun
  {
    const auto state = Begin(kFirst);
    state->Announce(6);
  }
  auto sessions = Open()->claim().sessions;
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_TRUE(sessions[0].from_start);
  EXPECT_EQ(sessions[0].begun, 0);
  {
    const auto state = Begin(kFirst);
    state->Announce(6);
    for (const int step : {0, 1, 2}) state->BeginStep(step);
  }
  EXPECT_EQ(Open()->claim().sessions.at(0).begun, 3);
  EXPECT_FALSE(Open()->claim().sessions.at(0).evaluated);
}

TEST_F(RunStateTest, CountsWhatWasAnnouncedAfterACrashOfTheMachine) {
  {
    const auto state = Begin(kFirst);
    state->Announce(6);
    state->BeginStep(2);
  }
  const auto file = run_ / "checkpoint/step";
  const auto text = ReadTextFile(file, "");
  ASSERT_EQ(Open()->claim().sessions.at(0).begun, 3);
  std::ofstream(file) << "another-boot" << text.substr(text.find(' '));
  EXPECT_EQ(Open()->claim().sessions.at(0).begun, 6);
  std::ofstream(file).flush();  // empty
  EXPECT_EQ(Open()->claim().sessions.at(0).begun, 6);
  std::ofstream(file) << text.substr(0, text.find(' ')) << " " << kSecond << " 2\n";  // another session
  EXPECT_EQ(Open()->claim().sessions.at(0).begun, 6);
}

TEST_F(RunStateTest, ListsASessionOnceItMayExecuteSomething) {
  const ml::SessionHistory earlier{{.id = kFirst, .from_start = true, .first = 0, .begun = 7}};
  {
    const auto state = Begin(kSecond, {.run_id = kFirst, .from = {}, .earlier = earlier});
    state->BeginEvaluation();
  }
  const auto sessions = Open()->claim().sessions;
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].begun, 7);
  EXPECT_EQ(sessions[1].id, kSecond);
  EXPECT_TRUE(sessions[1].evaluated);
}

TEST_F(RunStateTest, RefusesAnothersRunJobDataAndKey) {
  {
    const auto state = Begin(kFirst);
    state->Keep(At(5));
  }
  EXPECT_EQ(ErrorOf(Owner()), "none");
  auto other = Owner();
  other.party = 2;
  EXPECT_EQ(ErrorOf(other),
            "data: " + (run_ / "checkpoint/run.json").string() + ": found party 1's run, expected party 2's");
  other = Owner();
  other.job = jobs::ReadJob(folder_.path() / "job.toml", {"privacy.sigma=2.0"});
  EXPECT_THAT(ErrorOf(other), HasSubstr("configuration: privacy.sigma: found 2.0, expected 1.5, as in "));
  other = Owner();
  other.data_hash = "ee";
  EXPECT_THAT(ErrorOf(other), HasSubstr("data: " + (run_ / "checkpoint/run.json").string() +
                                        ": found other data: a run goes on"));
  EXPECT_THAT(ErrorOf(Owner(), 2),
              HasSubstr(Sealed().at(0).string() + ": cannot be opened: it was changed, or "));
  fs::permissions(Sealed().at(0), fs::perms::group_read, fs::perm_options::add);
  EXPECT_THAT(ErrorOf(Owner()), HasSubstr("configuration: "));
}

TEST_F(RunStateTest, RefusesCheckpointsOfAnotherRunOrParty) {
  {
    const auto state = Begin(kFirst);
    state->Keep(At(5));
  }
  const auto file = Sealed().at(0);
  const auto save = [&](const CheckpointOwner& owner) {
    SaveCheckpoint(file, owner, kFirst, At(5), FixedKey(1));
  };
  save({.party = 2, .run_id = kFirst, .job_hash = jobs::HashOf(*job_)});
  EXPECT_EQ(ErrorOf(Owner()), "data: " + file.string() + ": found party 2's checkpoint, expected party 1's");
  save({.party = 1, .run_id = kSecond, .job_hash = jobs::HashOf(*job_)});
  EXPECT_THAT(ErrorOf(Owner()), HasSubstr("found a checkpoint of run bb"));
  save({.party = 1, .run_id = kFirst, .job_hash = "00"});
  EXPECT_THAT(ErrorOf(Owner()), HasSubstr("found a checkpoint of another job"));
  save({.party = 1, .run_id = kFirst, .job_hash = jobs::HashOf(*job_)});
  EXPECT_EQ(ErrorOf(Owner()), "none");
}

TEST_F(RunStateTest, RefusesAnyChangeOfAFile) {
  {
    const auto state = Begin(kFirst);
    state->Announce(6);
    state->Keep(At(5));
  }
  const auto run = run_ / "checkpoint/run.json";
  for (const auto& file : {Sealed().at(0), run}) {
    const auto text = ReadTextFile(file, "");
    for (const auto size : {std::size_t{0}, std::size_t{25}, text.size() / 2, text.size() - 3}) {
      ReplaceSecretFile(file, text.substr(0, size));
      EXPECT_THAT(ErrorOf(Owner()), HasSubstr("data: " + file.string())) << size;
    }
    ReplaceSecretFile(file, text);
  }
  const auto sealed = Sealed().at(0);
  const auto text = ReadTextFile(sealed, "");
  for (std::size_t at = 0; at < text.size(); at += 7) {
    auto flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    ReplaceSecretFile(sealed, flipped);
    EXPECT_THAT(ErrorOf(Owner()), HasSubstr("data: " + sealed.string())) << at;
  }
}

TEST_F(RunStateTest, IsOneProcesss) {
  const auto state = Begin(kFirst);
  EXPECT_THAT(ErrorOf(Owner()), HasSubstr("found a run that another process executes"));
}

TEST_F(RunStateTest, LeavesNothingBehindWhenItIsDiscarded) {
  const auto state = Begin(kFirst);
  state->Keep(At(5));
  (void)TakeFileCalls();
  state->Discard();
  EXPECT_THAT(TakeFileCalls(), testing::ElementsAre("fsync checkpoint", "fsync out"));
  EXPECT_FALSE(fs::exists(run_ / "checkpoint"));
  EXPECT_TRUE(Open()->claim().run_id.empty());
}

TEST_F(RunStateTest, RemovesWhatAnInterruptedRemovalLeft) {
  {
    const auto state = Begin(kFirst);
    state->Keep(At(5));
  }
  fs::remove(run_ / "checkpoint/run.json");
  RemoveCheckpoints(run_);
  EXPECT_FALSE(fs::exists(run_ / "checkpoint"));
  RemoveCheckpoints(run_);
  EXPECT_TRUE(fs::exists(run_));
}

TEST_F(RunStateTest, RemovesDraftsThatWereInterrupted) {
  (void)Begin(kFirst);
  const auto draft = run_ / "checkpoint/000005-aaaaaaaaaaaaaaaa.sealed.part";
  std::ofstream(draft) << "half";
  (void)Begin(kSecond);
  EXPECT_FALSE(fs::exists(draft));
}

TEST_F(RunStateTest, LeavesADamagedCheckpointAsideWhereANewerOneIsWhole) {
  {
    const auto state = Begin(kFirst);
    state->Announce(11);
    for (const int step : {5, 10}) state->Keep(At(step));
  }
  auto files = Sealed();
  std::sort(files.begin(), files.end());
  const auto damage = [](const fs::path& file) {
    auto text = ReadTextFile(file, "");
    text.back() = static_cast<char>(text.back() ^ 1);
    ReplaceSecretFile(file, text);
  };
  damage(files.at(0));
  {
    auto state = Open();
    EXPECT_EQ(state->claim().held, (std::vector<CheckpointName>{{10, kFirst}}));
    ASSERT_EQ(state->damaged().size(), 1U);
    EXPECT_THAT(state->damaged()[0], HasSubstr(files.at(0).string() + ": cannot be opened"));
    const auto resumption =
        state->Begin({.run_id = kFirst, .from = CheckpointName{10, kFirst}, .earlier = {}}, kSecond);
    EXPECT_EQ(resumption.from->state.step, 10);
  }
  damage(files.at(1));
  EXPECT_THAT(ErrorOf(Owner()), HasSubstr("data: " + files.at(1).string()));
}

TEST_F(RunStateTest, LeavesACheckpointThatCannotBeReadAsideWhereANewerOneIsWhole) {
  {
    const auto state = Begin(kFirst);
    state->Announce(11);
    for (const int step : {5, 10}) state->Keep(At(step));
  }
  const auto files = Sealed();
  const auto open_without = [&](const std::string& cause) {
    const auto state = Open();
    EXPECT_EQ(state->claim().held, (std::vector<CheckpointName>{{10, kFirst}})) << cause;
    ASSERT_EQ(state->damaged().size(), 1U) << cause;
    EXPECT_THAT(state->damaged()[0], AllOf(HasSubstr(files.at(0).string()), HasSubstr(cause)));
  };
  fs::permissions(files.at(0), fs::perms(0640));
  open_without("found mode 0640");
  fs::permissions(files.at(0), fs::perms(0600));
  fs::resize_file(files.at(0), (std::uintmax_t{1} << 33) + 1);  // takes no room
  open_without("more than 8589934592");
  fs::remove(files.at(0));
  fs::create_directory(files.at(0));
  fs::permissions(files.at(0), fs::perms(0700));
  open_without("not a file");
  fs::permissions(files.at(1), fs::perms(0640));  // the newest is needed
  EXPECT_THAT(ErrorOf(Owner()), HasSubstr("configuration: " + files.at(1).string() + ": found mode 0640"));
}

}  // namespace
}  // namespace trefoil::runtime
