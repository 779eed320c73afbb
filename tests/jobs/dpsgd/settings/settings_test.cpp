#include "jobs/dpsgd/settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "jobs/dpsgd/job.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "ml/plan/step_plan.h"
#include "tests/apps/temporary_folder.h"
#include "tests/jobs/edit_case.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

using testing::HasSubstr;

/// The job as a TOML file.
std::string SavedToml(const DpsgdSettings& job) { return TomlOf(*MakeDpsgdJob(job)); }

constexpr const char* kMinimal = R"(version = 1
type = "dpsgd"
name = "mnist"
[data]
name = "mnist"
format = "idx"
rows = [20000, 20000, 20000]
features = 784
classes = 10
scale = 255.0
[training]
steps = 439
expected_batch = 2048
max_batch_per_owner = 900
learning_rate = 150.0
[privacy]
epsilon = 3.0
delta = 1e-5
clip = 0.5
)";

constexpr const char* kCsv = R"(version = 1
type = "dpsgd"
name = "incomes"
[data]
name = "incomes"
format = "csv"
rows = [10, 20, 30]
classes = 2
[[data.column]]
name = "age"
mean = 38.5
scale = 13.0
[[data.column]]
name = "sex"
kind = "category"
values = ["Female", "Male"]
[[data.column]]
name = "comment"
kind = "ignore"
[data.label]
column = "income"
values = ["<=50K", ">50K"]
aliases = { "<=50K." = "<=50K", ">50K." = ">50K" }
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

DpsgdSettings Read(const std::string& text, const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  return ReadDpsgdSettings(folder.Write("x.toml", text), assignments);
}

/// The error's text with the folder taken off the file's name.
std::string ErrorOf(const std::string& text, const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  try {
    (void)ReadJob(folder.Write("x.toml", text), assignments);
  } catch (const ConfigError& error) {
    std::string what = error.what();
    const auto prefix = folder.path().string() + "/";
    if (what.starts_with(prefix)) what.erase(0, prefix.size());
    return what;
  }
  return "no error";
}

TEST(DpsgdSettings, FillsInDefaults) {
  const auto job = Read(kMinimal);
  EXPECT_EQ(job.name, "mnist");
  EXPECT_EQ(job.fraction_bits, 16);
  EXPECT_EQ(job.data.rows, (std::array<std::int64_t, 3>{20000, 20000, 20000}));
  EXPECT_EQ(job.model.loss, ml::Loss::kOneVsRest);
  EXPECT_EQ(job.training.expected_batch, 2048.0);
  EXPECT_EQ(job.training.clipping, ml::Clipping::kFactorised);
  EXPECT_EQ(job.privacy.against, ml::Adversary::kInsider);
  EXPECT_EQ(job.privacy.epsilon, 3.0);
  EXPECT_FALSE(job.privacy.sigma);
  EXPECT_EQ(job.release.to, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(job.local, LocalSpec());
}

const std::vector<std::string> kGroups{"privacy.unit=group", "privacy.group_column=comment",
                                       "privacy.max_group_rows=3"};

TEST(DpsgdSettings, ReadsGroupsAsTheUnitOfPrivacy) {
  const auto text = Replaced(kCsv, "kind = \"ignore\"", "kind = \"key\"");
  const auto job = Read(text, kGroups);
  EXPECT_TRUE(job.privacy.groups());
  EXPECT_EQ(SettingsOf(job).group_rows, 3);
  EXPECT_TRUE(SettingsOf(job).groups);
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(job), "x")), DpsgdHash(job));
  EXPECT_EQ(DpsgdHash(Read(SavedToml(job))), DpsgdHash(job));
  EXPECT_EQ(PrivacyWarnings(job).size(), 1U);
  EXPECT_EQ(DpsgdJson(Read(kCsv)).find("unit"), std::string::npos);
}

TEST(DpsgdSettings, RefusesGroupsWhereTheyAreNotCovered) {
  const auto text = Replaced(kCsv, "kind = \"ignore\"", "kind = \"key\"");
  const auto error = [&](const std::string& change) {
    auto assignments = kGroups;
    assignments.push_back(change);
    return ErrorOf(text, assignments);
  };
  EXPECT_NE(
      error("privacy.sampling=public").find("found \"group\", expected \"record\" with public sampling"),
      std::string::npos);
  EXPECT_NE(error("privacy.group_column=age").find("expected the one [[data.column]] of kind \"key\""),
            std::string::npos);
  EXPECT_NE(error("privacy.max_group_rows=0").find("privacy.max_group_rows: found 0"), std::string::npos);
  EXPECT_NE(error("privacy.unit=record").find("only privacy.unit \"group\" has it"), std::string::npos);
  EXPECT_NE(ErrorOf(text).find("found one of kind \"key\""), std::string::npos);
  EXPECT_NE(ErrorOf(kCsv, kGroups).find("privacy.group_column: found \"comment\""), std::string::npos);
  EXPECT_NE(ErrorOf(kMinimal, kGroups).find("only data.format \"csv\" has columns of keys"),
            std::string::npos);
  EXPECT_NE(
      ErrorOf(Replaced(text, "clip = 1\n", "clip = 1\n[evaluation]\nholder = 0\nrows = 5\nsigma = 1.0\n"),
              kGroups)
          .find("with evaluation.sigma"),
      std::string::npos);
}

TEST(DpsgdSettings, TakesAColumnOfWeights) {
  const auto text = Replaced(kCsv, "kind = \"ignore\"", "kind = \"weight\"\nlargest = 2.5");
  const auto job = Read(text);
  EXPECT_EQ(job.data.columns[2].largest, 2.5);
  EXPECT_EQ(job.data.features, 3);
  EXPECT_EQ(SettingsOf(job).max_record_weight, 2.5);
  EXPECT_EQ(SettingsOf(Read(kCsv)).max_record_weight, std::nullopt);
  EXPECT_EQ(SettingsOf(Read(Replaced(text, "largest = 2.5\n", ""))).max_record_weight, 1.0);
  EXPECT_NE(DpsgdHash(job), DpsgdHash(Read(Replaced(text, "2.5", "2.25"))));
  EXPECT_EQ(DpsgdJson(ParseDpsgdJson(DpsgdJson(job), "job")), DpsgdJson(job));
  EXPECT_EQ(DpsgdJson(Read(kCsv)).find("largest"), std::string::npos);
}

TEST(DpsgdSettings, RefusesWeightsThatCannotBe) {
  const auto error = [](const std::string& line, const std::string& name = "comment") {
    return ErrorOf(
        Replaced(Replaced(kCsv, "kind = \"ignore\"", line), "name = \"comment\"", "name = \"" + name + "\""));
  };
  const auto says = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(says(error("kind = \"weight\"\nlargest = 0"), "found 0, expected a number from 0.001 to 1000"));
  EXPECT_TRUE(
      says(error("kind = \"weight\"\nlargest = 1001"), "found 1001, expected a number from 0.001 to"));
  EXPECT_TRUE(says(error("kind = \"ignore\"\nlargest = 1"), "only kind \"weight\" has it"));
  EXPECT_TRUE(says(error("kind = \"weight\"\nfill = 1"), "is of kind \"weight\""));
  EXPECT_TRUE(
      says(error("kind = \"weight\"\n[[data.column]]\nname = \"w\"\nkind = \"weight\""),
           "column \"w\": found kind \"weight\", expected another, as another column has the weights"));
  EXPECT_TRUE(says(error("kind = \"weight\"", "income"), "as it is the label's"));
}

TEST(DpsgdSettings, ReadsCsvColumnsAndLabel) {
  const auto job = Read(kCsv);
  ASSERT_EQ(job.data.columns.size(), 3U);
  EXPECT_EQ(job.data.features, 3);
  EXPECT_EQ(job.data.columns[0].mean, 38.5);
  EXPECT_EQ(job.data.columns[1].values, (std::vector<std::string>{"Female", "Male"}));
  EXPECT_EQ(job.data.columns[2].kind, data::ColumnKind::kIgnore);
  EXPECT_EQ(job.data.label.aliases.at("<=50K."), "<=50K");
  EXPECT_EQ(job.privacy.sigma, 1.5);
}

