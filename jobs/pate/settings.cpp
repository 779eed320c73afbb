#include "jobs/pate/settings.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "jobs/config/party_list.h"
#include "jobs/dpsgd/settings_reader.h"
#include "ml/clear/logistic_regression.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

const std::vector<std::string>& MechanismNames() {
  static const std::vector<std::string> names{"lnmax", "gnmax", "confident-gnmax", "interactive-gnmax"};
  return names;
}

/// Noise may be small beside one vote, and must leave room in the ring.
constexpr Interval kDeviations{.above = 0.0499, .below = 1e6};
constexpr Interval kPenalties{.above = 0.0, .below = 1e6};

constexpr const char* kOneVsRest = "one-vs-rest";

void RefuseOthers(const Section& section, const std::vector<const char*>& keys, VoteMechanism mechanism) {
  for (const auto* key : keys) {
    if (section.Has(key))
      section.Fail(key, std::string("mechanism \"") + NameOf(mechanism) + "\" has no such key");
  }
}

std::array<std::int64_t, 3> ReadTeachers(const Section& section) {
  const std::string expected = "three whole numbers from 0 to 1000000, one for each party, not all 0";
  const auto numbers = section.Wholes("teachers", {0, 1'000'000}, expected);
  if (numbers.size() != 3 || std::all_of(numbers.begin(), numbers.end(), [](auto n) { return n == 0; }))
    section.Refuse("teachers", expected);
  return {numbers[0], numbers[1], numbers[2]};
}

void ReadMechanism(const Section& section, PateSettings& job) {
  const auto& names = MechanismNames();
  const auto name = section.Choice("mechanism", names, "confident-gnmax");
  job.mechanism = static_cast<VoteMechanism>(std::find(names.begin(), names.end(), name) - names.begin());
  job.answers = job.queries;
  if (job.mechanism == VoteMechanism::kLnMax) {
    job.scale = section.Number("scale", {.above = 0.009, .below = 1e6});
    RefuseOthers(section, {"sigma"}, job.mechanism);
  } else {
    job.sigma = section.Number("sigma", kDeviations);
    RefuseOthers(section, {"scale"}, job.mechanism);
  }
  if (!job.has_threshold()) {
    RefuseOthers(section, {"threshold", "threshold_sigma", "answers", "reinforce"}, job.mechanism);
    return;
  }
  job.threshold = section.Number("threshold", {.above = -1e6, .below = 1e6});
  job.threshold_sigma = section.Number("threshold_sigma", kDeviations);
  job.answers = section.Whole("answers", {1, job.queries}, job.queries);
  if (job.mechanism == VoteMechanism::kInteractiveGnMax) {
    job.reinforce = section.Number("reinforce", {.above = 0.0, .below = 1.0});
  } else {
    RefuseOthers(section, {"reinforce"}, job.mechanism);
  }
}

ml::ClassifierSettings ReadTeacher(const Section& section) {
  ml::ClassifierSettings teacher;
  if (section.Choice("loss", {"squared", kOneVsRest}, "squared") == kOneVsRest) {
    teacher.loss = ml::ClassifierLoss::kOneVsRest;
    teacher.tolerance = section.Number("tolerance", {.above = 0.0, .below = 1.0}, teacher.tolerance);
  } else if (section.Has("tolerance")) {
    section.Fail("tolerance", "only teacher.loss \"one-vs-rest\" has it");
  }
  teacher.lambda = section.Number("lambda", kPenalties);
  return teacher;
}

/// What a solver takes at most is known from the job: no records may end a run.
void CheckSolver(const ml::ClassifierSettings& teacher, double row_norm, const Section& section) {
  const ml::LogisticSettings solver{.lambda = teacher.lambda, .bias = true, .tolerance = teacher.tolerance};
  if (teacher.loss == ml::ClassifierLoss::kOneVsRest &&
      ml::SolverIterations(solver, row_norm) > ml::kMostIterations)
    section.Refuse("lambda", "a larger one, or a larger teacher.tolerance: the solver could take too long");
}

StudentSpec ReadStudent(const Section& section, std::int64_t queries) {
  StudentSpec student;
  student.records = section.Whole("records", {queries, 100'000'000}, queries);
  student.settings.lambda = section.Number("lambda", kPenalties);
  student.settings.rounds = static_cast<int>(section.Whole("rounds", {0, 100}, 3));
  student.settings.keep = section.Number("keep", {.above = 0.0, .below = 1.0001}, 0.9);
  if (student.settings.keep > 1) section.Refuse("keep", "a number above 0, at most 1");
  return student;
}

/// A party has teachers exactly if it has records, and no more of them than it may have records.
void CheckTeachers(const PateSettings& job, const Section& data, const Section& pate) {
  for (std::size_t j = 0; j < job.teachers.size(); ++j) {
    const auto rows = job.schema->data.rows.at(j);
    if (job.teachers.at(j) > rows)
      pate.Fail("teachers", fmt::format("found {} at party {}, expected at most its data.rows, {}",
                                        job.teachers.at(j), j, rows));
    if (job.teachers.at(j) == 0 && rows > 0)
      data.Fail("rows", fmt::format("found {} at party {}, expected 0: it has no teachers", rows, j));
  }
}

