#include "jobs/dpsgd/settings/settings_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "jobs/dpsgd/canaries.h"
#include "jobs/dpsgd/job.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/job.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/edit_case.h"
#include "tests/jobs/job_on_deposits.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::ErrorText;

constexpr const char* kTargetJob = R"(version = 1
type = "dpsgd"
name = "rents"
[data]
name = "rents"
format = "csv"
rows = [10, 20, 30]
[[data.column]]
name = "area"
[data.target]
column = "rent"
low = -3
high = 29.5
[model]
loss = "squared"
[training]
steps = 5
expected_batch = 12
max_batch_per_owner = 20
learning_rate = 1
[privacy]
sigma = 1.5
delta = 1e-5
clip = 1
)";

constexpr const char* kVerticalJob = R"(version = 1
type = "dpsgd"
name = "parts"
[data]
name = "parts"
format = "csv"
partition = "vertical"
rows = [20, 20, 20]
classes = 2
label = { column = "y", values = ["n", "y"], party = 2 }
column = [{ name = "id", kind = "key" }, { name = "a", party = 0 }, { name = "b", party = 1 }, { name = "c", party = 2 }]
[training]
steps = 5
expected_batch = 12
learning_rate = 1
[privacy]
sigma = 1.5
delta = 1e-5
clip = 1
sampling = "public"
)";

constexpr const char* kStandardiseJob = R"(version = 1
type = "dpsgd"
name = "ages"
[data]
name = "ages"
format = "csv"
rows = [10, 20, 30]
classes = 2
label = { column = "y", values = ["n", "y"] }
[[data.column]]
name = "age"
low = 17.0
high = 90.0
[training]
steps = 5
expected_batch = 12
max_batch_per_owner = 20
learning_rate = 1
[privacy]
epsilon = 1.5
delta = 1e-5
clip = 1
)";

DpsgdSettings ReadTargets(const std::string& text, const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  return ReadDpsgdSettings(folder.Write("x.toml", text), assignments);
}

TEST(TargetJob, IsOfOneNumberInPlaceOfClassesAndReadsBack) {
  const auto job = ReadTargets(kTargetJob);
  EXPECT_EQ(job.data.target, (data::TargetRange{-3, 29.5}));
  EXPECT_EQ(job.data.label.column, "rent");
  EXPECT_EQ(job.data.features, 1);
  const auto settings = SettingsOf(job);
  EXPECT_TRUE(settings.targets);
  EXPECT_EQ(settings.classes, 2);  // one column
  const auto json = DpsgdJson(job);
  EXPECT_THAT(json, HasSubstr(R"("target":{"column":"rent","high":29.5,"low":-3.0})"));
  EXPECT_THAT(json, Not(HasSubstr("classes")));
  EXPECT_THAT(json, Not(HasSubstr("label\"")));
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(json, "x")), DpsgdHash(job));
  EXPECT_EQ(DpsgdHash(ReadTargets(TomlOf(*MakeDpsgdJob(job)))), DpsgdHash(job));
  EXPECT_EQ(job.data.target, ModelSchemaOf(job).records.data.target);
  // Of arrays, y is the target.
  const auto arrays = Replaced(Replaced(Replaced(kTargetJob, "\"csv\"", "\"npy\"\nfeatures = 2"),
                                        "[[data.column]]\nname = \"area\"\n", ""),
                               "column = \"rent\"\n", "");
  EXPECT_EQ(ReadTargets(arrays).data.target, (data::TargetRange{-3, 29.5}));
}