TEST(DpsgdSettings, ReadsAnEvaluationAndWritesItBack) {
  EXPECT_FALSE(Read(kMinimal).evaluation);
  EXPECT_FALSE(SettingsOf(Read(kMinimal)).evaluation);
  const auto job = Read(kMinimal, {"evaluation.holder=2", "evaluation.rows=500", "evaluation.to=[1]"});
  const auto again = Read(SavedToml(job));
  EXPECT_EQ(DpsgdHash(again), DpsgdHash(job));
  ASSERT_TRUE(again.evaluation);
  const auto settings = SettingsOf(again).evaluation;
  EXPECT_EQ(settings->test.holder, 2);
  EXPECT_EQ(settings->test.rows, 500);
  EXPECT_EQ(settings->to, std::vector<int>{1});
  EXPECT_FALSE(settings->sigma);
  EXPECT_EQ(PrivacyWarnings(again).size(), 1U);
  const auto noisy = Read(kMinimal, {"evaluation.holder=2", "evaluation.rows=500", "evaluation.sigma=3"});
  EXPECT_EQ(SettingsOf(Read(SavedToml(noisy))).evaluation->sigma, 3);
  EXPECT_TRUE(PrivacyWarnings(noisy).empty());
}

TEST(DpsgdSettings, IsReleasedToNobody) {
  const auto job = Read(kMinimal, {"release.to=[]"});
  EXPECT_TRUE(job.release.to.empty());
  EXPECT_EQ(DpsgdHash(Read(SavedToml(job))), DpsgdHash(job));
  EXPECT_TRUE(SettingsOf(job).release_to.empty());
}

TEST(DpsgdSettings, AppliesAssignmentsInOrder) {
  const auto job = Read(kMinimal, {"training.steps=7", "training.steps=8", "privacy.against=outsider",
                                   "local.split=[0.5, 0.25, 0.25]", "release.to=[2]"});
  EXPECT_EQ(job.training.steps, 8);
  EXPECT_EQ(job.privacy.against, ml::Adversary::kOutsider);
  EXPECT_EQ(job.local.fractions, (std::array{0.5, 0.25, 0.25}));
  EXPECT_EQ(job.release.to, std::vector<int>{2});
}

std::string CaseName(const testing::TestParamInfo<EditCase>& info) { return info.param.name; }

class JobErrorTest : public testing::TestWithParam<EditCase> {};

TEST_P(JobErrorTest, NamesPlaceFoundAndExpected) {
  const auto& [name, from, to, error] = GetParam();
  EXPECT_EQ(ErrorOf(Replaced(kMinimal, from, to)), error);
}

INSTANTIATE_TEST_SUITE_P(
    Minimal, JobErrorTest,
    testing::Values(
        EditCase{"negative_epsilon", "epsilon = 3.0", "epsilon = -1",
                 "x.toml:17: privacy.epsilon: found -1, expected a number above 0"},
        EditCase{
            "nan", "clip = 0.5", "clip = nan",
            "x.toml:19: privacy.clip: found nan, expected a number above 0, or \"auto\" or \"adaptive\""},
        EditCase{
            "infinity", "clip = 0.5", "clip = inf",
            "x.toml:19: privacy.clip: found inf, expected a number above 0, or \"auto\" or \"adaptive\""},
        EditCase{
            "text_for_number", "clip = 0.5", "clip = \"a\"",
            "x.toml:19: privacy.clip: found \"a\", expected a number above 0, or \"auto\" or \"adaptive\""},
        EditCase{"delta_of_one", "delta = 1e-5", "delta = 1",
                 "x.toml:18: privacy.delta: found 1, expected a number above 0 and below 1"},
        EditCase{
            "fraction_for_whole", "steps = 439", "steps = 439.0",
            "x.toml:12: training.steps: found 439.0, expected a whole number from 1 to 500000, or \"auto\""},
        EditCase{"unknown_key", "steps = 439", "step = 439",
                 "x.toml:12: unknown key training.step; did you mean training.steps?"},
        EditCase{"unknown_table", "[privacy]", "[privcy]",
                 "x.toml:16: unknown key privcy; did you mean privacy?"},
        EditCase{"key_of_another_table", "scale = 255.0", "scale = 255.0\nepsilon = 3.0",
                 "x.toml:11: unknown key data.epsilon; did you mean privacy.epsilon?"},
        EditCase{"missing_key", "delta = 1e-5\n", "",
                 "x.toml: missing privacy.delta, expected a number above 0 and below 1"},
        EditCase{"no_epsilon_nor_sigma", "epsilon = 3.0\n", "",
                 "x.toml: missing privacy.epsilon, expected privacy.epsilon, or privacy.sigma (the noise "
                 "multiplier), above 0"},
        EditCase{"epsilon_and_sigma", "epsilon = 3.0", "epsilon = 3.0\nsigma = 1.0",
                 "x.toml:18: privacy.sigma: privacy.epsilon is given too, expected only one of them"},
        EditCase{"syntax", "name = \"mnist\"", "name = mnist",
                 "x.toml:3: not valid TOML: Error while parsing value: could not determine value type"},
        EditCase{"evaluation_rows", "[privacy]", "[evaluation]\nholder = 1\nrows = 0\n[privacy]",
                 "x.toml:18: evaluation.rows: found 0, expected a whole number from 1 to 10000000"},
        EditCase{
            "evaluation_to", "[privacy]", "[evaluation]\nholder = 1\nrows = 5\nto = []\n[privacy]",
            "x.toml:19: evaluation.to: found [], expected an array of different party numbers from 0 to 2, "
            "at "
            "least one"},
        EditCase{"evaluation_holder", "[privacy]", "[evaluation]\nrows = 5\n[privacy]",
                 "x.toml: missing evaluation.holder, expected a whole number from 0 to 2"},
        EditCase{"version", "version = 1", "version = 2", "x.toml:1: version: found 2, expected 1"},
        EditCase{"misspelt_choice", "\"dpsgd\"", "\"dpsdg\"",
                 "x.toml:2: type: found \"dpsdg\", expected one of \"dpsgd\", \"predict\", \"histogram\", "
                 "\"pate\", \"classifier-average\", \"ensemble-transfer\", \"sum\", \"least-squares\", "
                 "\"statistics\", \"tune\"; did you mean dpsgd?"},
        EditCase{
            "path_in_name", "\"mnist\"", "\"../mnist\"",
            "x.toml:3: name: found \"../mnist\", expected a name of letters, digits, '.', '_' and '-' (at "
            "most 64), beginning with a letter or digit"},
        EditCase{
            "two_owners", "[20000, 20000, 20000]", "[20000, 20000]",
            "x.toml:7: data.rows: found [ 20000, 20000 ], expected three whole numbers, one for each party"},
        EditCase{"csv_key_in_idx", "scale = 255.0", "header = true",
                 "x.toml:10: data.header: only format \"csv\" has it, and data.format is \"idx\""},
        EditCase{"batch_above_rows", "expected_batch = 2048", "expected_batch = 60001",
                 "x.toml:13: training.expected_batch: found 60001, expected a number up to 60000, the sum of "
                 "data.rows"},
        EditCase{"owner_bound_too_low", "max_batch_per_owner = 900", "max_batch_per_owner = 682",
                 "x.toml:14: training.max_batch_per_owner: found 682, expected more than 682.7, the expected "
                 "batch of the "
                 "largest owner"}),
    CaseName);

class JobAdditionTest : public testing::TestWithParam<EditCase> {};

TEST_P(JobAdditionTest, NamesPlaceFoundAndExpected) {
  const auto& [name, assignment, unused, error] = GetParam();
  EXPECT_EQ(ErrorOf(kMinimal, {assignment}), error);
}

