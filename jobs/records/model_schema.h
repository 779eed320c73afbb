#pragma once
#include <string>

#include "jobs/job_type.h"
#include "jobs/records/schema.h"
#include "ml/plan/settings.h"

namespace trefoil::jobs {

/// What applying a model takes beside its weights.
struct ModelSchema {
  RecordSchema records;             ///< that the model is for
  ml::TrainingSettings classifier;  ///< its layers, and by what a model in shares classifies rows
  bool probabilities =
      false;         ///< whether its logits mean them, by the classifier's loss (ml/scores/probabilities.h)
  std::string json;  ///< all of it as compact JSON: the job that made the model, or the schema alone
  LogitMeaning logits =
      LogitMeaning::kLogOdds;  ///< of a linear model of classes; of a training the loss says it
};

/// Of a linear model with a logit a class (one with two classes), whose training does not matter but for what
/// its logits mean, which is JobType::logits of its job's type; of targets they are the targets.
[[nodiscard]] ModelSchema LinearModelSchema(RecordSchema records, LogitMeaning logits);

/// The schema whose `json` this is; `source` names it in errors. Throws ConfigError with one line: place,
/// key, what was found, what was expected; also for a type of job that is none of `types`, which would say
/// what the model's logits mean.
[[nodiscard]] ModelSchema ParseModelSchema(const std::string& json, const std::string& source,
                                           JobTypes types = ShippedTypes());

/// Takes records for class 1 of two where more than this is predicted for it, whatever the model's job says.
/// Throws ConfigError beginning with `key` where it is not from 0.000001 to 0.999999, or the model not of two
/// classes, or a student of PATE.
void SetThreshold(ModelSchema& schema, double threshold, const char* key);

/// For a linear model that stays in shares, before anything is charged for it: throws ConfigError naming
/// release.to, and the keys that matter, where no program would take its shares for predictions.
/// `row_norm_key`: the job's key for the rows' norm.
void RequireClassifier(const ModelSchema& schema, const char* row_norm_key);

/// For a model that stays in shares: throws ConfigError naming release.to where weights of this norm, in
/// lattice units, could give logits beyond the ring.
void RequireLogitsInRing(double weight_norm, double row_norm, int fraction_bits);

}  // namespace trefoil::jobs
