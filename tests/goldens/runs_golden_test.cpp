// What small jobs of every type send and give where keys, coins, noise, data and forms are fixed:
// runs/NAME.json has results, wire.json what goes over the links. A change of either is a change of the
// protocol, of the schedule of messages, of what randomness is drawn for, or of arithmetic.
#include <gtest/gtest.h>

#include <spdlog/fmt/fmt.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/files.h"
#include "base/secrets/sha256.h"
#include "data/formats/numpy/npy.h"
#include "jobs/files/model_file.h"
#include "jobs/files/share_file.h"
#include "jobs/job.h"
#include "jobs/predict/settings.h"
#include "jobs/predict/shared_classifier.h"
#include "jobs/records/load_records.h"
#include "runtime/run_directory.h"
#include "tests/apps/temporary_folder.h"
#include "tests/goldens/compare.h"
#include "tests/goldens/fixed_coins.h"
#include "tests/goldens/golden_jobs.h"
#include "tests/goldens/wire_trace.h"
#include "tests/jobs/silent_output.h"
#include "tests/support/run_parties.h"

namespace trefoil::goldens {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Traces = std::array<std::array<LinkTrace, net::kParties>, net::kParties>;

constexpr const char* kRun = "0123456789abcdef0123456789abcdef";

/// Runs body(context) at three parties whose keys and coins are fixed; what they gave, and under "wire" what
/// they sent.
Json RunFixed(const std::string& name, const std::function<Json(mpc::Context&)>& body) {
  Traces traces;
  auto inner = net::MakeLocalTransports(testing_support::kPartyPatience);
  testing_support::Transports transports;
  for (std::size_t self = 0; self < transports.size(); ++self)
    transports.at(self) = std::make_unique<TracedTransport>(std::move(inner.at(self)), traces.at(self));
  (void)TakeDrawsOfOthers();
  auto of_parties = testing_support::RunPartiesOver(std::move(transports), testing_support::Seed{1},
                                                    [&](mpc::Context& party) {
                                                      const FixedCoins coins(name, party.self());
                                                      return body(party);
                                                    });
  EXPECT_EQ(TakeDrawsOfOthers(), 0U) << name << ": a thread drew randomness that does not repeat";
  Json wire;
  for (std::size_t self = 0; self < net::kParties; ++self) {
    for (std::size_t peer = 0; peer < net::kParties; ++peer) {
      if (peer != self) wire[fmt::format("{} to {}", self, peer)] = traces.at(self).at(peer).Take();
    }
  }
  return {{"parties", {of_parties[0], of_parties[1], of_parties[2]}}, {"wire", wire}};
}

Json ModelJson(const ml::Model& model) {
  Json json;
  for (const auto& [name, array] : jobs::ModelArrays(model))
    json[name] = {{"shape", array.shape}, {"values", data::NpyToDoubles(array, name)}};
  return json;
}

/// What record.json holds, and the hash of its bytes.
Json RecordJson(const fs::path& folder, const dp::TrainingRecord& record) {
  runtime::WriteRecord(folder / "record.json", record);
  const auto text = ReadTextFile(folder / "record.json", "a record");
  return {{"sha256", Sha256Hex(text)}, {"json", Json::parse(text)}};
}

/// The hash of model.share, which also goes to `kept`.
std::string ShareHash(const fs::path& folder, const jobs::ShareFile& share) {
  const auto file = folder / "model.share";
  jobs::SaveShare(file, share, testing_support::FixedKey(static_cast<std::uint8_t>(share.party + 1)));
  return Sha256Hex(ReadTextFile(file, "a share", kLargestOwnFile));
}

fs::path FolderOf(const fs::path& folder, int party) { return folder / fmt::format("party-{}", party); }

/// All runs' goldens.
class RunGoldens {
 public:
  void Add(const std::string& name, const Json& result) {
    wire_[name] = result.at("wire");
    names_.insert(name + ".json");
    ExpectGolden("runs/" + name + ".json", result.at("parties"));
  }
  /// After the last run.
  void Finish() const {
    ExpectGolden("wire.json", wire_);
    ExpectNoOtherGoldens("runs", names_);
  }