TEST(TargetJob, OfHubersLossHasAThresholdInTheTargetsUnit) {
  const auto text = Replaced(kTargetJob, "\"squared\"", "\"huber\"\nhuber_threshold = 6.5");
  const auto job = ReadTargets(text);
  EXPECT_DOUBLE_EQ(SettingsOf(job).huber_threshold, 0.2);  // of 32.5
  EXPECT_THAT(DpsgdJson(job), HasSubstr(R"("model":{"hidden":[],"huber_threshold":6.5,"loss":"huber"})"));
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(job), "x")), DpsgdHash(job));
  EXPECT_EQ(DpsgdHash(ReadTargets(TomlOf(*MakeDpsgdJob(job)))), DpsgdHash(job));
  EXPECT_FALSE(ModelSchemaOf(job).probabilities);
  EXPECT_THAT(DpsgdJson(ReadTargets(kTargetJob)), Not(HasSubstr("huber")));
  const auto labels = Replaced(text, "[data.target]\ncolumn = \"rent\"\nlow = -3\nhigh = 29.5\n",
                               "[data.label]\ncolumn = \"a\"\nvalues = [\"b\", \"c\"]\n");
  const auto classes = Replaced(labels, "rows = [10", "classes = 2\nrows = [10");
  const std::string range = "expected a number from 0.00793457 to 2080, by the range of [data.target]";
  const EditCase cases[] = {
      {"large", "6.5", "2080.5", range},
      {"small", "6.5", "0.0079", range},
      {"negative", "6.5", "-1", "expected a number above 0"},
      {"squared", "\"huber\"", "\"squared\"", "only model.loss \"huber\" has it"},
      {"classes", text, classes, "\"huber\" is of [data.target] alone"},
  };
  for (const auto& [name, from, to, expected] : cases) {
    try {
      (void)ReadTargets(Replaced(text, from, to));
      ADD_FAILURE() << name;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(expected)) << name;
    }
  }
}

TEST(TargetJob, RefusesWhatNeedsClasses) {
  const std::string evaluation = "[evaluation]\nholder = 0\nrows = 9\n";
  const std::string initialisation =
      "[initialisation]\nmethod = \"accuracy\"\nsteps = 2\nexpected_batch = 3\nlearning_rate = 1\nsigma = "
      "1\n";
  const EditCase cases[] = {
      {"classes", "rows = [10", "classes = 3\nrows = [10", "data.classes: found it beside [data.target]"},
      {"label", "[model]", "[data.label]\ncolumn = \"a\"\nvalues = [\"b\", \"c\"]\n[model]",
       "data.label: found it beside [data.target]"},
      {"loss", "\"squared\"", "\"softmax\"",
       "expected \"squared\", \"huber\" or \"poisson\" with [data.target]"},
      {"no_loss", "loss = \"squared\"\n", "",
       "expected \"squared\", \"huber\" or \"poisson\" with [data.target]"},
      {"huber", "\"squared\"", "\"huber\"", "missing model.huber_threshold"},
      {"poisson", "\"squared\"", "\"poisson\"", "expected 0 with model.loss \"poisson\""},
      {"range", "high = 29.5", "high = -3.0", "data.target.high: found -3"},
      {"no_range", "high = 29.5", "", "missing data.target.high"},
      {"no_column", "column = \"rent\"\n", "", "missing data.target.column"},
      {"evaluation", "[model]", evaluation + "[model]",
       "evaluation: found it with [data.target], expected none"},
      {"selection", "[model]", initialisation + "[model]", "\"none\" or \"averaging\" with [data.target]"},
      {"shares", "[model]", "[release]\nto = []\n[model]", "a party with [data.target]"},
  };
  for (const auto& [name, from, to, expected] : cases) {
    try {
      (void)ReadTargets(Replaced(kTargetJob, from, to));
      ADD_FAILURE() << name;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(expected)) << name;
    }
  }
  EXPECT_THROW(CheckAuditable(ReadTargets(kTargetJob), 10), ConfigError);
}

constexpr const char* kStoreJob = R"(version = 1
type = "dpsgd"
name = "visits"
[data]
name = "visits"
format = "csv"
source = "store"
capacity = 60
classes = 2
label = { column = "y", values = ["n", "y"] }
[[data.column]]
name = "age"
low = 17.0
high = 90.0
[training]
steps = 5
expected_batch = "auto"
learning_rate = 1
[privacy]
sigma = 1.5
delta = 1e-5
clip = 1
sampling = "full"
)";