INSTANTIATE_TEST_SUITE_P(
    Assignments, JobAdditionTest,
    testing::Values(
        EditCase{"range", "privacy.epsilon=0", "",
                 "--set privacy.epsilon=0: privacy.epsilon: found 0, expected a number above 0"},
        EditCase{"unknown", "training.step=3", "",
                 "--set training.step=3: unknown key training.step; did you mean training.steps?"},
        EditCase{"unknown_table", "trainin.steps=3", "",
                 "--set trainin.steps=3: unknown key trainin; did you mean training?"},
        EditCase{"no_value", "privacy.epsilon", "",
                 "--set privacy.epsilon: expected KEY=VALUE, as in privacy.epsilon=3.0"},
        EditCase{"below_a_value", "name.x=3", "", "--set name.x=3: name is a value, expected a table"},
        EditCase{"string_if_no_toml", "privacy.clip=abc", "",
                 "--set privacy.clip=abc: privacy.clip: found \"abc\", expected a number above 0, or "
                 "\"auto\" or \"adaptive\""},
        EditCase{"loss", "model.loss=hinge", "",
                 "--set model.loss=hinge: model.loss: found \"hinge\", expected one of \"one-vs-rest\", "
                 "\"squared\", \"softmax\", \"huber\", \"poisson\""},
        EditCase{"hidden", "model.hidden=[0]", "",
                 "--set model.hidden=[0]: model.hidden: found [ 0 ], expected an array of layer sizes"},
        EditCase{
            "class_weights", "model.class_weights=[1, 0]", "",
            "--set model.class_weights=[1, 0]: model.class_weights: found [ 1, 0 ], expected an array of "
            "numbers from 0.001 to 1000, one a class, or \"balanced\""},
        EditCase{"count_of_class_weights", "model.class_weights=[1, 0.5]", "",
                 "--set model.class_weights=[1, 0.5]: model.class_weights: found 2 of them, expected 10, one "
                 "for each of data.classes"},
        EditCase{"threshold_of_ten_classes", "model.threshold=0.3", "",
                 "--set model.threshold=0.3: model.threshold: found it with other than two classes, expected "
                 "none: it is for "
                 "the second of two"},
        EditCase{"bound_without_hidden", "model.activation_bound=4", "",
                 "--set model.activation_bound=4: model.activation_bound: only hidden layers have it, and "
                 "model.hidden is empty"},
        EditCase{
            "features", "features.method=hob", "",
            "--set features.method=hob: features.method: found \"hob\", expected one of \"none\", \"hog\", "
            "\"scatter\", \"hash-text\", \"onnx\"; did you mean hog?"},
        EditCase{"key_of_another_method", "features.cell=4", "",
                 "--set features.cell=4: features.cell: method \"none\" does not have it"},
        EditCase{"truncation", "training.truncation=exactly", "",
                 "--set training.truncation=exactly: training.truncation: found \"exactly\", expected one of "
                 "\"stochastic\", \"exact\"; did you mean exact?"},
        EditCase{"schedule", "training.schedule=stepp", "",
                 "--set training.schedule=stepp: training.schedule: found \"stepp\", expected one of "
                 "\"constant\", \"linear\", \"cosine\", \"step\"; did you mean step?"},
        EditCase{"key_of_another_schedule", "training.final_rate=0.1", "",
                 "--set training.final_rate=0.1: training.final_rate: only training.schedule \"linear\" or "
                 "\"cosine\" has it, which is \"constant\""},
        EditCase{"momentum_of_one", "training.momentum=1", "",
                 "--set training.momentum=1: training.momentum: found 1, expected a number from 0 to below "
                 "1, or \"auto\""},
        EditCase{
            "comparison", "training.comparison=fast", "",
            "--set training.comparison=fast: training.comparison: found \"fast\", expected one of \"auto\", "
            "\"bulk\", \"latency\""},
        EditCase{"clipping", "training.clipping=publish", "",
                 "--set training.clipping=publish: training.clipping: found \"publish\", expected one of "
                 "\"factorised\", \"published\", \"examples\"; did you mean published?"},
        EditCase{"accountant", "privacy.accountant=moments", "",
                 "--set privacy.accountant=moments: privacy.accountant: found \"moments\", "
                 "expected one of \"rdp\", \"pld\", \"pea\""},
        EditCase{"fraction_bits", "fraction_bits=25", "",
                 "--set fraction_bits=25: fraction_bits: found 25, expected a whole number from 8 to 24"},
        EditCase{"release_twice", "release.to=[1,1]", "",
                 "--set release.to=[1,1]: release.to: found [ 1, 1 ], expected an array of different party "
                 "numbers from 0 to 2"},
        EditCase{"small_fractions", "data.rows=[0.05, -2.0, [1, 1e-9]]", "",
                 "--set data.rows=[0.05, -2.0, [1, 1e-9]]: data.rows: found [ 0.05, -2.0, [ 1, 1e-09 ] ],"
                 " expected three whole numbers from 0 to 1000000000"},
        EditCase{"prediction", "type=predict", "",
                 "x.toml: type: found another by --set, expected \"dpsgd\" as in the file"},
        EditCase{"one_class", "data.classes=1", "",
                 "--set data.classes=1: data.classes: found 1, expected a whole number from 2 to 1000"},
        EditCase{"fractions_above_one", "local.split=[0.5,0.5,0.5]", "",
                 "--set local.split=[0.5,0.5,0.5]: local.split: found [ 0.5, 0.5, 0.5 ], expected \"even\", "
                 "\"sorted\" or three "
                 "fractions above 0 that add up to at most 1"}),
    CaseName);

TEST(DpsgdSettings, ReadsMomentumAndSchedules) {
  const auto constant = Read(kMinimal).training;
  EXPECT_EQ(constant.schedule.shape, ml::RateShape::kConstant);
  EXPECT_EQ(constant.momentum, 0.0);
  const auto cosine =
      Read(kMinimal, {"training.schedule=cosine", "training.final_rate=1", "training.momentum=0.9"}).training;
  EXPECT_EQ(cosine.schedule.shape, ml::RateShape::kCosine);
  EXPECT_EQ(cosine.schedule.final_rate, 1.0);
  EXPECT_EQ(cosine.momentum, 0.9);
  const auto steps =
      Read(kMinimal, {"training.schedule=step", "training.decay_every=100", "training.decay_factor=0.5"});
  EXPECT_EQ(steps.training.schedule.decay_every, 100);
  EXPECT_EQ(steps.training.schedule.decay_factor, 0.5);
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(steps), "x")), DpsgdHash(steps));
  EXPECT_NE(ErrorOf(kMinimal, {"training.schedule=step"}).find("missing training.decay_every"),
            std::string::npos);
  EXPECT_NE(DpsgdHash(Read(kMinimal, {"training.momentum=0.5"})), DpsgdHash(Read(kMinimal)));
}

TEST(DpsgdSettings, ReadsHiddenLayers) {
  const auto job = Read(kMinimal, {"model.hidden=[32, 16]", "model.delta_bound=2"});
  EXPECT_EQ(job.model.hidden, (std::vector<std::int64_t>{32, 16}));
  EXPECT_EQ(job.model.activation_bound, 8.0);
  EXPECT_EQ(job.model.delta_bound, 2.0);
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(job), "x")), DpsgdHash(job));
  EXPECT_EQ(DpsgdHash(Read(SavedToml(job))), DpsgdHash(job));
  EXPECT_NE(DpsgdHash(Read(kMinimal, {"model.hidden=[32, 16]"})), DpsgdHash(job));
}

TEST(DpsgdSettings, ReadsClassWeightsAndLeavesTheirAbsenceOutOfTheJson) {
  const auto plain = Read(kMinimal);
  EXPECT_EQ(DpsgdJson(plain).find("class_weights"), std::string::npos);
  const auto job = Read(kMinimal, {"model.class_weights=[1, 0.25, 1, 1, 1, 1, 1, 1, 1, 2]"});
  EXPECT_EQ(job.model.class_weights.given.at(1), 0.25);
  EXPECT_EQ(SettingsOf(job).class_weights, job.model.class_weights.given);
  EXPECT_FALSE(SettingsOf(job).balance_sigma);
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(job), "x")), DpsgdHash(job));
  EXPECT_EQ(DpsgdHash(Read(SavedToml(job))), DpsgdHash(job));
  EXPECT_NE(DpsgdHash(job), DpsgdHash(plain));
}