 private:
  Json wire_;
  std::set<std::string> names_;
};

/// By the shares that the training in this folder left.
Json Predict(const fs::path& folder) {
  const auto text = fmt::format(
      "version = 1\ntype = \"predict\"\nname = \"golden\"\n[predict]\nrun = \"{}\"\nclient = 1\nrows = 20\n"
      "scores = true\n",
      kRun);
  std::ofstream(folder / "predict.toml") << text;
  const auto job = jobs::ReadPredictSettings(jobs::ReadToml(folder / "predict.toml"), "predict.toml");
  return RunFixed("predict", [&](mpc::Context& party) {
    const auto own_folder = FolderOf(folder, party.self());
    const auto model =
        jobs::LoadShare(own_folder / "model.share", party.self(),
                        testing_support::FixedKey(static_cast<std::uint8_t>(party.self() + 1)));
    ml::OwnRecords rows;
    if (party.self() == job.client) {
      data::DataFiles files;
      files.file = own_folder / "test.csv";
      rows = jobs::LoadOwnRecords(model.schema.records, party.self(), files, {.threads = 1});
      rows.y.clear();
    }
    const auto predictions = jobs::ClassifyByShares(party, job, model, rows);
    Json json = Json::object();
    if (predictions) {
      json["classes"] = predictions->classes;
      const Eigen::MatrixXd scores = predictions->scores.value();
      json["scores"] = std::vector<double>(scores.data(), scores.data() + scores.size());
    }
    return json;
  });
}

/// Keeps the record alone.
class RecordOutput : public jobs::SilentOutput {
 public:
  explicit RecordOutput(const jobs::Job& job)
      : record{.job_hash = jobs::HashOf(job), .run_id = kRun, .events = {}, .promise = jobs::PromiseOf(job)} {
  }
  void Settle(const Events& executed) override { record.events = executed; }

  dp::TrainingRecord record;
};

Json RunJob(const GoldenJob& golden, const fs::path& folder, const std::array<jobs::PartyFile, 3>& parties) {
  std::ofstream(folder / "job.toml") << golden.text;
  return RunFixed(golden.name, [&](mpc::Context& party) {
    const auto own_folder = FolderOf(folder, party.self());
    const auto job = jobs::ReadJob(folder / "job.toml", golden.assignments);
    (void)jobs::LoadInputs(*job, parties.at(static_cast<std::size_t>(party.self())), "party.toml",
                           {.threads = 1});
    RecordOutput output(*job);
    const auto result = job->Run(party, output);
    Json json{{"record", RecordJson(own_folder, output.record)}};
    for (const auto& file : result.files) {
      if (file.name.ends_with(".npy")) {
        json["files"][file.name] = data::NpyToDoubles(data::ParseNpy(file.text, file.name), file.name);
      } else {
        json["files"][file.name] = file.text;
      }
    }
    if (result.model) json["model"] = ModelJson(*result.model);
    for (const auto& opened : result.values)
      json[opened.name.substr(opened.name.find('.') + 1)] = opened.value;
    if (result.share) {
      const auto schema = job->Model().value();
      json["share"] = ShareHash(own_folder, {.party = party.self(),
                                             .schema = schema,
                                             .task = schema.json == job->Json() ? "" : job->Json(),
                                             .record = output.record,
                                             .session = kRun,
                                             .weights = *result.share});
    }
    return json;
  });
}

TEST(RunGoldens, JobsOfEveryTypeSendAndGiveWhatTheyDid) {
  RunGoldens goldens;
  for (const auto& job : GoldenTrainings()) {
    SCOPED_TRACE(job.name);
    const TemporaryFolder folder;
    const auto parties = WriteGoldenData(folder.path(), job.name == "dpsgd-vertical");
    goldens.Add(job.name, RunJob(job, folder.path(), parties));
    if (job.name == "dpsgd-shares") goldens.Add("predict", Predict(folder.path()));
  }
  for (const auto& job : GoldenTasks()) {
    SCOPED_TRACE(job.name);
    const TemporaryFolder folder;
    goldens.Add(job.name, RunJob(job, folder.path(), WriteTaskData(folder.path(), job.name)));
  }
  goldens.Finish();
}

}  // namespace
}  // namespace trefoil::goldens