TEST(StoreJob, IsOfAllDepositsTogetherAndReadsBack) {
  const auto job = ReadTargets(kStoreJob);
  EXPECT_TRUE(job.store.on);
  EXPECT_EQ(job.store.purpose, "train");
  EXPECT_EQ(job.data.rows, (std::array<std::int64_t, 3>{60, 0, 0}));
  EXPECT_EQ(job.training.expected_batch, 60);
  const auto settings = SettingsOf(job);
  EXPECT_TRUE(settings.deposited);
  EXPECT_EQ(ml::SamplingRate(settings), 1);
  EXPECT_TRUE(PromiseOf(job).deposited);
  EXPECT_THAT(PromiseOf(job).warnings, testing::IsEmpty());
  const auto json = DpsgdJson(job);
  EXPECT_THAT(json, HasSubstr(R"("capacity":60)"));
  EXPECT_THAT(json, HasSubstr(R"("source":"store")"));
  for (const auto* absent : {"rows", "study", "purpose"}) EXPECT_THAT(json, Not(HasSubstr(absent))) << absent;
  const std::string study(64, 'a');
  const auto named = ReadTargets(kStoreJob, {"data.study=" + study, "data.purpose=ward"});
  EXPECT_EQ(named.store.study, study);
  EXPECT_NE(DpsgdHash(named), DpsgdHash(job));
  for (const auto& one : {job, named}) {
    EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(one), "x")), DpsgdHash(one));
    EXPECT_EQ(DpsgdHash(ReadTargets(TomlOf(*MakeDpsgdJob(one)))), DpsgdHash(one));
  }
  // As it was where parties bring files, whether the job says so or not.
  const auto files =
      Replaced(Replaced(kStandardiseJob, "epsilon", "sampling = \"full\"\nepsilon"), "= 12", "= 60");
  EXPECT_THAT(DpsgdJson(ReadTargets(files)), Not(HasSubstr("source")));
  EXPECT_EQ(DpsgdHash(ReadTargets(files, {"data.source=files"})), DpsgdHash(ReadTargets(files)));
  EXPECT_FALSE(PromiseOf(ReadTargets(files)).deposited);
}

TEST(StoreJob, RefusesWhatItDoesNotCover) {
  const std::string initialisation =
      "[initialisation]\nmethod = \"averaging\"\nsteps = 2\nexpected_batch = 3\nlearning_rate = 1\nsigma = "
      "1\n";
  const EditCase cases[] = {
      {"rows", "capacity = 60", "capacity = 60\nrows = [20, 20, 20]",
       "data.rows: found it with data.source \"store\", which has data.capacity"},
      {"no_capacity", "capacity = 60\n", "", "missing data.capacity"},
      {"none", "= 60", "= 0", "data.capacity: found 0"},
      {"files", "\"store\"", "\"files\"", "only data.source \"store\" has it"},
      {"elsewhere", "\"store\"", "\"shop\"",
       "data.source: found \"shop\", expected one of \"files\", \"store\""},
      {"study", "capacity", "study = \"ABC\"\ncapacity",
       "data.study: found \"ABC\", expected 64 lower-case hexadecimal digits"},
      {"coins", "\"full\"", "\"owner-poisson\"",
       "privacy.sampling: found \"owner-poisson\", expected \"full\", \"public\" or \"deposited\" with "
       "data.source \"store\""},
      {"deposited", "\"full\"", "\"deposited\"", "batches: missing, expected run, deposits and records"},
      {"batch", "\"auto\"", "59", "training.expected_batch: found 59, expected 60 or \"auto\""},
      {"standardise", "[training]", "[features]\nstandardise = \"private\"\n[training]",
       "features.standardise: found \"private\", expected \"none\" with data.source \"store\""},
      {"means", "[training]",
       "[features]\nmethod = \"hog\"\ncell = 1\nblock = 1\norientations = 2\nmeans = [0.1, 0.2]\n[training]",
       "features.means: found"},
      {"initialisation", "[training]", initialisation + "[training]",
       "initialisation.method: found \"averaging\", expected \"none\""},
      {"balanced", "[training]", "[model]\nclass_weights = \"balanced\"\n[training]",
       "model.class_weights: found \"balanced\", expected numbers"},
      {"clip", "clip = 1", "clip = \"adaptive\"",
       "privacy.clip: found \"adaptive\", expected a number with data.source \"store\""},
  };
  for (const auto& [name, from, to, expected] : cases) {
    EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadTargets(Replaced(kStoreJob, from, to)); }),
                HasSubstr(expected))
        << name;
  }
  const auto by_public_coins = Replaced(kStoreJob, "\"full\"", "\"public\"");
  EXPECT_EQ(ReadTargets(by_public_coins).privacy.sampling, ml::Sampling::kPublic);
  EXPECT_THAT(
      ErrorText<ConfigError>([&] { (void)ReadTargets(by_public_coins, {"training.checkpoint_every=5"}); }),
      HasSubstr("training.checkpoint_every: found 5, expected 0 with data.source \"store\" and "
                "privacy.sampling \"public\""));
  const auto job = MakeDpsgdJob(ReadTargets(kStoreJob));
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)job->WithCanaries(10); }),
              HasSubstr("\"files\" for an audit"));
  ExpectNoRecordsOfItsOwn(*job);
}