TEST(DpsgdSettings, ReadsBalancedClassWeights) {
  const std::string balanced = "model.class_weights=balanced";
  const auto job = Read(kMinimal, {balanced});
  EXPECT_TRUE(job.model.class_weights.balanced);
  EXPECT_TRUE(SettingsOf(job).class_weights.empty());
  EXPECT_EQ(SettingsOf(job).balance_sigma, 10);
  EXPECT_NE(DpsgdJson(job).find(R"("class_counts_sigma":10.0,"class_weights":"balanced")"),
            std::string::npos);
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(job), "x")), DpsgdHash(job));
  EXPECT_EQ(DpsgdHash(Read(SavedToml(job))), DpsgdHash(job));
  const auto other = Read(kMinimal, {balanced, "model.class_counts_sigma=2.5"});
  EXPECT_EQ(SettingsOf(other).balance_sigma, 2.5);
  EXPECT_NE(DpsgdHash(other), DpsgdHash(job));
  EXPECT_NE(ErrorOf(kMinimal, {"model.class_counts_sigma=2.5"})
                .find("only model.class_weights \"balanced\" has it"),
            std::string::npos);
  EXPECT_NE(ErrorOf(kMinimal, {balanced, "model.class_counts_sigma=2e6"}).find("expected at most 1000000"),
            std::string::npos);
}

TEST(DpsgdSettings, ReadsAClipThatAdapts) {
  const std::string adaptive = "privacy.clip=adaptive";
  const auto job = Read(kMinimal, {adaptive});
  EXPECT_EQ(SettingsOf(job).clip, SettingsOf(Read(kMinimal, {"privacy.clip=auto"})).clip);
  EXPECT_EQ(SettingsOf(job).adaptive->quantile, 0.5);
  EXPECT_EQ(ml::ClipCountMultiplier(SettingsOf(job)), 2048 / 10.0);
  EXPECT_NE(DpsgdJson(job).find(R"("clip":"adaptive","clip_quantile":0.5,"delta":1e-05)"), std::string::npos)
      << DpsgdJson(job);
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(job), "x")), DpsgdHash(job));
  EXPECT_EQ(DpsgdHash(Read(SavedToml(job))), DpsgdHash(job));
  const auto named = Read(kMinimal, {adaptive, "privacy.first_clip=2", "privacy.clip_quantile=0.8",
                                     "privacy.clip_count_sigma=40"});
  EXPECT_EQ(SettingsOf(named).clip, 2);
  EXPECT_EQ(SettingsOf(named).adaptive->quantile, 0.8);
  EXPECT_EQ(ml::ClipCountMultiplier(SettingsOf(named)), 80);
  EXPECT_NE(DpsgdHash(named), DpsgdHash(job));
  EXPECT_EQ(PrivacyWarnings(job).size(), 1U);
  EXPECT_FALSE(SettingsOf(Read(kMinimal)).adaptive);
  EXPECT_NE(ErrorOf(kMinimal, {"privacy.first_clip=2"}).find("only privacy.clip \"adaptive\" has it"),
            std::string::npos);
  EXPECT_NE(ErrorOf(kMinimal, {"privacy.clip=adapt"})
                .find("expected a number above 0, or \"auto\" or \"adaptive\""),
            std::string::npos)
      << ErrorOf(kMinimal, {"privacy.clip=adapt"});
}

TEST(DpsgdSettings, RefusesAClipThatAdaptsWhereItIsNotMadeForIt) {
  for (const auto& [assignment, cause] : std::vector<std::pair<const char*, const char*>>{
           {"model.hidden=[4]", "bounded for these alone, not for the deltas of hidden layers"},
           {"training.clipping=published", "than \"factorised\""},
           {"training.clipping=examples", "than \"factorised\""},
           {"privacy.sampling=public", "a number with privacy.sampling \"public\""},
           {"privacy.clip_count_sigma=2e6", "expected at most 1000000"}}) {
    std::vector<std::string> assignments{"privacy.clip=adaptive", assignment};
    EXPECT_NE(ErrorOf(kMinimal, assignments).find(cause), std::string::npos)
        << ErrorOf(kMinimal, assignments);
  }
  for (const auto& [assignment, cause] : std::vector<std::pair<const char*, const char*>>{
           {"privacy.first_clip=2000", "privacy.first_clip: found 2000, expected above 0, at most 1024"},
           {"privacy.clip_quantile=0.96", "privacy.clip_quantile: found 0.96, expected 0.05 to 0.95"}}) {
    const auto job = Read(kMinimal, {"privacy.clip=adaptive", assignment});
    EXPECT_THAT(testing_support::ErrorText<ConfigError>([&] { ml::CheckDomains(SettingsOf(job)); }),
                HasSubstr(cause));
  }
  auto groups = kGroups;
  groups.emplace_back("privacy.clip=adaptive");
  EXPECT_THAT(ErrorOf(Replaced(kCsv, "kind = \"ignore\"", "kind = \"key\""), groups),
              HasSubstr("a number with privacy.unit \"group\""));
}

TEST(DpsgdSettings, ReadsAThresholdOfTwoClasses) {
  EXPECT_EQ(DpsgdJson(Read(kMinimal)).find("threshold"), std::string::npos);
  const auto job = Read(kMinimal, {"data.classes=2", "model.threshold=0.2"});
  EXPECT_EQ(SettingsOf(job).threshold, 0.2);
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(job), "x")), DpsgdHash(job));
  EXPECT_NE(DpsgdHash(job), DpsgdHash(Read(kMinimal, {"data.classes=2"})));
  EXPECT_NE(ErrorOf(kMinimal, {"data.classes=2", "model.threshold=1e-9"}).find("from 1e-06 to 0.999999"),
            std::string::npos);
}

TEST(DpsgdSettings, ReadsAHistogramOfPredictions) {
  const std::vector<std::string> evaluation{"data.classes=2", "evaluation.holder=2", "evaluation.rows=500"};
  const auto with = [&](std::initializer_list<std::string> more) {
    auto all = evaluation;
    all.insert(all.end(), more);
    return all;
  };
  const auto noisy = Read(kMinimal, with({"evaluation.sigma=3"}));
  EXPECT_EQ(DpsgdJson(noisy).find("bins"), std::string::npos);
  const auto job = Read(kMinimal, with({"evaluation.sigma=3", "evaluation.bins=20", "model.threshold=0.35"}));
  EXPECT_EQ(SettingsOf(job).evaluation->bins, 20);
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(job), "x")), DpsgdHash(job));
  EXPECT_NE(ErrorOf(kMinimal, with({"evaluation.bins=20"})).find("without evaluation.sigma"),
            std::string::npos);
  EXPECT_NE(ErrorOf(kMinimal, with({"evaluation.sigma=3", "evaluation.bins=7"})).find("is no edge k/7"),
            std::string::npos);
  EXPECT_THAT(ErrorOf(kMinimal, with({"evaluation.sigma=3", "evaluation.bins=20", "data.classes=10"})),
              HasSubstr("evaluation.bins: with more than two classes, expected evaluation.confusion = true"));
  EXPECT_THAT(
      ErrorOf(kMinimal, with({"evaluation.sigma=3", "evaluation.bins=20", "data.classes=10",
                              "evaluation.confusion=true", "model.loss=squared"})),
      HasSubstr(
          "evaluation.bins: with more than two classes, expected model.loss \"one-vs-rest\" or \"softmax\""));
  EXPECT_THAT(ErrorOf(kMinimal, with({"evaluation.sigma=3", "evaluation.bins=20", "data.classes=10",
                                      "evaluation.confusion=true", "evaluation.choose_threshold=true"})),
              HasSubstr("evaluation.choose_threshold: found true with more than two classes"));
  EXPECT_THAT(ErrorOf(kMinimal, with({"evaluation.sigma=3", "evaluation.bins=60", "data.classes=20",
                                      "evaluation.confusion=true"})),
              HasSubstr("evaluation.bins: found 60, expected at most 50 with 20 classes"));
  EXPECT_EQ(SettingsOf(Read(kMinimal, with({"evaluation.sigma=3", "evaluation.bins=7", "data.classes=10",
                                            "evaluation.confusion=true"})))
                .evaluation->bins,
            7);
  const auto chosen =
      Read(kMinimal, with({"evaluation.sigma=3", "evaluation.bins=20", "evaluation.choose_threshold=true"}));
  EXPECT_NE(DpsgdHash(chosen), DpsgdHash(noisy));
  EXPECT_NE(ErrorOf(kMinimal, with({"evaluation.choose_threshold=true"})).find("without evaluation.bins"),
            std::string::npos);
  EXPECT_NE(ErrorOf(kMinimal, with({"evaluation.sigma=3", "evaluation.bins=20", "evaluation.to=[0, 2]",
                                    "evaluation.choose_threshold=true"}))
                .find("found a party that gets the model"),
            std::string::npos);
}

