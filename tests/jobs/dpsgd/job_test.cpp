#include "jobs/dpsgd/job.h"

#include <gmock/gmock.h>
#include <spdlog/fmt/fmt.h>

#include <array>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/formats/numpy/npz.h"
#include "net/local_transport.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/silent_output.h"
#include "tests/support/run_parties.h"
#include "tests/support/thread_ranks.h"

namespace trefoil::jobs {
namespace {

constexpr const char* kReadTwice = R"(version = 1
type = "dpsgd"
name = "people"
[data]
name = "people"
format = "csv"
rows = [400, 400, 400]
classes = 2
label = { column = "rich", values = ["no", "yes"] }
[[data.column]]
name = "age"
low = 0.0
high = 100.0
[features]
row_norm = 2.0
standardise = "private"
standardise_sigma = 0.01
[training]
steps = 2
expected_batch = 1200
max_batch_per_owner = 400
learning_rate = 2.0
comparison = "bulk"
[privacy]
sigma = 0.02
delta = 1e-5
clip = 1.0
)";

/// Keeps nothing, but says whether anything was charged, and what was opened before the steps.
class ChargeNote : public SilentOutput {
 public:
  void Reserve(const Events& /*plan*/, const Events& /*before*/) override { charged = true; }
  void Announce(const Events& /*executed*/, int /*steps*/) override {
    announced = charged;
    std::exchange(on_announce, [] {})();
  }
  void Opened(const std::vector<ReleasedValue>& values) override {
    EXPECT_TRUE(announced);
    for (const auto& value : values) opened.push_back(value.name);
  }

  bool charged = false;
  bool announced = false;
  std::vector<std::string> opened;
  std::function<void()> on_announce = [] {};
};

/// How a run ended at a party whose file was perhaps replaced.
struct EndOfRun {
  bool charged = false;
  std::string error;           ///< of DataError; empty: it came to its end
  bool lost_at_peers = false;  ///< both others had been charged, and lost this party
  std::vector<std::string> opened{};
};

bool IsLoss(const std::exception_ptr& end) {
  try {
    if (end) std::rethrow_exception(end);
  } catch (const NetworkError&) {
    return true;
  } catch (...) {
  }
  return false;
}

class ReadTwiceTest : public testing::Test {
 protected:
  /// A run of which party 1's file is replaced after it was read, or when the plan has been charged, or
  /// never.
  enum class Replaced { kNever, kOnceRead, kOnceCharged };

  EndOfRun EndOf(Replaced when, const std::string& job_text = kReadTwice) {
    std::array<ChargeNote, 3> notes;
    const auto job_file = folder_.Write("job.toml", job_text);
    for (int id = 0; id < 3; ++id) WriteTable(id, 30);
    const auto ends = testing_support::EndsOver(
        net::MakeLocalTransports(testing_support::kPartyPatience),
        [](int self) { return testing_support::InsecurePrss({3}, self); },
        [&](mpc::Context& context) {
          const int self = context.self();
          auto& note = notes.at(static_cast<std::size_t>(self));
          const auto job = ReadJob(job_file);
          PartyFile party;
          party.id = self;
          party.data = data::OneFile(TableOf(self));
          (void)LoadInputs(*job, party, "party.toml", {.threads = 1});
          if (self == 1 && when == Replaced::kOnceRead) WriteTable(1, 31);
          if (self == 1 && when == Replaced::kOnceCharged) note.on_announce = [this] { WriteTable(1, 31); };
          (void)job->Run(context, note);
        });
    EndOfRun end{.charged = notes[1].charged, .error = {}, .opened = notes[1].opened};
    end.lost_at_peers = notes[0].charged && notes[2].charged && IsLoss(ends[0]) && IsLoss(ends[2]);
    try {
      if (ends[1]) std::rethrow_exception(ends[1]);
    } catch (const DataError& error) {
      end.error = error.what();
    }
    return end;
  }

