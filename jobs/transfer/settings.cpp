#include "jobs/transfer/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "jobs/config/party_list.h"
#include "jobs/dpsgd/settings_reader.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

void ReadEnsemble(const Section& section, TransferSettings& job) {
  const std::string expected = "three whole numbers from 0 to 1000000, one for each party, not all 0";
  const auto owners = section.Wholes("owners", {0, 1'000'000}, expected);
  if (owners.size() != 3 || std::all_of(owners.begin(), owners.end(), [](auto n) { return n == 0; }))
    section.Refuse("owners", expected);
  std::copy(owners.begin(), owners.end(), job.owners.begin());
  auto& settings = job.settings;
  settings.owners = owners[0] + owners[1] + owners[2];
  settings.rows = section.Whole("queries", {1, 1'000'000});
  settings.features = section.Whole("features", {1, 100'000});
  settings.row_norm = section.Number("row_norm", {.above = 0.0, .below = 1024.0}, 1.0);
  settings.majority = section.Choice("labels", {"votes", "majority"}, "votes") == "majority";
  settings.lambda = section.Number("lambda", {.above = 0.0, .below = 1e6});
  settings.steps = static_cast<int>(section.Whole("steps", {1, 10'000}));
  job.published = section.Choice("noise", {"gaussian", "published"}, "gaussian") == "published";
}

void ReadPrivacy(const Section& section, TransferSettings& job) {
  job.delta = section.Number("delta", {.above = 0.0, .below = 1.0});
  job.accountant = ReadTaskAccountant(section);
  if (job.published) {
    for (const auto* key : {"sigma", "against"}) {
      if (section.Has(key)) section.Fail(key, "only ensemble.noise \"gaussian\" has it");
    }
    job.epsilon = section.Number("epsilon", {.above = 1e-6, .below = 1024.0});
    return;
  }
  if (section.Has("epsilon") == section.Has("sigma"))
    section.Refuse("epsilon", "one of privacy.epsilon and privacy.sigma (the noise multiplier)");
  if (section.Has("epsilon")) {
    job.epsilon = section.Number("epsilon", {.above = 1e-6, .below = 1024.0});
  } else {
    job.sigma = section.Number("sigma", {.above = 0.0099, .below = 1e6});
  }
  job.against = section.Choice("against", {"insider", "outsider"}, "insider");
}

}  // namespace

TransferSettings ReadTransferSettings(const toml::table& root, const std::string& file) {
  CheckKeys(root, file,
            {"version", "type", "name", "fraction_bits", "data.name", "ensemble.owners", "ensemble.queries",
             "ensemble.features", "ensemble.row_norm", "ensemble.labels", "ensemble.lambda", "ensemble.steps",
             "ensemble.noise", "privacy.epsilon", "privacy.sigma", "privacy.delta", "privacy.against",
             "privacy.accountant", "release.to"});
  const Section document(root, file);
  if (document.Whole("version", {0, INT32_MAX}) != 1) document.Refuse("version", "1");
  TransferSettings job;
  job.name = document.Name("name");
  job.settings.fraction_bits = static_cast<int>(document.Whole("fraction_bits", {8, 24}, 18));
  job.data_name = document.Table("data").Name("name", job.name);
  ReadEnsemble(document.Table("ensemble"), job);
  ReadPrivacy(document.Table("privacy"), job);
  job.to = ReadParties(document.Table("release"), "to", true);
  return job;
}

std::string TransferJson(const TransferSettings& job) {
  const auto& settings = job.settings;
  Json privacy{{"delta", job.delta}, {"accountant", dp::NameOf(job.accountant)}};
  if (!job.published) privacy["against"] = job.against;
  if (job.epsilon) privacy["epsilon"] = *job.epsilon;
  if (job.sigma) privacy["sigma"] = *job.sigma;
  return Json{{"version", 1},
              {"type", "ensemble-transfer"},
              {"name", job.name},
              {"fraction_bits", settings.fraction_bits},
              {"data", {{"name", job.data_name}}},
              {"ensemble",
               {{"owners", job.owners},
                {"queries", settings.rows},
                {"features", settings.features},
                {"row_norm", settings.row_norm},
                {"labels", settings.majority ? "majority" : "votes"},
                {"lambda", settings.lambda},
                {"steps", settings.steps},
                {"noise", job.published ? "published" : "gaussian"}}},
              {"privacy", privacy},
              {"release", {{"to", job.to}}}}
      .dump();
}

DpsgdSettings TransferSchema(const TransferSettings& job) {
  DpsgdSettings schema;
  schema.type = "ensemble-transfer";
  schema.name = job.name;
  schema.fraction_bits = job.settings.fraction_bits;
  schema.data.name = job.data_name;
  schema.data.format = data::Format::kNpy;
  schema.data.rows = {job.settings.rows, 0, 0};
  schema.data.features = job.settings.features;
  schema.features.row_norm = job.settings.row_norm;
  return schema;
}

}  // namespace trefoil::jobs