TEST(DpsgdSettings, ReadsAConfusionTable) {
  const std::vector<std::string> evaluation{"evaluation.holder=2", "evaluation.rows=500",
                                            "evaluation.confusion=true"};
  const auto with = [&](std::initializer_list<std::string> more) {
    auto all = evaluation;
    all.insert(all.end(), more);
    return all;
  };
  const auto job = Read(kMinimal, with({"evaluation.sigma=3"}));
  EXPECT_TRUE(SettingsOf(job).evaluation->confusion);
  EXPECT_EQ(DpsgdHash(ParseDpsgdJson(DpsgdJson(job), "x")), DpsgdHash(job));
  EXPECT_EQ(DpsgdJson(Read(kMinimal, {"evaluation.holder=2", "evaluation.rows=500"})).find("confusion"),
            std::string::npos);
  EXPECT_THAT(ErrorOf(kMinimal, evaluation), HasSubstr("evaluation.confusion: without evaluation.sigma"));
  EXPECT_THAT(ErrorOf(kMinimal, with({"evaluation.sigma=3", "data.classes=2", "evaluation.bins=10"})),
              HasSubstr("evaluation.confusion: found true with evaluation.bins of two classes"));
  EXPECT_THAT(ErrorOf(kMinimal, with({"evaluation.sigma=3", "data.classes=101"})),
              HasSubstr("evaluation.confusion: with 101 classes, expected at most 100"));
}

TEST(DpsgdSettings, DerivesTheFeaturesThatAreTrainedOn) {
  EXPECT_EQ(TrainedFeatures(Read(kMinimal)), 784);
  const auto job = Read(kMinimal, {"features.method=hog"});
  EXPECT_EQ(TrainedFeatures(job), 1296);
  EXPECT_EQ(job.data.features, 784);
  EXPECT_EQ(job.data.image.height, 28);
  EXPECT_EQ(TrainedFeatures(Read(kMinimal, {"features.method=hog", "features.cell=7"})), 324);
  EXPECT_EQ(TrainedFeatures(Read(kMinimal, {"features.method=scatter"})), 3969);
  EXPECT_EQ(TrainedFeatures(Read(kMinimal, {"features.method=hog", "features.image=[14, 56]"})), 936);
}

TEST(DpsgdSettings, TakesImagesOfSeveralChannels) {
  const std::vector<std::string> scatter{"features.method=scatter", "data.features=3072",
                                         "features.image=[32, 32, 3]"};
  const auto job = Read(kMinimal, scatter);
  EXPECT_EQ(job.data.image, (data::ImageSize{32, 32, 3}));
  EXPECT_EQ(TrainedFeatures(job), 15552);
  EXPECT_THAT(DpsgdJson(job), HasSubstr(R"("image":[32,32,3])"));
  EXPECT_EQ(DpsgdHash(Read(SavedToml(job))), DpsgdHash(job));
  // A step is that of as many plain features: their number is all that its sensitivity and its noise see.
  const auto plain = Read(kMinimal, {"data.features=15552"});
  EXPECT_EQ(ml::MakeStepPlan(SettingsOf(job)).sensitivity, ml::MakeStepPlan(SettingsOf(plain)).sensitivity);
  // One channel is what it was.
  const auto grey = Read(kMinimal, {"features.method=hog", "features.image=[28, 28, 1]"});
  EXPECT_EQ(DpsgdHash(grey), DpsgdHash(Read(kMinimal, {"features.method=hog"})));
}

TEST(DpsgdSettings, ReadsCifarsOwnFormat) {
  std::string cifar = kMinimal;
  cifar.replace(cifar.find("idx"), 3, "cifar");
  cifar.erase(cifar.find("features = 784\n"), 15);
  const auto job = Read(cifar, {"features.method=hog"});
  EXPECT_EQ(job.data.features, 3072);
  EXPECT_EQ(job.data.image, (data::ImageSize{32, 32, 3}));
  EXPECT_EQ(TrainedFeatures(job), 1764);
  EXPECT_EQ(TrainedFeatures(Read(cifar)), 3072);
  EXPECT_THAT(ErrorOf(cifar, {"data.features=1024"}),
              HasSubstr("expected 3072, what data.format \"cifar\" has"));
  EXPECT_THAT(
      ErrorOf(cifar, {"features.method=hog", "features.image=[48, 64]"}),
      HasSubstr("features.image: found [ 48, 64 ], expected [32, 32, 3], what data.format \"cifar\" has"));
  EXPECT_THAT(ErrorOf(cifar, {"features.method=scatter", "features.groups=7"}),
              HasSubstr("found 7, expected a divisor of the 243 channels"));
}