TEST(StoreJob, IsOfTypesThatTakeDepositsAlone) {
  const TemporaryFolder folder;
  const std::string text(kStoreJob);
  const auto average = Replaced(text, "\"dpsgd\"", "\"classifier-average\"");
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadJob(folder.Write("x.toml", average)); }),
              HasSubstr("data.source"));
  // Least squares are another.
  const auto squares = Replaced(text.substr(0, text.find("[training]")), "\"dpsgd\"", "\"least-squares\"") +
                       "[privacy]\nsigma = 1.5\ndelta = 1e-5\n";
  const auto job = ReadJob(folder.Write("x.toml", squares));
  EXPECT_TRUE(IsOnDeposits(*job));
  EXPECT_EQ(HashOf(*ParseJob(job->Json(), "x")), HashOf(*job));
  EXPECT_EQ(HashOf(*ReadJob(folder.Write("y.toml", TomlOf(*job)))), HashOf(*job));
  const auto files = ReadJob(
      folder.Write("x.toml", Replaced(squares, "source = \"store\"\ncapacity = 60", "rows = [20, 20, 20]")));
  EXPECT_THAT(files->Json(), Not(HasSubstr("source")));
  for (const auto& [settings, cause] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"features.row_norm=0.00390625", "fraction_bits=8"},
            "fraction_bits: found 8 with features.row_norm"},
           {{"features.row_norm=5000", "fraction_bits=16"},
            "fraction_bits: found 16 with features.row_norm 5000"},
           {{"fraction_bits=24", "data.capacity=1000000"},
            "data.capacity: found 1000000, with noise more than"}}) {
    EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadJob(folder.Write("x.toml", squares), settings); }),
                HasSubstr(cause));
  }
}

TEST(StoreJob, IsOfWholeRecordsWithoutWeights) {
  const auto weight =
      Replaced(kStoreJob, "[training]", "[[data.column]]\nname = \"w\"\nkind = \"weight\"\n[training]");
  EXPECT_THAT(
      ErrorText<ConfigError>([&] { (void)ReadTargets(weight); }),
      HasSubstr("data.column: found one of kind \"weight\", expected none with data.source \"store\""));
  auto vertical = Replaced(kStoreJob, "source = \"store\"", "source = \"store\"\npartition = \"vertical\"");
  vertical = Replaced(vertical, "\"n\", \"y\"]", "\"n\", \"y\"], party = 1");
  vertical = Replaced(vertical, "high = 90.0",
                      "high = 90.0\nparty = 0\n[[data.column]]\nname = \"id\"\nkind = \"key\"");
  EXPECT_THAT(
      ErrorText<ConfigError>([&] { (void)ReadTargets(vertical); }),
      HasSubstr("data.partition: found \"vertical\", expected \"horizontal\" with data.source \"store\""));
}

