#include "jobs/transfer/settings.h"

#include <nlohmann/json.hpp>
#include <numeric>

#include "jobs/config/common_fields.h"

namespace trefoil::jobs {
namespace {

void EnsembleFields(FieldVisitor& v, TransferSettings& s) {
  auto& settings = s.settings;
  v("owners", s.owners, OfEachParty{1'000'000, false},
    "Owners of each party, public: how many classifiers vote.");
  v("queries", settings.rows, WholeInterval{1, 1'000'000}, "Public rows that are labelled.");
  v("features", settings.features, WholeInterval{1, 100'000}, "Numbers of a row.");
  v("row_norm", settings.row_norm, Interval{.above = 0.0, .below = 1024.0}, Default(1.0),
    "Longer rows are scaled down to it; more than a unit of `fraction_bits`.");
  v("labels", settings.majority, OneOf<bool>{{false, "votes"}, {true, "majority"}}, Default(false),
    "`votes`: fractions; `majority`: the label that more owners gave.");
  v("lambda", settings.lambda, Interval{.above = 0.0, .below = 1e6}, "Above 1.1 (row_norm² + 1)/64.");
  v("steps", settings.steps, WholeInterval{1, 10'000}, "Steps of the training.");
  v("noise", s.published, OneOf<bool>{{false, "gaussian"}, {true, "published"}}, Default(false),
    "`gaussian`; `published`: radial Laplace noise.");
}

void PrivacyFields(FieldVisitor& v, TransferSettings& s) {
  v("delta", s.delta, kDeltas, "With published noise it covers the rounding alone.");
  AccountantField(v, s.accountant);
  if (!s.published) CheckOneOfEpsilonAndSigma(v);
  v.When({!s.published, "ensemble.noise \"gaussian\""}, [&] {
    v("sigma", s.sigma, kSigmas, "The noise multiplier of any two parties' noise together.");
    v("against", s.against, Adversaries(), Default(ml::Adversary::kInsider), "Whose ε the target is.");
  });
  v("epsilon", s.epsilon, kEpsilons, Required{s.published},
    "The target; with Gaussian noise this or `sigma`.");
}

}  // namespace

void Fields(FieldVisitor& v, TransferSettings& s) {
  HeaderFields(v, "ensemble-transfer", s.name);
  v("fraction_bits", s.settings.fraction_bits, WholeInterval{8, 24}, Default(18), "Of rows and weights.");
  v.Table("data", "Where `local` finds the public rows and the owners' labels.", [&] {
    v("name", s.data_name, Name{}, Default(s.name).Said("`name`"),
      "Where `local` looks for `queries.npy` (rows × features), `predictions.npy` or `.csv` (a line an "
      "owner, 0 or 1; the first ones are party 0's) and test records (`test-x.npy`, `test-y.npy`).");
  });
  v.Table("ensemble", "The owners, the public rows and the training.", [&] { EnsembleFields(v, s); });
  v.Table("privacy", "What the model may tell.", [&] { PrivacyFields(v, s); });
  ReleaseFields(v, kWhoGetsTheModel, s.to, true);
}

TransferSettings ReadTransferSettings(const toml::table& root, const std::string& file) {
  TransferSettings job;
  ReadFields(root, file, job);
  job.settings.owners = std::accumulate(job.owners.begin(), job.owners.end(), std::int64_t{0});
  return job;
}

std::string TransferJson(const TransferSettings& job) { return HashedJson(job); }

RecordSchema TransferSchema(const TransferSettings& job) {
  RecordSchema schema;
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
