#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "dp/record/record.h"
#include "tests/dp/mnist_records.h"

namespace trefoil::dp {
namespace {

TEST(RecordJson, WritesExecutionsWhereABatchHadSeveral) {
  auto steps = MnistSteps();
  steps.sampling = SamplingMode::kPublic;
  steps.executions = 3;
  steps.max_participation = 600;
  const TrainingRecord record{"ab", "cd", {steps}};
  EXPECT_EQ(std::get<DpSgdSteps>(FromJson(ToJson(record)).events[0]).executions, 3);
  steps.executions = 1001;
  EXPECT_EQ(std::get<DpSgdSteps>(FromJson(ToJson({"ab", "cd", {steps}})).events[0]).executions, 1001);
  auto json = ToJson(record);
  json["events"][0]["executions"] = (std::int64_t{1} << 53) / steps.steps + 1;
  EXPECT_THROW((void)FromJson(json), DataError);
  json["events"][0]["executions"] = 1;
  EXPECT_THROW((void)FromJson(json), DataError);
  json["events"][0]["executions"] = 3;
  json["events"][0]["sampling"] = "owner-poisson";
  EXPECT_THROW((void)FromJson(json), DataError);
  steps.executions = 1;
  steps.max_participation = 31;
  EXPECT_FALSE(ToJson(TrainingRecord{"ab", "cd", {steps}})["events"][0].contains("executions"));
}

TEST(RecordJson, WritesTheNoiseOfClipCountsWhereThereAreSuch) {
  TrainingRecord record{"ab", "cd", {MnistSteps()}};
  EXPECT_FALSE(ToJson(record).at("events").at(0).contains("clip_count_sigma"));
  std::get<DpSgdSteps>(record.events[0]).clip_count_sigma = 102.4;
  auto json = ToJson(record);
  EXPECT_EQ(json.at("events").at(0).at("clip_count_sigma"), 102.4);
  EXPECT_EQ(ToJson(FromJson(json)), json);
  json["events"][0]["clip_count_sigma"] = 0;
  EXPECT_THROW((void)FromJson(json), DataError);
}

TEST(RecordJson, RefusesClipCountsThatNoTrainingOpens) {
  auto steps = MnistSteps();
  steps.sigma = 1.4142;
  steps.clip_count_sigma = 1;
  const auto refused = [](const DpSgdSteps& event) {
    EXPECT_THROW((void)FromJson(ToJson(TrainingRecord{"ab", "cd", {event}})), DataError);
  };
  EXPECT_NO_THROW((void)FromJson(ToJson(TrainingRecord{"ab", "cd", {steps}})));
  auto full = steps;
  full.sampling = SamplingMode::kFull;
  full.sampling_rate = 1;
  full.limits.max_batch = full.limits.capacity;
  EXPECT_NO_THROW((void)FromJson(ToJson(TrainingRecord{"ab", "cd", {full}})));
  auto more_than_half = steps;
  more_than_half.sigma = 1.42;
  refused(more_than_half);
  auto common = steps;
  common.sampling = SamplingMode::kPublic;
  refused(common);
  auto deposited = full;
  deposited.sampling = SamplingMode::kDeposited;
  deposited.limits.capacity = deposited.limits.max_batch = {100, 0, 0};
  refused(deposited);
  auto groups = steps;
  groups.limits.group_rows = 4;
  refused(groups);
}

TEST(RecordJson, WritesGroupsOnlyWhereTheyAreTheUnit) {
  auto record = MnistRecord();
  EXPECT_FALSE(ToJson(record).at("events").at(0).contains("max_group_rows"));
  StepsOf(record.events[0]).limits.group_rows = 4;
  auto json = ToJson(record);
  EXPECT_EQ(json.at("events").at(0).at("max_group_rows"), 4);
  auto back = FromJson(json);
  EXPECT_EQ(StepsOf(back.events[0]).limits.group_rows, 4);
  // Whole groups fill a batch more easily than records.
  EXPECT_GT(Cutting(OutsiderEvents(back)).probability, Cutting(OutsiderEvents(MnistRecord())).probability);
  json["events"][0]["max_group_rows"] = 1;
  EXPECT_THROW((void)FromJson(json), DataError);
  json["events"][0]["max_group_rows"] = 4;
  json["events"][0]["sampling"] = "public";
  EXPECT_THROW((void)FromJson(json), DataError);
}

TEST(RecordJson, WritesGroupsOfReleases) {
  const GaussianReleases sum{.count = 2, .coordinates = 3, .sigma = 4, .party_deviation = 1e6};
  EXPECT_FALSE(ToJson({"ab", "cd", {sum}})["events"][0].contains("max_group_rows"));
  auto of_groups = sum;
  of_groups.group_rows = 5;
  auto json = ToJson({"ab", "cd", {of_groups}});
  EXPECT_EQ(json["events"][0]["max_group_rows"], 5);
  EXPECT_EQ(std::get<GaussianReleases>(FromJson(json).events.at(0)).group_rows, 5);
  json["events"][0]["max_group_rows"] = 1;
  EXPECT_THROW((void)FromJson(json), DataError);
}

TEST(RecordJson, RoundTripsThroughText) {
  auto record = MnistRecord();
  record.events.push_back(MnistSteps());
  StepsOf(record.events[1]).sampling = SamplingMode::kPublic;
  StepsOf(record.events[1]).max_participation = 31;
  StepsOf(record.events[1]).limits = {{1, 2, 3}, {4, 5, 6}};

  const auto text = ToJson(record).dump();
  auto back = FromJson(nlohmann::json::parse(text));

  EXPECT_EQ(ToJson(back).dump(), text);
  EXPECT_EQ(back.job_hash, "0123456789abcdef");
  EXPECT_EQ(back.run_id, "fedc");
  ASSERT_EQ(back.events.size(), 2U);
  EXPECT_EQ(StepsOf(back.events[1]).sampling, SamplingMode::kPublic);
  EXPECT_EQ(StepsOf(back.events[1]).max_participation, 31);
  EXPECT_EQ(StepsOf(back.events[1]).limits.capacity[2], 3);
  EXPECT_EQ(StepsOf(back.events[1]).limits.max_batch[0], 4);
  EXPECT_EQ(StepsOf(back.events[0]).sampling_rate, 2048.0 / 60000);
  EXPECT_EQ(StepsOf(back.events[0]).coordinates, 7850);
  const auto before = Epsilons(record, 1e-5);
  const auto after = Epsilons(back, 1e-5);
  EXPECT_EQ(before.outsider, after.outsider);
  EXPECT_EQ(before.insider, after.insider);
}

TEST(RecordJson, RoundTripsUnlikeEvents) {
  auto record = MnistRecord();
  record.events = {MnistLocalTraining(),
                   MnistSelection(),
                   MnistSteps(),
                   PureReleases{.count = 3, .epsilon = 0.5, .replaced = 0.75},
                   LaplaceCounts{.count = 6, .rate = 0.0625},
                   GaussianReleases{.count = 7, .coordinates = 10, .sigma = 4, .party_deviation = 20},
                   ApproximateReleases{.count = 2, .epsilon = 0.25, .failure = 1e-7, .insiders = false}};
  const auto text = ToJson(record).dump();
  const auto back = FromJson(nlohmann::json::parse(text));
  EXPECT_EQ(ToJson(back).dump(), text);
  const auto& local = std::get<LocalTraining>(back.events.at(0));
  EXPECT_EQ(local.steps, 100);
  EXPECT_EQ(local.sampling_rate, 0.03);
  EXPECT_EQ(local.sigma, 2.5);
  const auto& selection = std::get<NoisySelection>(back.events.at(1));
  EXPECT_EQ(selection.candidates, 4);
  EXPECT_EQ(selection.sampling_rate, 0.1);
  EXPECT_EQ(selection.sigma, 5);
  EXPECT_EQ(selection.limits.max_batch[1], 2200);
  EXPECT_EQ(selection.party_deviation, 7000);
  const auto& pure = std::get<PureReleases>(back.events.at(3));
  EXPECT_EQ(pure.count, 3);
  EXPECT_EQ(pure.epsilon, 0.5);
  EXPECT_EQ(pure.replaced, 0.75);
  const auto& counts = std::get<LaplaceCounts>(back.events.at(4));
  EXPECT_EQ(counts.count, 6);
  EXPECT_EQ(counts.rate, 0.0625);
  const auto& gaussian = std::get<GaussianReleases>(back.events.at(5));
  EXPECT_EQ(gaussian.count, 7);
  EXPECT_EQ(gaussian.coordinates, 10);
  EXPECT_EQ(gaussian.sigma, 4);
  EXPECT_EQ(gaussian.party_deviation, 20);
  const auto& approximate = std::get<ApproximateReleases>(back.events.at(6));
  EXPECT_EQ(approximate.count, 2);
  EXPECT_EQ(approximate.epsilon, 0.25);
  EXPECT_EQ(approximate.failure, 1e-7);
  EXPECT_FALSE(approximate.insiders);
}

TEST(RecordJson, RoundTripsAPromiseAndReadsARecordWithoutOne) {
  auto record = MnistRecord();
  EXPECT_EQ(ToJson(record).size(), 4U);
  EXPECT_FALSE(FromJson(ToJson(record)).promise);
  for (const auto unit : {PrivacyUnit::kRecord, PrivacyUnit::kJointRecord, PrivacyUnit::kGroup,
                          PrivacyUnit::kTeacher, PrivacyUnit::kOwner}) {
    for (const auto neighbours : {Neighbours::kAdded, Neighbours::kReplaced}) {
      record.promise = Promise{.unit = unit, .neighbours = neighbours, .warnings = {"one", "two"}};
      const auto json = ToJson(record);
      EXPECT_EQ(json.at("unit"), NameOf(unit));
      EXPECT_EQ(json.at("neighbours"), NameOf(neighbours));
      const auto back = FromJson(nlohmann::json::parse(json.dump()));
      ASSERT_TRUE(back.promise);
      EXPECT_EQ(back.promise->unit, unit);
      EXPECT_EQ(back.promise->neighbours, neighbours);
      EXPECT_EQ(back.promise->warnings, record.promise->warnings);
    }
  }
  EXPECT_EQ(Epsilons(record, 1e-5).insider, Epsilons(MnistRecord(), 1e-5).insider);
}

TEST(RecordJson, RefusesHalfAPromiseAndOneThatItDoesNotKnow) {
  auto record = MnistRecord();
  record.promise = Promise{.warnings = {"one"}};
  const auto whole = ToJson(record);
  for (const auto* key : {"unit", "neighbours", "warnings"}) {
    auto json = whole;
    json.erase(key);
    EXPECT_THROW((void)FromJson(json), DataError) << key;
    json = whole;
    json[key] = "person";
    EXPECT_THROW((void)FromJson(json), DataError) << key;
    json[key] = nlohmann::json::array({3});
    EXPECT_THROW((void)FromJson(json), DataError) << key;
  }
}

TEST(RecordJson, SaysOfDepositsThatTheyAre) {
  auto record = MnistRecord();
  record.promise = Promise{};
  EXPECT_FALSE(ToJson(record).contains("deposited"));
  record.promise->deposited = true;
  auto json = ToJson(record);
  EXPECT_EQ(json.at("deposited"), true);
  EXPECT_TRUE(FromJson(json).promise->deposited);
  json["deposited"] = false;
  EXPECT_THROW((void)FromJson(json), DataError);
  json = ToJson(MnistRecord());
  json["deposited"] = true;
  EXPECT_THROW((void)FromJson(json), DataError);
}

TEST(RecordJson, RefusesAnEventWithTheKeysOfAnother) {
  auto json = ToJson({"a", "b", {MnistLocalTraining()}});
  json["events"][0]["kind"] = "noisy_selection";
  EXPECT_THROW((void)FromJson(json), DataError);
  json = ToJson({"a", "b", {MnistSelection()}});
  json["events"][0]["sigma"] = -1;
  EXPECT_THROW((void)FromJson(json), DataError);
  json = ToJson({"a", "b", {LaplaceCounts{.count = 3, .rate = 0.5}}});
  json["events"][0]["rate"] = 0;
  EXPECT_THROW((void)FromJson(json), DataError);
  json = ToJson({"a", "b", {PureReleases{.count = 3, .epsilon = 0.5}}});
  json["events"][0]["kind"] = "gaussian_releases";
  EXPECT_THROW((void)FromJson(json), DataError);
}

TEST(RecordJson, SaysWhatIsReleasedBeforeATraining) {
  GaussianReleases releases{.count = 1, .coordinates = 3, .sigma = 2, .party_deviation = 100};
  EXPECT_FALSE(ToJson({"a", "b", {releases}})["events"][0].contains("of"));
  for (const auto of : {ReleasedFor::kRanges, ReleasedFor::kMeans, ReleasedFor::kClassCounts}) {
    releases.of = of;
    const auto back = FromJson(nlohmann::json::parse(ToJson({"a", "b", {releases}}).dump()));
    EXPECT_EQ(std::get<GaussianReleases>(back.events.at(0)).of, of);
  }
  auto json = ToJson({"a", "b", {releases}});
  EXPECT_EQ(json["events"][0]["of"], "class_counts");
  json["events"][0]["of"] = "results";
  EXPECT_THROW((void)FromJson(json), DataError);
}

nlohmann::json TuningJson() {
  const Tuning tuning{.trials = {{.count = 2, .events = {MnistSteps(), NoisyEvaluation{.sigma = 4}}},
                                 {.count = 1, .events = {MnistLocalTraining()}}},
                      .weights = {5, 0, 1}};
  return ToJson({"ab", "cd", {tuning}});
}

TEST(RecordJson, RoundTripsATuning) {
  const auto json = TuningJson();
  const auto back = FromJson(nlohmann::json::parse(json.dump()));
  EXPECT_EQ(ToJson(back), json);
  const auto& tuning = std::get<Tuning>(back.events.at(0));
  EXPECT_EQ(tuning.weights, (std::vector<std::int64_t>{5, 0, 1}));
  EXPECT_EQ(tuning.trials.at(0).count, 2);
  EXPECT_EQ(std::get<DpSgdSteps>(tuning.trials[0].events.at(0)).steps, 439);
  EXPECT_EQ(std::get<LocalTraining>(tuning.trials.at(1).events.at(0)).steps, 100);
}

TEST(RecordJson, RefusesATuningThatIsNone) {
  const auto refused = [](const char* patch, const char* text) {
    const auto damaged = TuningJson().patch(nlohmann::json::array({nlohmann::json::parse(patch)}));
    try {
      (void)FromJson(damaged);
      FAIL() << "accepted " << damaged;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(text));
    }
  };
  refused(R"({"op":"remove","path":"/events/0/weights/0"})", "events[0].weights: found 2 numbers");
  refused(R"({"op":"replace","path":"/events/0/weights","value":[0,0,0]})",
          "events[0].weights: found the sum 0");
  refused(R"({"op":"replace","path":"/events/0/weights","value":[9007199254740992,1,0]})",
          "weights: found the sum");
  refused(R"({"op":"replace","path":"/events/0/weights/1","value":-1})", "events[0].weights[1]: found -1");
  refused(R"({"op":"replace","path":"/events/0/weights","value":3})", "events[0].weights: found number");
  refused(R"({"op":"replace","path":"/events/0/trials","value":[]})",
          "events[0].trials: found no such array");
  refused(R"({"op":"replace","path":"/events/0/trials/0/count","value":0})",
          "events[0].trials[0].count: found 0");
  refused(R"({"op":"replace","path":"/events/0/trials/0/count","value":9007199254740992})",
          "trials[0].count");
  refused(R"({"op":"replace","path":"/events/0/trials/1/count","value":63})", "trials[1].count: found 63");
  refused(R"({"op":"replace","path":"/events/0/trials/1/events","value":[]})", "trials[1].events");
  refused(R"({"op":"replace","path":"/events/0/trials/0/events/1/kind","value":"tuning"})",
          "events[0].trials[0].events[1].kind");
  refused(R"({"op":"replace","path":"/events/0/trials/0/events/0/sigma","value":-1})",
          "events[0].trials[0].events[0].sigma");
}

TEST(RecordJson, WritesNoNan) {
  auto record = MnistRecord();
  StepsOf(record.events[0]).sigma = std::nan("");
  EXPECT_THROW((void)ToJson(record), ContractError);
  StepsOf(record.events[0]).sigma = std::numeric_limits<double>::infinity();
  EXPECT_THROW((void)ToJson(record), ContractError);
}

struct Damage {
  const char* name;
  const char* patch;  ///< JSON patch (RFC 6902), one operation
  const char* text;   ///< that the error must hold
};

class RecordDamageTest : public testing::TestWithParam<Damage> {};

TEST_P(RecordDamageTest, IsRefusedNamingTheKey) {
  const auto whole = ToJson(MnistRecord());
  const auto damaged = whole.patch(nlohmann::json::array({nlohmann::json::parse(GetParam().patch)}));
  try {
    (void)FromJson(damaged);
    FAIL() << "accepted " << damaged;
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(GetParam().text));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Damages, RecordDamageTest,
    testing::Values(
        Damage{"missing_key", R"({"op":"remove","path":"/run_id"})", "run_id: found nothing"},
        Damage{"unknown_key", R"({"op":"add","path":"/extra","value":1})", "extra: found an unknown key"},
        Damage{"other_version", R"({"op":"replace","path":"/version","value":2})",
               "version: found 2, expected 1"},
        Damage{"fractional_version", R"({"op":"replace","path":"/version","value":1.0})", "version"},
        Damage{"hash_of_a_number", R"({"op":"replace","path":"/job_hash","value":5})",
               "job_hash: found number"},
        Damage{"hash_not_hexadecimal", R"({"op":"replace","path":"/job_hash","value":"XYZ"})", "job_hash"},
        Damage{"empty_run_id", R"({"op":"replace","path":"/run_id","value":""})", "run_id"},
        Damage{"events_no_array", R"({"op":"replace","path":"/events","value":{}})", "events: found object"},
        Damage{"event_no_object", R"({"op":"replace","path":"/events/0","value":3})",
               "events[0]: found number"},
        Damage{"event_missing_key", R"({"op":"remove","path":"/events/0/sigma"})",
               "events[0].sigma: found nothing"},
        Damage{"event_unknown_key", R"({"op":"add","path":"/events/0/x","value":1})", "events[0].x"},
        Damage{"unknown_kind", R"({"op":"replace","path":"/events/0/kind","value":"x"})", "events[0].kind"},
        Damage{"unknown_sampling", R"({"op":"replace","path":"/events/0/sampling","value":"x"})",
               "events[0].sampling"},
        Damage{"negative_steps", R"({"op":"replace","path":"/events/0/steps","value":-1})",
               "events[0].steps: found -1"},
        Damage{"too_many_steps", R"({"op":"replace","path":"/events/0/steps","value":18446744073709551615})",
               "events[0].steps"},
        Damage{"rate_above_one", R"({"op":"replace","path":"/events/0/sampling_rate","value":1.5})",
               "events[0].sampling_rate: found 1.5"},
        Damage{"negative_sigma", R"({"op":"replace","path":"/events/0/sigma","value":-2})",
               "events[0].sigma"},
        Damage{"sigma_of_text", R"({"op":"replace","path":"/events/0/sigma","value":"1"})",
               "events[0].sigma"},
        Damage{"sigma_null", R"({"op":"replace","path":"/events/0/sigma","value":null})",
               "events[0].sigma: found null"},
        Damage{"two_capacities", R"({"op":"remove","path":"/events/0/capacity/0"})", "events[0].capacity"},
        Damage{"fractional_capacity", R"({"op":"replace","path":"/events/0/capacity/1","value":0.5})",
               "events[0].capacity[1]"},
        Damage{"participation_above_steps",
               R"({"op":"replace","path":"/events/0/max_participation","value":440})",
               "events[0].max_participation"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(RecordJson, RefusesWhatIsNoObject) {
  EXPECT_THROW((void)FromJson(nlohmann::json::array()), DataError);
  EXPECT_THROW((void)FromJson(nullptr), DataError);
}

}  // namespace
}  // namespace trefoil::dp