TEST(DpsgdSettings, ReadsImagesInFoldersNamedByClass) {
  std::string images = kMinimal;
  images.replace(images.find("idx"), 3, "images");
  const auto classes = images.find("classes = 10");
  ASSERT_NE(classes, std::string::npos);
  images.replace(classes, 12, "classes = 2\nlabel.values = [\"cat\", \"dog\"]");
  const auto job = Read(images);
  EXPECT_EQ(job.data.image, (data::ImageSize{28, 28}));
  EXPECT_EQ(job.data.label.values, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(TrainedFeatures(job), 784);
  const auto colour = Read(images, {"data.features=3072", "features.image=[32,32,3]", "features.method=hog"});
  EXPECT_EQ(colour.data.image, (data::ImageSize{32, 32, 3}));
  EXPECT_NE(DpsgdHash(job), DpsgdHash(Read(images, {"data.label.values=[\"dog\", \"cat\"]"})));

  const auto error = [&](const char* change) { return ErrorOf(images, {change}); };
  EXPECT_THAT(error("data.features=3072"), HasSubstr("missing features.image, expected [height, width]"));
  EXPECT_THAT(error("features.image=[14,28,2]"),
              HasSubstr("expected [height, width] or [height, width, 3] with"));
  EXPECT_THAT(error("data.label.values=[\"cat\"]"), HasSubstr("data.label.values"));
  EXPECT_THAT(error("data.label.values=[\"cat\", \"../dog\"]"), HasSubstr("expected names of folders"));
  EXPECT_THAT(error("data.label.column=y"),
              HasSubstr("of data.format \"images\" folders are named by the values alone"));
  EXPECT_THAT(ErrorOf(kMinimal, {"data.label.values=[\"a\"]"}),
              HasSubstr("only formats \"csv\" and \"images\" have it, and data.format is \"idx\""));
}

TEST(DpsgdSettings, RefusesFeaturesThatDoNotFitTheData) {
  const auto error = [](const std::string& change, const std::string& hog = "features.method=hog") {
    return ErrorOf(kMinimal, {hog, change});
  };
  EXPECT_EQ(
      error("features.image=[28, 27]"),
      "--set features.image=[28, 27]: features.image: found [ 28, 27 ], expected [height, width] or [height, "
      "width, channels] of 784 values, at most 16 channels (data.features)");
  for (const auto* image :
       {"[28]", "[28, 28, 0]", "[14, 14, 2]", "[28, 28, 1, 1]", "[7, 4, 28]", "[-28, -28]"})
    EXPECT_THAT(error(fmt::format("features.image={}", image)), HasSubstr("expected [height, width]"))
        << image;
  EXPECT_EQ(error("data.features=783"),
            "x.toml: missing features.image, expected [height, width] or [height, width, channels] of 783 "
            "values, at "
            "most 16 channels (data.features)");
  EXPECT_EQ(error("features.cell=15"),
            "x.toml: features.image: found 28 x 28 pixels, expected room for 2 x 2 cells of side 15");
  EXPECT_EQ(error("features.groups=26", "features.method=scatter"),
            "x.toml: features.groups: found 26, expected a divisor of the 81 channels");
  EXPECT_EQ(error("features.cell=4", "features.method=scatter"),
            "--set features.cell=4: features.cell: method \"scatter\" does not have it");
  EXPECT_EQ(error("features.orientations=0"),
            "--set features.orientations=0: features.orientations: found 0, expected a whole number from 1 "
            "to 1000");
}

TEST(DpsgdSettings, TakesAModelByItsHash) {
  const std::string hash(64, 'a');
  const std::vector<std::string> onnx{"features.method=onnx", "features.model_sha256=" + hash,
                                      "features.outputs=512"};
  const auto with = [&](const std::string& change) {
    auto assignments = onnx;
    assignments.push_back(change);
    return assignments;
  };
  const auto job = Read(kMinimal, with("features.input=[1, 28, 28]"));
  EXPECT_EQ(TrainedFeatures(job), 512);
  EXPECT_EQ(job.features.extraction.onnx.model_sha256, hash);
  EXPECT_EQ(DpsgdJson(Read(SavedToml(job))), DpsgdJson(job));
  EXPECT_EQ(DpsgdJson(ParseDpsgdJson(DpsgdJson(job), "model.npz")), DpsgdJson(job));
  EXPECT_EQ(Read(kMinimal, onnx).features.extraction.onnx.input, std::vector<int>{784});
  EXPECT_EQ(ErrorOf(kMinimal, with("features.model_sha256=abc")),
            "x.toml: features.model_sha256: found \"abc\", expected 64 lower-case hexadecimal digits");
  EXPECT_EQ(ErrorOf(kMinimal, with("features.input=[3, 28, 28]")),
            "x.toml: features.input: found 3 lengths of product 2352, expected one to four of product 784 "
            "(data.features)");
}

// Rows of both have colours side by side, which hardly any network wants.
TEST(DpsgdSettings, ComparesANetworksInputWithColourImages) {
  const std::vector<std::string> onnx{"features.method=onnx", "features.model_sha256=" + std::string(64, 'a'),
                                      "features.outputs=512"};
  std::string cifar = kMinimal;
  cifar.replace(cifar.find("idx"), 3, "cifar");
  cifar.erase(cifar.find("features = 784\n"), 15);
  std::string images = kMinimal;
  images.replace(images.find("idx"), 3, "images");
  images.replace(images.find("features = 784"), 14, "features = 3072");
  images.replace(images.find("classes = 10"), 12, "classes = 2\nlabel.values = [\"cat\", \"dog\"]");
  for (const auto& text : {cifar, images}) {
    auto changes = onnx;
    if (text == images) changes.emplace_back("features.image=[32, 32, 3]");
    EXPECT_EQ(Read(text, changes).features.extraction.onnx.input, std::vector<int>{3072});
    changes.emplace_back("features.input=[3, 32, 32]");
    const auto job = Read(text, changes);
    EXPECT_EQ(job.features.extraction.image, (data::ImageSize{32, 32, 3}));
    EXPECT_EQ(DpsgdJson(ParseDpsgdJson(DpsgdJson(job), "model.npz")), DpsgdJson(job));
    const auto again = ParseDpsgdJson(DpsgdJson(job), "model.npz").features.extraction;
    EXPECT_EQ(again.image, (data::ImageSize{32, 32, 3})) << "a model's records are put in the same order";
    changes.back() = "features.input=[32, 3, 32]";
    EXPECT_THAT(
        ErrorOf(text, changes),
        HasSubstr("features.input: found [32, 3, 32], expected [3, 32, 32], [32, 32, 3] or one length: "
                  "images are 32 x 32 x 3 (features.image)"));
  }
}

const std::vector<std::string> kInitialised{
    "initialisation.method=accuracy", "initialisation.steps=100", "initialisation.expected_batch=683",
    "initialisation.learning_rate=80.0", "initialisation.epsilon=1.0"};

TEST(DpsgdSettings, StartsFromLocalModels) {
  const auto job = Read(kMinimal, kInitialised);
  EXPECT_EQ(job.initialisation->local.clip, job.privacy.clip);
  EXPECT_EQ(job.initialisation->local.delta, job.privacy.delta);
  EXPECT_EQ(job.initialisation->selection, ml::Selection::kNoisy);
  EXPECT_TRUE(PrivacyWarnings(job).empty());
  EXPECT_EQ(DpsgdJson(Read(SavedToml(job))), DpsgdJson(job));
  EXPECT_EQ(DpsgdJson(ParseDpsgdJson(DpsgdJson(job), "model.npz")), DpsgdJson(job));

  const auto settings = SettingsOf(job);
  ASSERT_TRUE(settings.initialisation);
  EXPECT_EQ(settings.initialisation->method, ml::InitialisationMethod::kAccuracy);
  EXPECT_EQ(settings.initialisation->local.steps, 100);
  EXPECT_EQ(settings.initialisation->local.target_epsilon, 1.0);
  EXPECT_FALSE(SettingsOf(Read(kMinimal)).initialisation);

  auto changes = kInitialised;
  changes.emplace_back("initialisation.selection=as-published");
  const auto published = Read(kMinimal, changes);
  EXPECT_EQ(PrivacyWarnings(published).size(), 1U);
  EXPECT_EQ(SettingsOf(published).initialisation->selection, ml::Selection::kAsPublished);
  EXPECT_EQ(DpsgdJson(Read(SavedToml(published))), DpsgdJson(published));
}

TEST(DpsgdSettings, SelectsOnValidationRecords) {
  auto changes = kInitialised;
  for (const auto* change : {"selection=public-validation", "validation_holder=1", "validation_rows=300"})
    changes.push_back(std::string("initialisation.") + change);
  const auto job = Read(kMinimal, changes);
  EXPECT_EQ(DpsgdJson(Read(SavedToml(job))), DpsgdJson(job));
  EXPECT_EQ(PrivacyWarnings(job).size(), 1U);
  const auto settings = SettingsOf(Read(SavedToml(job))).initialisation;
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->selection, ml::Selection::kPublicValidation);
  EXPECT_EQ(settings->validation.holder, 1);
  EXPECT_EQ(settings->validation.rows, 300);
  changes.emplace_back("initialisation.selection_rows=20");
  EXPECT_NE(ErrorOf(kMinimal, changes).find("selection \"public-validation\" does not have it"),
            std::string::npos);
}

TEST(DpsgdSettings, RefusesInitialisationsThatDoNotFit) {
  const auto error = [](const std::string& change) {
    auto changes = kInitialised;
    changes.push_back(change);
    return ErrorOf(kMinimal, changes);
  };
  EXPECT_EQ(error("initialisation.selection=public-validation"),
            "x.toml: missing initialisation.validation_holder, expected a whole number from 0 to 2");
  EXPECT_EQ(
      error("initialisation.validation_rows=5"),
      "--set initialisation.validation_rows=5: initialisation.validation_rows: selection \"noisy\" does not "
      "have it");
  EXPECT_EQ(
      error("initialisation.sigma=1.0"),
      "--set initialisation.sigma=1.0: initialisation.sigma: initialisation.epsilon is given too, expected "
      "only one of them");
  EXPECT_EQ(ErrorOf(kMinimal, {"initialisation.steps=3"}),
            "--set initialisation.steps=3: initialisation.steps: method \"none\" does not have it");
  EXPECT_EQ(ErrorOf(kMinimal, {"initialisation.method=averaging"}),
            "x.toml: missing initialisation.steps, expected a whole number from 1 to 2147483647");
}

// The column "comment" of kCsv as text.
const std::string kText = Replaced(kCsv, "kind = \"ignore\"", "kind = \"text\"");

TEST(DpsgdSettings, HashesTextBesideNumbers) {
  const auto job = Read(kText, {"features.method=hash-text", "features.dimension=100", "features.words=[]",
                                "features.binary=true"});
  EXPECT_EQ(TrainedFeatures(job), 103);
  EXPECT_EQ(job.features.extraction.hash_text.characters.most, 5);
  EXPECT_EQ(job.features.extraction.hash_text.words.most, 0);
  EXPECT_TRUE(job.features.extraction.hash_text.binary);
  EXPECT_EQ(DpsgdJson(Read(SavedToml(job))), DpsgdJson(job));
  EXPECT_TRUE(ParseDpsgdJson(DpsgdJson(job), "model.npz").features.extraction.hash_text.binary);
  EXPECT_EQ(DpsgdJson(ParseDpsgdJson(DpsgdJson(job), "model.npz")), DpsgdJson(job));
}