TEST(FullJob, TakesAllRowsOfThePartiesInEveryStep) {
  const auto full = Replaced(kStandardiseJob, "epsilon = 1.5", "epsilon = 1.5\nsampling = \"full\"");
  EXPECT_THAT(
      ErrorText<ConfigError>([&] { (void)ReadTargets(full); }),
      HasSubstr("training.expected_batch: found 12, expected 60 or \"auto\" with privacy.sampling \"full\""));
  const auto job = ReadTargets(Replaced(full, "= 12", "= \"auto\""));
  EXPECT_EQ(job.training.expected_batch, 60);
  EXPECT_EQ(ml::BatchLimits(SettingsOf(job)), job.data.rows);
}

TEST(StandardiseJob, RefusesWhatItDoesNotCover) {
  const auto base = Replaced(Replaced(kStandardiseJob, "epsilon = 1.5", "epsilon = 1.5\nunit = \"record\""),
                             "[training]", "[features]\nstandardise = \"private\"\n[training]");
  const EditCase cases[] = {
      {"low", "low = 17.0\n", "", "column \"age\": missing low or high"},
      {"high", "high = 90.0\n", "", "column \"age\": missing low or high"},
      {"order", "high = 90.0", "high = 17.0", "expected a number above low"},
      {"mean", "low = 17.0", "mean = 40.0\nlow = 17.0", "column \"age\": found a mean or a scale"},
      {"scale", "low = 17.0", "scale = 12.0\nlow = 17.0", "column \"age\": found a mean or a scale"},
      {"no_number", "low = 17.0\nhigh = 90.0\n", "kind = \"category\"\nvalues = [\"x\"]\n",
       "no column of kind \"number\""},
      {"sigma", "epsilon = 1.5", "sigma = 1.5", "features.standardise_sigma: missing with privacy.sigma"},
      {"both", "standardise = \"private\"",
       "standardise = \"private\"\nstandardise_sigma = 9.0\nstandardise_share = 0.3",
       "features.standardise_share: found it, expected only one of it and standardise_sigma"},
      {"alone", "standardise = \"private\"", "standardise_share = 0.3",
       "features.standardise_share: found it, expected features.standardise \"private\" with it"},
      {"whole", "standardise = \"private\"", "standardise = \"private\"\nstandardise_share = 1.0",
       "features.standardise_share: found 1"},
      {"checkpoints", "steps = 5", "steps = 5\ncheckpoint_every = 2", "training.checkpoint_every above 0"},
      {"pea", "delta = 1e-5", "delta = 1e-5\naccountant = \"pea\"", "privacy.accountant \"pea\""},
      {"range", "low = 17.0", "kind = \"category\"\nvalues = [\"x\"]\nlow = 17.0",
       "only kind \"number\" has it"},
  };
  for (const auto& [name, from, to, expected] : cases) {
    try {
      (void)ReadTargets(Replaced(base, from, to));
      ADD_FAILURE() << name;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(expected)) << name;
    }
  }
  const auto keyed = Replaced(base, "[[data.column]]\n",
                              "[[data.column]]\nname = \"who\"\nkind = \"key\"\n[[data.column]]\n");
  EXPECT_THAT(ErrorText<ConfigError>([&] {
                (void)ReadTargets(Replaced(keyed, "unit = \"record\"",
                                           "unit = \"group\"\ngroup_column = \"who\"\n"
                                           "max_group_rows = 3"));
              }),
              HasSubstr("features.standardise: found \"private\", expected \"none\" with privacy.unit"));
  EXPECT_THROW(CheckAuditable(ReadTargets(base), 10), ConfigError);
}

/// The job of kStandardiseJob with a range that it finds itself.
std::string RangedJobText() {
  const auto ranged = Replaced(kStandardiseJob, "low = 17.0\nhigh = 90.0\n", "range = \"private\"\n");
  return Replaced(ranged, "[training]", "[features]\nstandardise = \"private\"\n[training]");
}

