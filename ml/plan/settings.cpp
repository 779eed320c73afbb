#include "ml/plan/settings.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "base/error.h"

namespace trefoil::ml {
namespace {

// Counts of so many, and noise of so many, are far from 2^62 on any lattice.
constexpr std::int64_t kMaxHeldOut = 10'000'000;
constexpr double kLargestCountSigma = 1e6;

double TotalRows(const TrainingSettings& settings) {
  return static_cast<double>(std::accumulate(settings.rows.begin(), settings.rows.end(), std::int64_t{0}));
}

void CheckVertical(const TrainingSettings& s) {
  const auto& features = s.vertical->features;
  Require(std::accumulate(features.begin(), features.end(), std::int64_t{0}) == s.features &&
              s.rows[1] == 0 && s.rows[2] == 0,
          "VerticalSettings: the parties' columns make a row, and all rows count once");
  if (s.sampling != Sampling::kPublic) {
    throw ConfigError(
        "privacy.sampling: found another, expected \"public\" with a vertical partition: all three hold a "
        "part "
        "of each row, so that none can choose rows in private");
  }
  if (s.initialisation) {
    throw ConfigError(
        "initialisation.method: found local models, expected \"none\" with a vertical partition: no party "
        "holds whole rows");
  }
  if (s.evaluation)
    throw ConfigError(
        "evaluation: found one, expected none with a vertical partition: no party holds whole rows");
}

/// Rows that are on shares from the beginning. What needs records in the clear is refused.
void CheckDeposited(const TrainingSettings& s) {
  Require(s.rows[1] == 0 && s.rows[2] == 0 && !s.vertical, "TrainingSettings: deposited rows all together");
  const auto refuse = [](const char* what) {
    throw ConfigError(std::string(what) + " with deposited rows, which no party has in the clear");
  };
  if (s.sampling == Sampling::kOwnerPoisson)
    refuse("privacy.sampling: found \"owner-poisson\", expected \"full\", \"public\" or \"deposited\"");
  if (s.groups) refuse("privacy.unit: found \"group\", expected \"record\"");
  if (s.initialisation) refuse("initialisation.method: found local models, expected \"none\"");
  if (s.balance_sigma) refuse("model.class_weights: found \"balanced\", expected numbers");
  if (s.standardisation) refuse("features.standardise: found \"private\", expected \"none\"");
}

/// Groups of rows are the unit of privacy. What is not covered is refused.
void CheckGroups(const TrainingSettings& s) {
  if (s.sampling == Sampling::kPublic) {
    throw ConfigError(
        "privacy.unit: found \"group\", expected \"record\" with public sampling, whose coins take rows "
        "one by one");
  }
  if (s.initialisation) {
    throw ConfigError(
        "privacy.unit: found \"group\", expected \"record\" with initialisation.method, whose local "
        "trainings take and charge records");
  }
  if (s.evaluation && s.evaluation->sigma) {
    throw ConfigError(
        "privacy.unit: found \"group\", expected \"record\" with evaluation.sigma, which is charged to "
        "single test records");
  }
}

/// Numbers in place of classes. What needs classes is refused.
void CheckTargets(const TrainingSettings& s) {
  Require(s.classes == 2, "TrainingSettings: one column of targets");
  if (s.loss != Loss::kSquared && s.loss != Loss::kHuber && s.loss != Loss::kPoisson)
    throw ConfigError(
        "model.loss: found a loss of classes, expected \"squared\", \"huber\" or \"poisson\" with "
        "[data.target]");
  if (ClassifiesOnShares(s) ||
      (s.initialisation && s.initialisation->method == InitialisationMethod::kAccuracy)) {
    throw ConfigError(
        "data.target: found one, expected classes with evaluation, initialisation.method \"accuracy\" or a "
        "model that stays in shares, which classify records");
  }
}

void CheckHuber(const TrainingSettings& s) {
  if (s.loss == Loss::kPoisson && !s.targets)
    throw ConfigError("model.loss: found \"poisson\", expected it with [data.target] only");
  if (s.loss != Loss::kHuber) return;
  if (!s.targets) throw ConfigError("model.loss: found \"huber\", expected it with [data.target] only");
  if (!(s.huber_threshold >= MinHuberThreshold(s.fraction_bits) && s.huber_threshold <= kMaxHuberThreshold))
    throw ConfigError(
        "model.huber_threshold: expected from 16 steps of fraction_bits to 64, in units of the target's "
        "range");
}

void CheckBalance(const TrainingSettings& s) {
  if (!s.balance_sigma) return;
  if (s.targets || s.vertical || !s.class_weights.empty())
    throw ConfigError(
        "model.class_weights: found \"balanced\", expected no other weights with it, classes in place of a "
        "target, and no vertical partition");
  const double sigma = *s.balance_sigma;
  if (!(sigma > 0 && sigma * static_cast<double>(s.group_rows) <= kMaxBalanceSigma))
    throw ConfigError(
        "model.class_counts_sigma: expected above 0, and at most 1000000 over the rows of a group");
}

void CheckClassWeights(const TrainingSettings& s) {
  if (s.class_weights.empty()) return;
  if (s.targets || s.class_weights.size() != static_cast<std::size_t>(s.classes))
    throw ConfigError("model.class_weights: expected one a class, and classes in place of a target");
  for (const double weight : s.class_weights) {
    if (!(weight >= kMinClassWeight && weight <= kMaxClassWeight))
      throw ConfigError("model.class_weights: expected numbers from 0.001 to 1000");
  }
}

void CheckRowFractionBits(const TrainingSettings& s) {
  if (!s.row_fraction_bits) return;
  if (s.vertical || s.deposited || s.clipping == Clipping::kPublished)
    throw ConfigError(
        "features.fraction_bits: found it, expected it of rows of the parties' own, without data.partition "
        "\"vertical\" and training.clipping \"published\"");
  if (*s.row_fraction_bits < kMinRowFractionBits || *s.row_fraction_bits > s.fraction_bits)
    throw ConfigError("features.fraction_bits: expected 4 to fraction_bits");
}

void CheckErrorFractionBits(const TrainingSettings& s) {
  if (!s.error_fraction_bits) return;
  if (s.vertical || s.deposited || !s.hidden.empty() || s.clipping != Clipping::kFactorised || s.adaptive)
    throw ConfigError(
        "training.error_fraction_bits: found it, expected it of rows of the parties' own, with "
        "training.clipping \"factorised\" and a number for privacy.clip, without data.partition \"vertical\" "
        "and model.hidden");
  if (*s.error_fraction_bits < kMinErrorFractionBits || *s.error_fraction_bits > s.fraction_bits)
    throw ConfigError("training.error_fraction_bits: expected 4 to fraction_bits");
}

/// A clip moves by whole points of its grid, and may rest where the part within it is 0.027 off
/// (docs/howto/settings.md): further out that could be everything, or nothing.
constexpr double kLeastClipQuantile = 0.05;
constexpr double kMostClipQuantile = 0.95;

/// What a clip that moves is not made for yet.
void CheckAdaptive(const TrainingSettings& s) {
  if (!s.adaptive) return;
  const auto refuse = [](const char* expected) {
    throw ConfigError(std::string("privacy.clip: found \"adaptive\", expected ") + expected);
  };
  if (!s.hidden.empty()) refuse("a number with model.hidden");
  if (s.clipping != Clipping::kFactorised)
    refuse("a number with another training.clipping than \"factorised\"");
  // Batches that are executed again by the same coins must not depend on what was opened.
  if (s.sampling != Sampling::kOwnerPoisson && s.sampling != Sampling::kFull)
    refuse("a number with another privacy.sampling than \"owner-poisson\" and \"full\"");
  if (s.deposited) refuse("a number with data.source \"store\"");
  if (s.groups) refuse("a number with privacy.unit \"group\"");
  const double quantile = s.adaptive->quantile;
  if (!(quantile >= kLeastClipQuantile && quantile <= kMostClipQuantile)) {
    std::ostringstream text;
    text << "privacy.clip_quantile: found " << quantile << ", expected " << kLeastClipQuantile << " to "
         << kMostClipQuantile;
    throw ConfigError(text.str());
  }
  const double sigma = s.adaptive->count_sigma.value_or(1);
  if (!(sigma > 0 && sigma <= kMaxClipCountSigma))
    throw ConfigError("privacy.clip_count_sigma: expected above 0, at most 1000000");
}

void CheckRecordWeights(const TrainingSettings& s) {
  if (!s.max_record_weight) return;
  if (!(*s.max_record_weight >= kMinRecordWeightBound && *s.max_record_weight <= kMaxRecordWeightBound))
    throw ConfigError("data.column: found a largest weight out of its domain, expected 0.001 to 1000");
}

void CheckKey(bool holds, const char* key, double found, const char* expected) {
  if (holds) return;
  std::ostringstream text;
  text << key << ": found " << found << ", expected " << expected;
  throw ConfigError(text.str());
}

/// Each key of the training by itself.
void CheckTraining(const TrainingSettings& s) {
  CheckKey(s.fraction_bits >= 8 && s.fraction_bits <= 24, "fraction_bits", s.fraction_bits, "8 to 24");
  CheckKey(s.features >= 1, "data.features", static_cast<double>(s.features), "at least 1");
  CheckKey(s.classes >= 2, "data.classes", s.classes, "at least 2");
  CheckKey(s.steps >= 1 && s.steps <= kLargestSteps, "training.steps", s.steps, "1 to 500000");
  CheckKey(s.expected_batch > 0 && s.expected_batch <= TotalRows(s), "training.expected_batch",
           s.expected_batch, "above 0, at most all rows");
  CheckKey(s.sampling != Sampling::kFull || s.expected_batch == TotalRows(s), "training.expected_batch",
           s.expected_batch, "all rows with full batches");
  CheckKey(s.row_norm > 0 && s.row_norm <= 1024, "features.row_norm", s.row_norm, "above 0, at most 1024");
  for (const std::int64_t size : s.hidden)
    CheckKey(size >= 1 && size <= 100'000, "model.hidden", static_cast<double>(size), "sizes of 1 to 100000");
  CheckKey(s.activation_bound >= 1 && s.activation_bound <= 1024, "model.activation_bound",
           s.activation_bound, "1 to 1024");
  CheckKey(s.delta_bound >= 0.125 && s.delta_bound <= 1024, "model.delta_bound", s.delta_bound,
           "0.125 to 1024");
  CheckKey(s.learning_rate > 0 && std::isfinite(s.learning_rate), "training.learning_rate", s.learning_rate,
           "above 0");
  CheckKey(s.momentum >= 0 && s.momentum < 1, "training.momentum", s.momentum, "0 or more, below 1");
  CheckKey(s.schedule.final_rate >= 0 && s.schedule.final_rate <= 1, "training.final_rate",
           s.schedule.final_rate, "0 to 1");
  CheckKey(s.schedule.decay_every >= 1, "training.decay_every", static_cast<double>(s.schedule.decay_every),
           "at least 1");
  CheckKey(s.schedule.decay_factor > 0 && s.schedule.decay_factor <= 1, "training.decay_factor",
           s.schedule.decay_factor, "above 0, at most 1");
  if (!s.hidden.empty() && s.clipping != Clipping::kFactorised)
    throw ConfigError(
        "training.clipping: found a form for linear models only, expected \"factorised\" with model.hidden: "
        "\"published\" clips the same gradients at more cost, and unclipped ones need far more noise");
  CheckKey(s.clip > 0 && s.clip <= 1024, s.adaptive ? "privacy.first_clip" : "privacy.clip", s.clip,
           "above 0, at most 1024");
  const bool cut = s.sampling == Sampling::kOwnerPoisson || s.sampling == Sampling::kDeposited;
  CheckKey(!cut || s.max_batch_per_owner >= 1, "training.max_batch_per_owner",
           static_cast<double>(s.max_batch_per_owner), "at least 1");
}

void CheckEvaluation(const TrainingSettings& s, const EvaluationSettings& e) {
  CheckKey(e.test.holder >= 0 && e.test.holder <= 2, "evaluation.holder", e.test.holder, "0, 1 or 2");
  CheckKey(e.test.rows >= 1 && e.test.rows <= kMaxHeldOut, "evaluation.rows",
           static_cast<double>(e.test.rows), "1 to 10000000");
  for (const int party : e.to) CheckKey(party >= 0 && party <= 2, "evaluation.to", party, "0, 1 and 2");
  CheckKey(!e.sigma || (*e.sigma > 0 && *e.sigma <= kLargestCountSigma), "evaluation.sigma",
           e.sigma.value_or(0), "above 0, at most 1000000");
  const bool bins_fit = s.classes == 2 ? !e.confusion && IsEdge(s.threshold, e.bins)
                                       : e.confusion && !e.choose_threshold && s.loss != Loss::kSquared &&
                                             e.bins * s.classes <= kMaxBinsOfClasses;
  CheckKey(
      e.bins == 0 || (e.bins >= 2 && e.bins <= kMaxScoreBins && e.sigma && bins_fit), "evaluation.bins",
      static_cast<double>(e.bins),
      "2 to 100, with evaluation.sigma; of two classes with model.threshold as an edge of them; of more with "
      "evaluation.confusion and model.loss \"one-vs-rest\" or \"softmax\", at most 1000 of all classes");
  CheckKey(!e.confusion || (e.sigma && s.classes <= kMaxConfusionClasses), "evaluation.confusion", 1,
           "none, or evaluation.sigma and at most 100 classes with it");
}

}  // namespace

double ClipCountMultiplier(const TrainingSettings& settings) {
  constexpr double kBatchesOfDefault = 20;  // Andrew et al.
  return 2 * settings.adaptive.value().count_sigma.value_or(settings.expected_batch / kBatchesOfDefault);
}

void CheckRowUnits(const char* key, double row_norm, int fraction_bits) {
  if (std::ldexp(row_norm, fraction_bits) > 1) return;
  std::ostringstream text;
  text << key << ": found " << row_norm << ", expected more than 2^-" << fraction_bits
       << ", a unit of rows of " << fraction_bits << " fraction bits";
  throw ConfigError(text.str());
}

void CheckRowUnits(const TrainingSettings& s) {
  CheckRowUnits("features.row_norm", s.row_norm, RowFractionBits(s));
}

double MinHuberThreshold(int fraction_bits) { return std::ldexp(16.0, -fraction_bits); }

void CheckDomains(const TrainingSettings& s) {
  CheckTraining(s);
  Require(s.batches.has_value() == (s.sampling == Sampling::kDeposited) && (!s.batches || s.deposited),
          "TrainingSettings: batches of deposited rows with Sampling::kDeposited, and only then");
  Require(s.block_rows == 0 || (s.block_rows > 0 && s.deposited && s.sampling == Sampling::kFull),
          "TrainingSettings: blocks of deposited rows with full batches, and only then");
  if (s.vertical) CheckVertical(s);
  if (s.deposited) CheckDeposited(s);
  if (s.targets) CheckTargets(s);
  CheckHuber(s);
  CheckBalance(s);
  CheckClassWeights(s);
  CheckRecordWeights(s);
  CheckAdaptive(s);
  CheckRowFractionBits(s);
  CheckErrorFractionBits(s);
  CheckKey(s.threshold == 0.5 || (s.classes == 2 && !s.targets && s.threshold >= kMinThreshold &&
                                  s.threshold <= 1 - kMinThreshold),
           "model.threshold", s.threshold, "0.000001 to 0.999999, with two classes");
  CheckKey(s.group_rows >= 1 && s.group_rows <= kMaxGroupRows && (s.groups || s.group_rows == 1),
           "privacy.max_group_rows", static_cast<double>(s.group_rows),
           "1 to 10000, with privacy.unit \"group\"");
  if (s.groups) CheckGroups(s);
  CheckKey(!s.sigma || (*s.sigma >= 0 && std::isfinite(*s.sigma)), "privacy.sigma", s.sigma.value_or(0),
           "0 or more");
  if (s.evaluation) CheckEvaluation(s, *s.evaluation);
}

double LogitAt(Loss loss, double prediction) {
  if (loss == Loss::kSquared || loss == Loss::kHuber) return prediction - 0.5;
  return std::log(prediction) - std::log1p(-prediction);
}

double ShareAt(Loss loss, double logit) {
  return loss == Loss::kPoisson ? std::exp(std::min(logit - kPoissonOffset, 0.0)) : logit + 0.5;
}

bool IsEdge(double number, std::int64_t bins) {
  const double edges = number * static_cast<double>(bins);
  return std::abs(edges - std::round(edges)) < 1e-9;
}

double DecisionLogit(const TrainingSettings& settings) { return LogitAt(settings.loss, settings.threshold); }

bool ClassifiesOnShares(const TrainingSettings& settings) {
  return settings.evaluation.has_value() || settings.release_to.empty();
}

std::array<double, 3> BlockNorms(double row_norm, const std::array<std::int64_t, 3>& features) {
  const auto all = static_cast<double>(std::accumulate(features.begin(), features.end(), std::int64_t{0}));
  std::array<double, 3> norms{};
  std::transform(features.begin(), features.end(), norms.begin(),
                 [&](std::int64_t own) { return row_norm * std::sqrt(static_cast<double>(own) / all); });
  return norms;
}

double SamplingRate(const TrainingSettings& settings) {
  return settings.expected_batch / TotalRows(settings);
}

std::int64_t BatchOfOneDeposit(const TrainingSettings& settings) {
  return std::min(settings.batches.value().records, settings.max_batch_per_owner);
}

std::array<std::int64_t, 3> BatchLimits(const TrainingSettings& settings) {
  if (settings.batches) return {settings.batches->deposits * BatchOfOneDeposit(settings), 0, 0};
  std::array<std::int64_t, 3> limits = settings.rows;
  if (settings.sampling != Sampling::kOwnerPoisson) return limits;
  for (std::int64_t& rows : limits) rows = std::min(rows, settings.max_batch_per_owner);
  return limits;
}

std::int64_t LargestBatch(const TrainingSettings& settings) {
  const auto limits = BatchLimits(settings);
  return std::accumulate(limits.begin(), limits.end(), std::int64_t{0});
}

}  // namespace trefoil::ml
