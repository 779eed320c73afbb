#include "apps/pate_job.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/party_list.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::json;

const std::vector<std::string>& MechanismNames() {
  static const std::vector<std::string> names{"lnmax", "gnmax", "confident-gnmax", "interactive-gnmax"};
  return names;
}

/// Noise may be small beside one vote, and must leave room in the ring.
constexpr Interval kDeviations{.above = 0.0499, .below = 1e6};

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

void ReadMechanism(const Section& section, PateJob& job) {
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

}  // namespace

const char* NameOf(VoteMechanism mechanism) {
  return MechanismNames()[static_cast<std::size_t>(mechanism)].c_str();
}

PateJob ReadPateJob(const toml::table& root, const std::string& file) {
  CheckKeys(root, file,
            {"version", "type", "name", "data.name", "pate.teachers", "pate.queries", "pate.classes",
             "pate.mechanism", "pate.scale", "pate.sigma", "pate.threshold", "pate.threshold_sigma",
             "pate.answers", "pate.reinforce", "privacy.delta", "release.to"});
  const Section document(root, file);
  if (document.Whole("version", {0, INT32_MAX}) != 1) document.Refuse("version", "1");
  PateJob job;
  job.name = document.Name("name");
  job.data_name = document.Table("data").Name("name", job.name);
  const auto pate = document.Table("pate");
  job.teachers = ReadTeachers(pate);
  job.queries = pate.Whole("queries", {1, 1'000'000});
  job.classes = static_cast<int>(pate.Whole("classes", {2, 1000}));
  ReadMechanism(pate, job);
  job.delta = document.Table("privacy").Number("delta", {.above = 0.0, .below = 1.0});
  job.to = ReadParties(document.Table("release"), "to", false);
  return job;
}

std::string PateJobJson(const PateJob& job) {
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
  return Json{{"version", 1},
              {"type", "pate"},
              {"name", job.name},
              {"data", {{"name", job.data_name}}},
              {"pate", pate},
              {"privacy", {{"delta", job.delta}}},
              {"release", {{"to", job.to}}}}
      .dump();
}

}  // namespace trefoil::apps