TEST(RangedJob, IsAskedOfStandardisedColumnsAlone) {
  const auto base = RangedJobText();
  const EditCase cases[] = {
      {"low", "range = \"private\"", "range = \"private\"\nlow = 17.0",
       "column \"age\": found it beside range \"private\", which finds it"},
      {"high", "range = \"private\"", "high = 90.0\nrange = \"private\"",
       "column \"age\": found it beside range \"private\""},
      {"other", "\"private\"", "\"found\"",
       "range: found \"found\", expected one of \"declared\", \"private\""},
      {"kind", "range", "kind = \"category\"\nvalues = [\"x\"]\nrange", "only kind \"number\" has it"},
      {"mean", "range", "mean = 4.0\nrange", "column \"age\": found a mean or a scale"},
      {"public", "standardise = \"private\"", "standardise = \"none\"",
       "column \"age\": found range \"private\", expected \"declared\" but for features of a job with "
       "features.standardise \"private\""},
      {"label", "[features]", "[[data.column]]\nname = \"y\"\nrange = \"private\"\n[features]",
       "column \"y\": found range \"private\", expected \"declared\""},
      {"extracted", "standardise =", "method = \"hog\"\ncell = 1\nblock = 1\nstandardise =",
       "column \"age\": found range \"private\", expected \"declared\""},
      {"both", "standardise =", "range_sigma = 2.0\nrange_share = 0.3\nstandardise =",
       "features.range_share: found it, expected only one of it and range_sigma"},
      {"share", "standardise =", "range_share = 1.0\nstandardise =", "features.range_share: found 1"},
      {"sigma", "epsilon = 1.5", "sigma = 1.5", "features.standardise_sigma: missing with privacy.sigma"},
      {"all", "standardise =", "range_share = 0.995\nstandardise_share = 0.3\nstandardise =",
       "privacy.epsilon: found 1.5, expected above"},
      {"checkpoints", "steps = 5", "steps = 5\ncheckpoint_every = 2", "training.checkpoint_every above 0"},
  };
  for (const auto& [name, from, to, expected] : cases) {
    EXPECT_THAT(ErrorText<ConfigError>(
                    [&] { (void)MakeDpsgdJob(ReadTargets(Replaced(base, from, to)))->Epsilons(); }),
                HasSubstr(expected))
        << name;
  }
  EXPECT_THAT(ErrorText<ConfigError>([&] {
                (void)ReadTargets(Replaced(Replaced(base, "epsilon = 1.5", "sigma = 1.5"),
                                           "standardise =", "standardise_sigma = 2.0\nstandardise ="));
              }),
              HasSubstr("features.range_sigma: missing with privacy.sigma"));
  EXPECT_THAT(
      ErrorText<ConfigError>([&] { (void)ReadTargets(kStandardiseJob, {"features.range_share=0.3"}); }),
      HasSubstr("features.range_share: found it, expected"));
  const auto squares = Replaced(Replaced(base, "\"dpsgd\"", "\"least-squares\""), "clip = 1\n", "");
  const TemporaryFolder folder;
  const auto file = folder.Write(
      "x.toml", squares.substr(0, squares.find("[features]")) + squares.substr(squares.find("[privacy]")));
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadJob(file); }),
              HasSubstr("column \"age\": found range \"private\", expected \"declared\""));
}

TEST(RangedJob, ReadsBackAndIsAnotherJobThanOneOfDeclaredRanges) {
  const auto asked = ReadTargets(RangedJobText());
  EXPECT_THAT(DpsgdJson(asked), HasSubstr(R"("range":"private")"));
  EXPECT_THAT(DpsgdJson(asked), Not(HasSubstr("range_share")));
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(asked), "x")), DpsgdHash(asked));
  EXPECT_EQ(DpsgdHash(ReadTargets(TomlOf(*MakeDpsgdJob(asked)))), DpsgdHash(asked));
  EXPECT_NE(DpsgdHash(ReadTargets(RangedJobText(), {"features.range_share=0.3"})), DpsgdHash(asked));
  const auto declared = Replaced(kStandardiseJob, "low = 17.0", "range = \"declared\"\nlow = 17.0");
  EXPECT_EQ(DpsgdHash(ReadTargets(declared)), DpsgdHash(ReadTargets(kStandardiseJob)));
}