  [[nodiscard]] std::filesystem::path TableOf(int id) const {
    return folder_.path() / fmt::format("train-{}.csv", id);
  }
  void WriteTable(int id, int youngest) const {
    std::string text = "age,rich\n";
    for (int row = 0; row < 400; ++row)
      text += fmt::format("{},{}\n", youngest + row % 40, row % 40 > 20 ? "yes" : "no");
    (void)folder_.Write(fmt::format("train-{}.csv", id), text);
  }

  const TemporaryFolder folder_;
  const std::string error_ =
      TableOf(1).string() +
      ": found other data than were read at first, expected the same: begin again when "
      "nobody replaces them";
};

// What is opened before the steps is rank 0's; the other rank reads nothing.
TEST_F(ReadTwiceTest, IsTrainedByPartiesOfTwoMachines) {
  const auto job_file = folder_.Write("job.toml", kReadTwice);
  for (int id = 0; id < 3; ++id) WriteTable(id, 30);
  std::array<std::optional<ml::Model>, 3> models;
  testing_support::RunRanks(2, {3}, [&](mpc::Context& context, mpc::Ranks& ranks) {
    const auto job = ReadJob(job_file);
    job->UseRanks(2);
    job->TakeRanks(ranks);
    if (ranks.rank() > 0) return job->Serve(context);
    SilentOutput output;
    PartyFile party;
    party.id = context.self();
    party.data = data::OneFile(TableOf(party.id));
    (void)LoadInputs(*job, party, "party.toml", {.threads = 1});
    models.at(static_cast<std::size_t>(party.id)) = job->Run(context, output).model;
  });
  ASSERT_TRUE(models[0]);
  EXPECT_EQ(models[0]->weights, models[2]->weights);
  // Who is older is rich: the noise of the one step is a fiftieth of the clip.
  EXPECT_GT(models[0]->weights(0, 0), 0);
}

TEST(UseRanks, LetsThePlanCountALaneOfATraining) {
  const TemporaryFolder folder;
  const auto job = ReadJob(folder.Write("job.toml", kReadTwice));
  const auto whole = job->Plan({}).forms.at(0);
  job->UseRanks(1);
  EXPECT_EQ(job->Plan({}).forms.at(0).step->bytes_of_all(), whole.step->bytes_of_all());
  const protocols::Link link{.message_seconds = 1e-4, .bytes_per_second = 1e8};
  const double seconds = *job->Plan(link).forms.at(0).seconds;
  job->UseRanks(4);
  const auto lane = job->Plan(link).forms.at(0);
  EXPECT_LT(lane.step->bytes_of_all(), whole.step->bytes_of_all() / 3);
  EXPECT_LT(lane.cost.bytes_sent[0], whole.cost.bytes_sent[0]);  // most is the measurement of the link
  EXPECT_LT(*lane.seconds, seconds);
}

// A feature more takes, beside floats and weights, five bytes for each row of the batch and each own one
// again, each own one of a message, and for each further step each own one twice and one of a message that
// waits; with further steps also a word for each of five pieces of 64 rows, and at rank 0 a float for each
// row that it hands out.
TEST(DpsgdJob, PlansTheMemoryOfRowsAsNarrowAsTheyAreHeld) {
  const auto memory = [](const char* features, const char* ahead, int ranks) {
    const auto job = ReadJob(std::filesystem::path(TREFOIL_SOURCE_DIR) / "configs/mnist.toml",
                             {features, ahead, "data.rows=[20000, 20000, 700]",
                              "training.max_batch_per_owner=750", "training.expected_batch=1000"});
    job->UseRanks(ranks);
    return job->Plan({}).memory->at(1);
  };
  constexpr double kMore = 784 - 392;
  constexpr double kWeights = 2 * 2 * 8 * 10;
  const auto of_more = [&](const char* ahead, int ranks) {
    return (memory("data.features=784", ahead, ranks) - memory("data.features=392", ahead, ranks)) / kMore -
           20'000 * 4 - kWeights;
  };
  constexpr double kBatch = (750 + 750 + 700) + 750 + 750;
  constexpr double kFurther = 2 * 750 + 700;
  constexpr double kPieces = 5 * 64 * 8;
  EXPECT_EQ(of_more("training.steps_ahead=0", 1), 5 * kBatch);
  EXPECT_EQ(of_more("training.steps_ahead=2", 1), 5 * (kBatch + kFurther) + kPieces);
  EXPECT_EQ(of_more("training.steps_ahead=6", 1), 5 * (kBatch + 5 * kFurther) + kPieces);
  EXPECT_EQ(of_more("training.steps_ahead=2", 2), 5 * (kBatch + kFurther) / 2 + kPieces + 375 * 4);
}

// Rows in words count as two batches, and of each step beyond two with what waits of it; what is dealt of a
// sigmoid, the largest message, as counted by its run ahead.
TEST(DpsgdJob, PlansTheMemoryOfFurtherStepsOfRowsInWords) {
  const auto memory = [](const char* ahead) {
    return ReadJob(std::filesystem::path(TREFOIL_SOURCE_DIR) / "configs/adult-descent.toml", {ahead})
        ->Plan({})
        .memory->at(1);
  };
  constexpr double kDealt = 32'561.0 * 2 * 31 * 4;  // a cosine and a sine of 31 terms, of each logit
  EXPECT_EQ(memory("training.steps_ahead=2") - memory("training.steps_ahead=0"), kDealt);
  EXPECT_EQ(memory("training.steps_ahead=4") - memory("training.steps_ahead=2"),
            2.0 * (2 * 10'854 + 10'853) * (88 + 3) * 8 + kDealt);
}

TEST(DpsgdJob, NotesCheckpointsThatNoStepComesTo) {
  const auto notes = [](const char* every) {
    const auto job = ReadJob(std::filesystem::path(TREFOIL_SOURCE_DIR) / "configs/mnist.toml",
                             {"training.steps=20", every});
    return job->Advice();
  };
  const auto note = testing::HasSubstr("training.checkpoint_every, 21, is above the 20 steps");
  EXPECT_THAT(notes("training.checkpoint_every=21"), testing::Contains(note));
  for (const char* every : {"training.checkpoint_every=20", "training.checkpoint_every=0"})
    EXPECT_THAT(notes(every), testing::Not(testing::Contains(testing::HasSubstr("checkpoint_every"))));
}

TEST(DpsgdJob, NotesErrorBitsThatGainNothingOrCostMuch) {
  const auto notes = [](const std::vector<std::string>& assignments) {
    return ReadJob(std::filesystem::path(TREFOIL_SOURCE_DIR) / "configs/mnist.toml", assignments)->Advice();
  };
  using testing::Contains;
  using testing::HasSubstr;
  using testing::Not;
  const std::string nine = "training.error_fraction_bits=9";
  const auto any = Contains(HasSubstr("error_fraction_bits"));
  EXPECT_THAT(notes({}), Not(any));
  EXPECT_THAT(notes({nine, "features.fraction_bits=8"}), Not(any));  // four bytes in place of five
  EXPECT_THAT(notes({nine}),
              Contains(HasSubstr("makes no row shorter: its numbers take 5 bytes with and without it")));
  EXPECT_THAT(notes({nine, "features.fraction_bits=8", "training.schedule=linear"}), Not(any));
  EXPECT_THAT(notes({nine, "features.fraction_bits=8", "privacy.clip=0.02"}),
              Contains(HasSubstr("training.error_fraction_bits, 9, makes the noise 2.3 times as large")));
  // Whose shift leaves no fewer bits.
  EXPECT_THAT(notes({nine, "training.learning_rate=1e-7"}),
              Contains(HasSubstr("no row shorter: with and without it rows are whole words of 8 bytes")));
  // Which have no room with errors of 22 bits.
  EXPECT_THAT(notes({nine, "fraction_bits=22", "features.fraction_bits=22"}), Not(any));
}

TEST(DpsgdJob, NotesRowBitsThatGainNothing) {
  const auto notes = [](const std::vector<std::string>& assignments) {
    return ReadJob(std::filesystem::path(TREFOIL_SOURCE_DIR) / "configs/mnist.toml", assignments)->Advice();
  };
  using testing::Contains;
  using testing::HasSubstr;
  const auto any = Contains(HasSubstr("features.fraction_bits"));
  for (const char* bits : {"features.fraction_bits=9", "features.fraction_bits=16"})
    EXPECT_THAT(notes({bits}), testing::Not(any));  // five bytes in place of six, or all the bits there are
  EXPECT_THAT(notes({"features.fraction_bits=15"}),
              Contains("features.fraction_bits, 15, rounds rows and makes no row shorter: its numbers take 6 "
                       "bytes with and without it"));
  // As are those of a network whose momentum takes more than they save.
  EXPECT_THAT(notes({"model.hidden=[64]", "training.momentum=0.5", "training.max_batch_per_owner=200",
                     "training.expected_batch=300"}),
              Contains("features.fraction_bits, 9, rounds rows and makes no row shorter: with and without it "
                       "rows are whole words of 8 bytes"));
}

TEST(UseRanks, IsRefusedWhereWorkCannotBeSharedOut) {
  const auto error_of = [](const char* file, const std::vector<std::string>& assignments) -> std::string {
    const auto job = ReadJob(std::filesystem::path(TREFOIL_SOURCE_DIR) / "configs" / file, assignments);
    EXPECT_NO_THROW(job->UseRanks(1));
    try {
      job->UseRanks(4);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("demo.toml", {}), "");
  EXPECT_EQ(error_of("adult-average.toml", {}),
            "[party] ranks: found 4 for a job of type classifier-average, expected 1");
  EXPECT_EQ(error_of("demo.toml", {"privacy.sampling=public"}),
            "privacy.sampling: found \"public\", expected \"owner-poisson\" or \"full\", with [party] ranks "
            "above 1");
}

TEST_F(ReadTwiceTest, TrainsOnAFileThatStays) {
  const auto end = EndOf(Replaced::kNever);
  EXPECT_EQ(end.error, "");
  EXPECT_TRUE(end.charged);
}

/// The same, of a column whose range is found first.
std::string ReadThrice() {
  std::string text = kReadTwice;
  const std::string range = "low = 0.0\nhigh = 100.0\n";
  text.replace(text.find(range), range.size(), "range = \"private\"\n");
  const std::string sigma = "standardise_sigma = 0.01\n";
  return text.insert(text.find(sigma), "range_sigma = 0.01\n");
}

// Party 1 is lost when the counts have opened, and opens no moments of a file that no ledger has charged.
TEST_F(ReadTwiceTest, EndsWhereAFileIsReplacedBeforeRangesAreUsed) {
  const auto end = EndOf(Replaced::kNever, ReadThrice());
  EXPECT_EQ(end.error, "");
  EXPECT_FALSE(end.lost_at_peers);
  EXPECT_THAT(end.opened, testing::ElementsAre("standardise.age.low", "standardise.age.high",
                                               "standardise.age.mean", "standardise.age.scale"));
  const auto lost = EndOf(Replaced::kOnceCharged, ReadThrice());
  EXPECT_EQ(lost.error, error_);
  EXPECT_TRUE(lost.lost_at_peers);
  EXPECT_THAT(lost.opened, testing::ElementsAre("standardise.age.low", "standardise.age.high"));
}

TEST_F(ReadTwiceTest, IsNotChargedForAFileThatWasReplacedOnceRead) {
  const auto end = EndOf(Replaced::kOnceRead);
  EXPECT_EQ(end.error, error_);
  EXPECT_FALSE(end.charged);
}

TEST_F(ReadTwiceTest, EndsWhereTheFileOfTheSecondReadingIsAnother) {
  EXPECT_EQ(EndOf(Replaced::kOnceCharged).error, error_);
}

constexpr const char* kReadOnce = R"(version = 1
type = "dpsgd"
name = "stripes"
[data]
name = "stripes"
format = "npz"
rows = [60, 60, 60]
features = 64
classes = 2
[features]
method = "hog"
row_norm = 4.0
[training]
steps = 3
expected_batch = 180
max_batch_per_owner = 60
learning_rate = 40.0
comparison = "bulk"
[privacy]
sigma = 0.01
delta = 1e-5
clip = 1.0
)";

class ReadOnceTest : public testing::Test {
 protected:
  /// Weights of a run whose parties are `ranks` machines each, and whose files are gone once they have been
  /// read.
  ml::Model Train(int ranks, const std::vector<std::string>& assignments) {
    for (int id = 0; id < 3; ++id) WriteImages(id);
    const auto job_file = folder_.Write("job.toml", kReadOnce);
    std::array<std::optional<ml::Model>, 3> models;
    testing_support::RunRanks(ranks, {3}, [&](mpc::Context& context, mpc::Ranks& lanes) {
      const auto job = ReadJob(job_file, assignments);
      job->UseRanks(ranks);
      job->TakeRanks(lanes);
      if (lanes.rank() > 0) return job->Serve(context);
      SilentOutput output;
      PartyFile party;
      party.id = context.self();
      party.data = data::OneFile(ImagesOf(party.id));
      (void)LoadInputs(*job, party, "party.toml", {.threads = 1});
      std::filesystem::remove(ImagesOf(party.id));
      models.at(static_cast<std::size_t>(party.id)) = job->Run(context, output).model;
      if (party.id == 0) released_ = job->Model();
    });
    return models[0].value();
  }