/// [data], [features], [teacher], [student] and [local] of a job that trains.
void ReadTraining(const toml::table& root, const std::string& file, PateSettings& job) {
  const Section document(root, file);
  job.schema = ReadSchema(root, file, 16);
  job.data_name = job.schema->data.name;
  job.classes = job.schema->data.classes;
  if (document.Has("teacher")) {
    job.teacher = ReadTeacher(document.Table("teacher"));
    CheckSolver(*job.teacher, job.schema->features.row_norm, document.Table("teacher"));
    CheckTeachers(job, document.Table("data"), document.Table("pate"));
    job.schema->local = ReadLocal(document.Table("local"), root);
  }
  if (document.Has("student")) job.student = ReadStudent(document.Table("student"), job.queries);
}

Json TeacherJson(const ml::ClassifierSettings& teacher) {
  if (teacher.loss == ml::ClassifierLoss::kSquared) return {{"loss", "squared"}, {"lambda", teacher.lambda}};
  return {{"loss", kOneVsRest}, {"lambda", teacher.lambda}, {"tolerance", teacher.tolerance}};
}

Json StudentJson(const StudentSpec& student) {
  return {{"records", student.records},
          {"lambda", student.settings.lambda},
          {"rounds", student.settings.rounds},
          {"keep", student.settings.keep}};
}

/// The keys of a job, with a schema or without.
std::vector<std::string> KeysOf(bool has_schema) {
  std::vector<std::string> keys{"version", "type", "name", "data.name"};
  if (has_schema) {
    keys = SchemaKeys();
    for (const auto* key : {"teacher.loss", "teacher.lambda", "teacher.tolerance", "student.records",
                            "student.lambda", "student.rounds", "student.keep", "local.split"})
      keys.emplace_back(key);
  }
  for (const auto* key : {"pate.teachers", "pate.queries", "pate.classes", "pate.mechanism", "pate.scale",
                          "pate.sigma", "pate.threshold", "pate.threshold_sigma", "pate.answers",
                          "pate.reinforce", "privacy.delta", "privacy.accountant", "release.to"})
    keys.emplace_back(key);
  return keys;
}

}  // namespace

const char* NameOf(VoteMechanism mechanism) {
  return MechanismNames()[static_cast<std::size_t>(mechanism)].c_str();
}

PateSettings ReadPateSettings(const toml::table& root, const std::string& file) {
  const bool trains = root.contains("teacher") || root.contains("student");
  CheckKeys(root, file, KeysOf(trains));
  const Section document(root, file);
  if (document.Whole("version", {0, INT32_MAX}) != 1) document.Refuse("version", "1");
  PateSettings job;
  job.name = document.Name("name");
  const auto pate = document.Table("pate");
  job.teachers = ReadTeachers(pate);
  job.queries = pate.Whole("queries", {1, 1'000'000});
  if (trains) {
    if (pate.Has("classes")) pate.Fail("classes", "found it, expected data.classes alone");
    ReadTraining(root, file, job);
  } else {
    job.data_name = document.Table("data").Name("name", job.name);
    job.classes = static_cast<int>(pate.Whole("classes", {2, 1000}));
  }
  ReadMechanism(pate, job);
  const auto privacy = document.Table("privacy");
  job.delta = privacy.Number("delta", {.above = 0.0, .below = 1.0});
  job.accountant = ReadTaskAccountant(privacy);
  job.to = ReadParties(document.Table("release"), "to", false);
  return job;
}

std::string PateJson(const PateSettings& job) {
  Json pate{{"teachers", job.teachers},
            {"queries", job.queries},
            {"classes", job.classes},
            {"mechanism", NameOf(job.mechanism)}};
  if (job.mechanism == VoteMechanism::kLnMax) {
    pate["scale"] = job.scale;
  } else {
    pate["sigma"] = job.sigma;
  }
  if (job.has_threshold()) {
    pate["threshold"] = job.threshold;
    pate["threshold_sigma"] = job.threshold_sigma;
    pate["answers"] = job.answers;
  }
  if (job.mechanism == VoteMechanism::kInteractiveGnMax) pate["reinforce"] = job.reinforce;
  Json json{{"version", 1}, {"type", "pate"}, {"name", job.name}, {"data", {{"name", job.data_name}}}};
  if (job.schema) {
    json = Json::parse(DpsgdJson(*job.schema));
    pate.erase("classes");  // data.classes
  }
  if (job.teacher) json["teacher"] = TeacherJson(*job.teacher);
  if (job.student) json["student"] = StudentJson(*job.student);
  json["pate"] = pate;
  json["privacy"] = {{"delta", job.delta}, {"accountant", dp::NameOf(job.accountant)}};
  json["release"] = {{"to", job.to}};
  return json.dump();
}

}  // namespace trefoil::jobs