TEST(StandardiseJob, IsInTheHashOnlyWhereItIsAsked) {
  const auto plain = ReadTargets(kStandardiseJob);
  EXPECT_THAT(DpsgdJson(plain), Not(HasSubstr("standardise")));
  EXPECT_THAT(DpsgdJson(plain), HasSubstr(R"("high":90.0)"));
  const auto asked = ReadTargets(
      Replaced(kStandardiseJob, "[training]", "[features]\nstandardise = \"private\"\n[training]"));
  EXPECT_THAT(DpsgdJson(asked), HasSubstr(R"("standardise":"private")"));
  EXPECT_THAT(DpsgdJson(asked), Not(HasSubstr("standardise_share")));
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(asked), "x")), DpsgdHash(asked));
  EXPECT_EQ(DpsgdHash(ReadTargets(TomlOf(*MakeDpsgdJob(asked)))), DpsgdHash(asked));
  const auto changed =
      ReadTargets(kStandardiseJob, {"features.standardise=\"private\"", "features.standardise_share=0.25"});
  EXPECT_NE(DpsgdHash(changed), DpsgdHash(asked));
}

TEST(StandardiseJob, IsOfThisTypeAlone) {
  const std::string text = kStandardiseJob;
  const auto other = Replaced(Replaced(text, "\"dpsgd\"", "\"least-squares\""), "clip = 1\n", "");
  const auto begin = other.find("[training]");
  const TemporaryFolder folder;
  const auto file =
      folder.Write("x.toml", other.substr(0, begin) + "[features]\nstandardise = \"private\"\n" +
                                 other.substr(other.find("[privacy]")));
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadJob(file); }),
              HasSubstr("features.standardise: only type \"dpsgd\" has it"));
}

TEST(RowBitsJob, IsInTheHashOnlyWhereItIsAskedAndOfWhatTheStepsHave) {
  const auto plain = ReadTargets(kTargetJob);
  EXPECT_EQ(ml::RowFractionBits(SettingsOf(plain)), 16);
  const auto asked = ReadTargets(kTargetJob, {"features.fraction_bits=9"});
  EXPECT_THAT(DpsgdJson(plain), Not(HasSubstr(R"("features":{"fraction_bits")")));
  EXPECT_THAT(DpsgdJson(asked), HasSubstr(R"("features":{"fraction_bits":9)"));
  EXPECT_EQ(ml::RowFractionBits(SettingsOf(asked)), 9);
  EXPECT_NE(DpsgdHash(asked), DpsgdHash(plain));
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(asked), "x")), DpsgdHash(asked));
  EXPECT_EQ(DpsgdHash(ReadTargets(TomlOf(*MakeDpsgdJob(asked)))), DpsgdHash(asked));
  const auto network = ReadTargets(kTargetJob, {"features.fraction_bits=9", "model.hidden=[4]"});
  EXPECT_EQ(ml::RowFractionBits(SettingsOf(network)), 9);
}

TEST(RowBitsJob, RefusesWhatHasWholeRowsAndMoreBitsThanAllElse) {
  const auto refusal = [](const std::vector<std::string>& more) {
    std::vector<std::string> assignments{"features.fraction_bits=9"};
    assignments.insert(assignments.end(), more.begin(), more.end());
    return ErrorText<ConfigError>([&] { (void)ReadTargets(kTargetJob, assignments); });
  };
  EXPECT_NO_THROW((void)ReadTargets(kTargetJob, {"features.fraction_bits=9", "privacy.sampling=\"public\""}));
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadTargets(kStoreJob, {"features.fraction_bits=9"}); }),
              HasSubstr("features.fraction_bits: found it, expected none with data.source \"store\""));
  EXPECT_NO_THROW((void)ReadTargets(kVerticalJob));
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ReadTargets(kVerticalJob, {"features.fraction_bits=9"}); }),
              HasSubstr("features.fraction_bits: found it, expected none with data.partition \"vertical\""));
  EXPECT_THAT(refusal({"training.clipping=\"published\""}), HasSubstr("training.clipping \"published\""));
  EXPECT_THAT(refusal({"fraction_bits=8"}), HasSubstr("at most 8, which fraction_bits is"));
  EXPECT_THAT(refusal({"features.fraction_bits=3"}), HasSubstr("4"));
}