  [[nodiscard]] std::filesystem::path ImagesOf(int id) const {
    return folder_.path() / fmt::format("train-{}.npz", id);
  }
  /// Stripes of two directions.
  void WriteImages(int id) const {
    std::vector<double> x;
    std::vector<std::int64_t> y;
    for (int image = 0; image < 60; ++image) {
      y.push_back(image % 2);
      for (int pixel = 0; pixel < 64; ++pixel)
        x.push_back((image % 2 == 1 ? pixel / 8 : pixel % 8) / (1.0 + image % 7) + 0.1 * (pixel * image % 5));
    }
    data::WriteNpz(ImagesOf(id),
                   {{"x", data::NpyFromDoubles({60, 64}, x)}, {"y", data::NpyFromIntegers({60}, y)}});
  }

  const TemporaryFolder folder_;
  std::optional<ModelSchema> released_;  ///< of the last run
};

// Noise: two runs' weights are 40 0.01 √1.5 √3 √2/180, 0.007, apart by it (a deviation), beyond nine of which
// none of 36 lies once in 10^17 runs; without means they are many times that apart.
TEST_F(ReadOnceTest, TrainsOnExtractedRowsLessTheirMeansByOneReading) {
  const std::vector<std::string> standardise{"features.standardise=private",
                                             "features.standardise_sigma=0.01"};
  const auto found = Train(1, standardise);
  const auto& means = released_->records.features.means;
  ASSERT_EQ(means.size(), 36U);
  const auto found_by_two = Train(2, standardise);
  const auto given = Train(1, {fmt::format("features.means=[{}]", fmt::join(means, ","))});
  const auto without = Train(1, {});
  EXPECT_LT((found.weights - given.weights).cwiseAbs().maxCoeff(), 0.06);
  EXPECT_LT((found_by_two.weights - given.weights).cwiseAbs().maxCoeff(), 0.06);
  EXPECT_GT((without.weights - given.weights).cwiseAbs().maxCoeff(), 0.12);
}

}  // namespace
}  // namespace trefoil::jobs
