#include "jobs/average/settings.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "jobs/config/common_fields.h"
#include "jobs/records/record_fields.h"

namespace trefoil::jobs {
namespace {

// So that the rounding of weights hardly adds to the sensitivity.
constexpr int kFractionBits = 20;
// Of epsilon, for the noise of the smallest size.
constexpr double kSizeShare = 0.1;

constexpr double kLargestAddedEpsilon = 64;

const OneOf<ml::AverageNoise>& Noises() {
  using ml::AverageNoise;
  static const OneOf<AverageNoise> noises{{AverageNoise::kLaplace, "sound"},
                                          {AverageNoise::kGaussian, "gaussian"},
                                          {AverageNoise::kAsPublished, "as-published"}};
  return noises;
}

void AverageFields(FieldVisitor& v, AverageSettings& s) {
  v("lambda", s.solver.lambda, Interval{.above = 0.0, .below = 1e6}, "λ of λ/2 ‖w‖².");
  v("tolerance", s.solver.tolerance, Interval{.above = 0.0, .below = 1.0}, Default(1e-6),
    "Gradient norm at which the solver stops.");
  v("bias", s.solver.bias, Flag{}, Default(true),
    "Whether each row has a constant 1, regularised like the others.");
  v("noise", s.noise, Noises(), Default(ml::AverageNoise::kLaplace),
    "`sound`: discrete Laplace noise in parts; `gaussian`: discrete Gaussian noise of every party, which is "
    "narrower where there are many weights; `as-published`: the smallest owner's alone.");
  v.When({!s.as_published(), "average.noise \"sound\" or \"gaussian\"",
          "only average.noise \"sound\" and \"gaussian\" have it"},
         [&] {
           v("scales", s.scales, WholeInterval{1, 1000}, Default(16), "Scales of noise to choose from.");
         });
}

void CheckNeighbours(const AverageSettings& s, dp::Neighbours neighbours, const Section& privacy) {
  if (neighbours == dp::Neighbours::kReplaced) return;
  if (s.as_published())
    privacy.Refuse("neighbours", "\"replaced\" with average.noise \"as-published\", whose scale tells sizes");
  // What the size's noise may fail by costs (1 + e^epsilon) times as much.
  if (s.epsilon > kLargestAddedEpsilon)
    privacy.Refuse("epsilon",
                   fmt::format("at most {} with privacy.neighbours \"added\"", kLargestAddedEpsilon));
}

void PrivacyFields(FieldVisitor& v, AverageSettings& s) {
  v("epsilon", s.epsilon, Interval{.above = 1e-4, .below = 1024.0}, "The target.");
  v("delta", s.delta, kDeltas, "At which both ε are said.");
  AccountantField(v, s.accountant);
  using dp::Neighbours;
  auto neighbours = s.size_epsilon ? Neighbours::kAdded : Neighbours::kReplaced;
  v("neighbours", neighbours,
    OneOf<Neighbours>{{Neighbours::kAdded, "added"}, {Neighbours::kReplaced, "replaced"}},
    Default(s.as_published() ? Neighbours::kReplaced : Neighbours::kAdded)
        .Said("`added`; as published `replaced`"),
    "`added`: one record added or removed; `replaced`: one record replaced by another.");
  v.Check([&](const Section& table) { CheckNeighbours(s, neighbours, table); });
  v.When({neighbours == Neighbours::kAdded, "privacy.neighbours \"added\""}, [&] {
    const Interval sizes{.above = 1e-6, .below = s.epsilon > 0 ? s.epsilon : kLargestAddedEpsilon};
    v("size_epsilon", s.size_epsilon, sizes, Default(kSizeShare * s.epsilon).Said("ε/10"),
      "Of the smallest size's noise, below ε.");
  });
}

}  // namespace

void Fields(FieldVisitor& v, AverageSettings& s) {
  TypeFields(v, "classifier-average");
  RecordFields(v, s.schema, kFractionBits);
  CheckHorizontal(v, s.schema);
  v.Check([&](const Section& document) {
    if (s.schema.data.classes != 2) document.Table("data").Refuse("classes", "2: a classifier has one logit");
  });
  v.Table("owners", "The data owners that the parties act for.",
          [&] { OwnerFields(v, s.owners, s.schema.data); });
  v.Table("local", "How `local` deals the data.", [&] { OwnerRowsField(v, s.owners); });
  v.Table("average", "The owners' classifiers and the noise.", [&] { AverageFields(v, s); });
  v.Table("privacy", "What the average may tell.", [&] { PrivacyFields(v, s); });
  ReleaseFields(v, kWhoGetsTheModel, s.to, true);
}

AverageSettings ReadAverageSettings(const toml::table& root, const std::string& file) {
  AverageSettings job;
  ReadFields(root, file, job);
  job.schema.type = "classifier-average";
  job.name = job.schema.name;
  job.owners.by_hash = job.size_epsilon.has_value();
  return job;
}

const char* NameOf(ml::AverageNoise noise) { return Noises().TextOf(noise); }

std::string AverageJson(const AverageSettings& job) { return HashedJson(job); }

ml::AverageSettings AverageSettingsOf(const AverageSettings& job) {
  return {.owners = job.owners.count,
          .features = TrainedFeatures(job.schema),
          .row_norm = job.schema.features.row_norm,
          .solver = job.solver,
          .min_rows = job.owners.min_rows,
          .max_rows = job.owners.max_rows,
          .scales = job.scales,
          .fraction_bits = job.schema.fraction_bits,
          .epsilon = job.epsilon,
          .delta = job.delta,
          .size_epsilon = job.size_epsilon,
          .noise = job.noise,
          .accountant = job.accountant};
}

}  // namespace trefoil::jobs