TEST(ErrorBitsJob, IsInTheHashOnlyWhereItIsAskedAndOfWhatTheStepsHave) {
  const auto plain = ReadTargets(kTargetJob);
  EXPECT_EQ(ml::ErrorFractionBits(SettingsOf(plain)), 16);
  const auto asked = ReadTargets(kTargetJob, {"training.error_fraction_bits=9"});
  EXPECT_THAT(DpsgdJson(plain), Not(HasSubstr("error_fraction_bits")));
  EXPECT_THAT(DpsgdJson(asked), HasSubstr(R"("error_fraction_bits":9)"));
  EXPECT_EQ(ml::ErrorFractionBits(SettingsOf(asked)), 9);
  EXPECT_NE(DpsgdHash(asked), DpsgdHash(plain));
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(asked), "x")), DpsgdHash(asked));
  EXPECT_EQ(DpsgdHash(ReadTargets(TomlOf(*MakeDpsgdJob(asked)))), DpsgdHash(asked));
  const auto planned = MakeDpsgdJob(asked)->Plan({});
  EXPECT_EQ(planned.figures.at("error_fraction_bits"), 9);
  EXPECT_THAT(planned.sizes, HasSubstr("a clipped error 9 fraction bits"));
  EXPECT_FALSE(MakeDpsgdJob(plain)->Plan({}).figures.contains("error_fraction_bits"));
}

TEST(ErrorBitsJob, RefusesWhatIsNotClippedAtAFixedClipOrHasWholeRowsAndMoreBitsThanAllElse) {
  const auto refusal = [](const std::vector<std::string>& more) {
    std::vector<std::string> assignments{"training.error_fraction_bits=9"};
    assignments.insert(assignments.end(), more.begin(), more.end());
    return ErrorText<ConfigError>([&] { (void)ReadTargets(kTargetJob, assignments); });
  };
  EXPECT_NO_THROW(
      (void)ReadTargets(kTargetJob, {"training.error_fraction_bits=9", "privacy.sampling=\"public\""}));
  EXPECT_THAT(
      ErrorText<ConfigError>([&] { (void)ReadTargets(kStoreJob, {"training.error_fraction_bits=9"}); }),
      HasSubstr("training.error_fraction_bits: found it, expected none with data.source \"store\""));
  EXPECT_THAT(
      ErrorText<ConfigError>([&] { (void)ReadTargets(kVerticalJob, {"training.error_fraction_bits=9"}); }),
      HasSubstr("training.error_fraction_bits: found it, expected none with data.partition \"vertical\""));
  EXPECT_THAT(refusal({"model.hidden=[4]"}), HasSubstr("expected none with model.hidden"));
  for (const std::string clipping : {"published", "examples"})
    EXPECT_THAT(refusal({"training.clipping=\"" + clipping + "\""}),
                HasSubstr("another training.clipping than \"factorised\""));
  EXPECT_THAT(refusal({"privacy.clip=\"adaptive\"", "privacy.first_clip=1"}),
              HasSubstr("expected none with privacy.clip \"adaptive\""));
  EXPECT_THAT(refusal({"fraction_bits=8"}), HasSubstr("at most 8, which fraction_bits is"));
  EXPECT_THAT(refusal({"training.error_fraction_bits=3"}), HasSubstr("4"));
}

}  // namespace
}  // namespace trefoil::jobs