TEST(DpsgdSettings, TextAndItsMethodNeedEachOther) {
  EXPECT_EQ(ErrorOf(kText),
            "x.toml: features.method: expected \"hash-text\", as data.column has one of kind \"text\" "
            "(\"ignore\" leaves it out)");
  EXPECT_EQ(ErrorOf(kCsv, {"features.method=hash-text"}),
            "--set features.method=hash-text: features.method: found \"hash-text\", expected another one, as "
            "data.column has none of kind \"text\"");
  const auto error = [](const std::string& change) {
    return ErrorOf(kText, {"features.method=hash-text", change});
  };
  EXPECT_EQ(error("features.words=[2, 1]"),
            "--set features.words=[2, 1]: features.words: found [ 2, 1 ], expected [least, most] from 1 to "
            "16, or []");
  EXPECT_EQ(ErrorOf(kText, {"features.method=hash-text", "features.words=[]", "features.characters=[]"}),
            "x.toml: features.words: found [] beside features.characters = [], expected n-grams of words or "
            "characters");
}

TEST(JobHash, HasTheKeysOfTheMethod) {
  EXPECT_NE(
      DpsgdJson(Read(kMinimal, {"features.method=hog"}))
          .find(
              R"("features":{"block":2,"cell":4,"image":[28,28],"method":"hog","orientations":9,"row_norm":1.0})"),
      std::string::npos);
}

class CsvErrorTest : public testing::TestWithParam<EditCase> {};

TEST_P(CsvErrorTest, NamesPlaceFoundAndExpected) {
  const auto& [name, from, to, error] = GetParam();
  EXPECT_EQ(ErrorOf(Replaced(kCsv, from, to)), error);
}

INSTANTIATE_TEST_SUITE_P(
    Csv, CsvErrorTest,
    testing::Values(
        EditCase{"scale_of_all", "classes = 2", "classes = 2\nscale = 2.0",
                 "x.toml:9: data.scale: each [[data.column]] has its own scale in format \"csv\""},
        EditCase{"features", "classes = 2", "classes = 2\nfeatures = 4",
                 "x.toml:9: data.features: found 4, expected 3, which is what the columns give"},
        EditCase{
            "mean_of_category", "values = [\"Female\", \"Male\"]", "mean = 1.0",
            "x.toml:16: data.column.mean: column \"sex\" is of kind \"category\"; only kind \"number\" or "
            "\"date\" has it"},
        EditCase{"separator", "classes = 2", "classes = 2\nseparator = \":\"",
                 "x.toml:9: data.separator: found \":\", expected one of \",\", \";\", \"tab\", \"|\""},
        EditCase{"encoding", "classes = 2", "classes = 2\nencoding = \"utf8\"",
                 "x.toml:9: data.encoding: found \"utf8\", expected one of \"utf-8\", \"latin-1\", "
                 "\"windows-1252\"; did you mean utf-8?"},
        EditCase{"marks", "classes = 2", "classes = 2\nmissing = [1]",
                 "x.toml:9: data.missing: found [ 1 ], expected a text in quotes, or an array of texts"},
        EditCase{
            "marks_of_a_key", "kind = \"ignore\"", "kind = \"key\"\nmissing = \"\"",
            "x.toml:20: data.column.missing: column \"comment\" is of kind \"key\"; only kind \"number\" or "
            "\"category\" or \"text\" or \"date\" or \"bin\" has it"},
        EditCase{
            "mark_that_is_a_value", "\"Male\"]", "\"Male\"]\nmissing = [\"\", \"Male\"]",
            "x.toml:17: data.column.missing: found \"Male\", which is a value or an alias, expected marks of "
            "missing values alone"},
        EditCase{"alias_of_no_category", "\"Male\"]", "\"Male\"]\naliases = { M = \"male\" }",
                 "x.toml:17: data.column.aliases: found \"male\", expected one of the values"},
        EditCase{
            "alias_that_is_a_value", "\"Male\"]", "\"Male\"]\naliases = { Male = \"Female\" }",
            "x.toml:17: data.column.aliases: found \"Male\" for another value, expected no alias that is "
            "itself a "
            "value or an alias"},
        EditCase{"words_as_numbers", "\"Male\"]", "\"Male\"]\nnumeric = true",
                 "x.toml:16: data.column.values: found \"Female\", expected numbers, with numeric = true"},
        EditCase{"number_twice", "[\"Female\", \"Male\"]", "[\"1\", \"01.0\"]\nnumeric = true",
                 "x.toml:16: data.column.values: found \"01.0\" for an earlier number, expected each number "
                 "once, with "
                 "numeric = true"},
        EditCase{"words_as_numbers_of_labels", "column = \"income\"", "column = \"income\"\nnumeric = true",
                 "x.toml:23: data.label.values: found \"<=50K\", expected numbers, with numeric = true"},
        EditCase{"edges_out_of_order", "kind = \"ignore\"", "kind = \"bin\"\nedges = [1, 3, 2]",
                 "x.toml:20: data.column.edges: found [ 1, 3, 2 ], expected an array of finite numbers in "
                 "ascending "
                 "order"},
        EditCase{
            "no_edges", "kind = \"ignore\"", "kind = \"bin\"\nedges = []",
            "x.toml:20: data.column.edges: found [], expected an array of finite numbers in ascending order"},
        EditCase{"date_format", "kind = \"ignore\"",
                 "kind = \"date\"\nformat = \"%d.%m.%y\"\norigin = \"2000-01-01\"",
                 "x.toml:20: data.column.format: found \"%d.%m.%y\", expected %Y, %m and %d once each, as in "
                 "\"%Y-%m-%d\" (also %H, %M, %S)"},
        EditCase{"origin", "kind = \"ignore\"",
                 "kind = \"date\"\nformat = \"%d.%m.%Y\"\norigin = \"2001-02-29\"",
                 "x.toml:21: data.column.origin: found \"2001-02-29\", expected a date as \"%Y-%m-%d\""},
        EditCase{"fill_of_a_number", "mean = 38.5", "fill = \"old\"\nmean = 38.5",
                 "x.toml:11: data.column.fill: found \"old\", expected a number"},
        EditCase{"fill_of_a_category", "\"Male\"]", "\"Male\"]\nfill = \"male\"",
                 "x.toml:17: data.column.fill: found \"male\", expected one of the column's declared values"},
        EditCase{
            "indicator_of_nothing", "kind = \"ignore\"", "kind = \"ignore\"\nmissing_indicator = true",
            "x.toml:20: data.column.missing_indicator: column \"comment\" is of kind \"ignore\"; only kind "
            "\"number\" or \"category\" or \"date\" or \"bin\" has it"},
        EditCase{"value_twice", "[\"Female\", \"Male\"]", "[\"Male\", \"Male\"]",
                 "x.toml:9: data.column: column \"sex\": the value \"Male\" occurs twice, expected it once"},
        EditCase{"column_twice", "\"comment\"", "\"age\"",
                 "x.toml:9: data.column: the column \"age\" occurs twice, expected it once"},
        EditCase{"classes", "classes = 2", "classes = 3",
                 "x.toml:22: data.label.values: found [ \"<=50K\", \">50K\" ], expected as many values as "
                 "data.classes (3)"},
        EditCase{"alias_of_nothing", "\">50K.\" = \">50K\"", "\">50K.\" = \"rich\"",
                 "x.toml:23: data.label.aliases.>50K.: found \"rich\", expected one of data.label.values"}),
    CaseName);

TEST(DpsgdSettings, NamesAFileThatIsNotThere) {
  try {
    (void)ReadDpsgdSettings("/nowhere/x.toml");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "/nowhere/x.toml: No such file or directory, expected a TOML file");
  }
}

TEST(JobHash, IsStableUnderOrderAndDefaultsWritten) {
  const auto hash = DpsgdHash(Read(kMinimal));
  EXPECT_EQ(hash.size(), 64U);
  const auto reordered =
      Replaced(Replaced(kMinimal, "epsilon = 3.0\n", ""), "clip = 0.5\n", "clip = 0.5\nepsilon = 3\n");
  EXPECT_EQ(DpsgdHash(Read(reordered)), hash);
  const auto defaults =
      std::string(kMinimal) +
      "against = \"insider\"\naccountant = \"rdp\"\nsampling = \"owner-poisson\"\n[model]\nhidden = []\n"
      "[release]\nto = [2, 1, 0]\n[features]\nmethod = \"none\"\nrow_norm = 1\n";
  EXPECT_EQ(DpsgdHash(Read(defaults)), hash);
  EXPECT_EQ(DpsgdHash(Read(kMinimal, {"local.split=sorted"})), hash);
}

TEST(JobHash, ChangesWithEveryKindOfKey) {
  const auto hash = DpsgdHash(Read(kMinimal));
  for (const auto* change : {"name=other", "fraction_bits=12", "data.scale=1.0", "training.steps=440",
                             "privacy.clip=0.25", "privacy.against=outsider", "release.to=[0]",
                             "model.loss=squared", "features.row_norm=2.0", "features.method=hog"}) {
    EXPECT_NE(DpsgdHash(Read(kMinimal, {change})), hash) << change;
  }
}

// The text is the contract between three installations: computed once with Python's json and hashlib.
TEST(JobHash, IsShaOfCompactJsonWithSortedKeys) {
  const auto job = Read(kMinimal);
  EXPECT_EQ(
      DpsgdJson(job),
      R"({"data":{"classes":10,"features":784,"format":"idx","name":"mnist","partition":"horizontal","rows":[20000,20000,20000],"scale":255.0},)"
      R"("features":{"method":"none","row_norm":1.0},"fraction_bits":16,"initialisation":{"method":"none"},)"
      R"("model":{"hidden":[],"loss":"one-vs-rest"},)"
      R"("name":"mnist","privacy":{"accountant":"rdp","against":"insider","clip":0.5,"delta":1e-05,"epsilon":3.0,)"
      R"("sampling":"owner-poisson"},"release":{"to":[0,1,2]},"training":{"checkpoint_every":0,"clipping":"factorised","comparison":"auto",)"
      R"("expected_batch":2048.0,"learning_rate":150.0,"logit_bound":64.0,"max_batch_per_owner":900,"momentum":0.0,)"
      R"("schedule":"constant","steps":439,"steps_ahead":2,"truncation":"stochastic"},"type":"dpsgd","version":1})");
  EXPECT_EQ(DpsgdHash(job), "14b7f1100a2c5d5df6ce243405cab7934ba3633f53b8533924f916d4cd9a2f5d");
}

// A key that version 0.1 did not have is in the hash only where it is not by default.
TEST(JobHash, KnowsLostStepsWhereTheyAreNotByDefault) {
  const auto job = Read(kMinimal);
  EXPECT_EQ(job.training.lost_steps_max, 43);  // of 439
  EXPECT_EQ(DpsgdHash(Read(kMinimal, {"training.lost_steps_max=43"})), DpsgdHash(job));
  const auto other = Read(kMinimal, {"training.lost_steps_max=44"});
  EXPECT_NE(DpsgdHash(other), DpsgdHash(job));
  EXPECT_EQ(ParseDpsgdJson(DpsgdJson(other), "model.npz").training.lost_steps_max, 44);
  EXPECT_THROW((void)Read(kMinimal, {"training.lost_steps_max=-1"}), ConfigError);
}

class RoundTripTest : public testing::TestWithParam<const char*> {};

TEST_P(RoundTripTest, SavedJobReadsBackTheSame) {
  const auto job = Read(GetParam(), {"local.split=[0.2, 0.3, 0.5]", "privacy.clip=0.1234567890123456"});
  const auto saved = Read(SavedToml(job));
  EXPECT_EQ(DpsgdHash(saved), DpsgdHash(job));
  EXPECT_EQ(saved.local.fractions, job.local.fractions);
  EXPECT_EQ(DpsgdJson(ParseDpsgdJson(DpsgdJson(job), "model.npz")), DpsgdJson(job));
}

// Every key of a table as organisations have them, none at its default.
constexpr const char* kAsItIs = R"(version = 1
type = "dpsgd"
name = "incomes"
[data]
name = "incomes"
format = "csv"
rows = [10, 20, 30]
classes = 2
missing = ["", "NA"]
separator = "tab"
decimal = ","
encoding = "windows-1252"
[[data.column]]
name = "age"
missing = "-9"
fill = 40
missing_indicator = true
[[data.column]]
name = "sex"
kind = "category"
values = ["0", "1"]
numeric = true
aliases = { F = "0", M = "1" }
missing = ["", "9"]
fill = "0"
[[data.column]]
name = "since"
kind = "date"
format = "%d.%m.%Y %H:%M"
origin = "2000-01-01"
mean = 3650
scale = 365.25
fill = "31.12.2010 00:00"
[[data.column]]
name = "hours"
kind = "bin"
edges = [-0.5, 20, 40.25]
missing_indicator = true
[data.label]
column = "income"
values = ["0", "1"]
numeric = true
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

INSTANTIATE_TEST_SUITE_P(Jobs, RoundTripTest, testing::Values(kMinimal, kCsv, kAsItIs));

// What decides a row's width and values is public and the same at all three, or no two of them compute
// together.
TEST(JobHash, HasEveryKeyOfATable) {
  const auto job = Read(kAsItIs);
  EXPECT_EQ(job.data.features, 2 + 2 + 1 + 5);
  std::istringstream lines(kAsItIs);
  const std::vector<std::string> optional{"missing", "separator", "decimal",           "encoding",
                                          "fill",    "numeric",   "missing_indicator", "aliases"};
  int left_out = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto key = line.substr(0, line.find(' '));
    if (std::find(optional.begin(), optional.end(), key) == optional.end()) continue;
    ++left_out;
    EXPECT_NE(DpsgdHash(Read(Replaced(kAsItIs, line + "\n", ""))), DpsgdHash(job)) << line;
  }
  EXPECT_EQ(left_out, 14);
  for (const auto& [from, to] : {std::pair{"40.25", "40.5"}, {"2000-01", "2000-02"}, {"%H:%M", "%H.%M"}})
    EXPECT_NE(DpsgdHash(Read(Replaced(Replaced(kAsItIs, "fill = \"31.12.2010 00:00\"\n", ""), from, to))),
              DpsgdHash(Read(Replaced(kAsItIs, "fill = \"31.12.2010 00:00\"\n", ""))))
        << to;
}

// Keys that came after version 0.1 are in the hash only where they are not by default.
TEST(JobHash, LeavesOutTheDefaultsOfATable) {
  const auto defaults =
      Replaced(kCsv, "classes = 2", "classes = 2\nmissing = [\"?\"]\nseparator = \",\"\ndecimal = \".\"");
  EXPECT_EQ(DpsgdHash(Read(Replaced(defaults, "\"Male\"]", "\"Male\"]\nnumeric = false\naliases = {}"))),
            DpsgdHash(Read(kCsv)));
}

TEST(RoundTrip, KeepsTheKeysOfFeatures) {
  const auto job = Read(kMinimal, {"features.method=hog", "features.image=[14, 56]", "features.cell=2",
                                   "features.orientations=5", "features.block=3"});
  EXPECT_EQ(job.features.extraction.hog.block, 3);
  EXPECT_EQ(DpsgdJson(Read(SavedToml(job))), DpsgdJson(job));
  EXPECT_EQ(DpsgdJson(ParseDpsgdJson(DpsgdJson(job), "model.npz")), DpsgdJson(job));
}

TEST(RoundTrip, KeepsTheKeysOfScattering) {
  const auto job = Read(
      kMinimal, {"features.method=scatter", "features.scales=3", "features.angles=4", "features.groups=61"});
  EXPECT_EQ(job.features.extraction.scatter.groups, 61);
  EXPECT_EQ(DpsgdJson(Read(SavedToml(job))), DpsgdJson(job));
  EXPECT_EQ(DpsgdJson(ParseDpsgdJson(DpsgdJson(job), "model.npz")), DpsgdJson(job));
}

TEST(ParseDpsgdJson, RefusesWhatIsNoJob) {
  for (const auto* json : {"", "[]", "{", "{\"version\":null}", "{\"version\":1}"}) {
    EXPECT_THROW((void)ParseDpsgdJson(json, "model.npz"), ConfigError) << json;
  }
  EXPECT_THROW((void)ParseDpsgdJson(std::string(100000, '[') + std::string(100000, ']'), "model.npz"),
               ConfigError);
}

}  // namespace
}  // namespace trefoil::jobs
