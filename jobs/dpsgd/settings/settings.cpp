#include "jobs/dpsgd/settings/settings.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "jobs/config/common_fields.h"
#include "jobs/dpsgd/adaptive_clip.h"
#include "jobs/dpsgd/class_weights.h"
#include "jobs/dpsgd/deposited_batches.h"
#include "jobs/dpsgd/settings/auto_settings.h"
#include "jobs/dpsgd/settings/settings_rules.h"
#include "jobs/records/record_fields.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

constexpr WholeInterval kMillions{1, 10'000'000};

/// Exactly one of the keys epsilon and sigma.
void TargetFields(FieldVisitor& v, std::optional<double>& epsilon, std::optional<double>& sigma,
                  const char* of) {
  v.Check([](const Section& table) {
    if (table.Has("epsilon") && table.Has("sigma"))
      table.Fail("sigma", fmt::format("{} is given too, expected only one of them", table.Path("epsilon")));
    if (!table.Has("epsilon") && !table.Has("sigma"))
      table.Refuse("epsilon", fmt::format("{}, or {} (the noise multiplier), above 0", table.Path("epsilon"),
                                          table.Path("sigma")));
  });
  v("epsilon", epsilon, kPositive, of);
  v("sigma", sigma, kPositive, "The noise multiplier. Exactly one of `epsilon` and `sigma`.");
}

void Fields(FieldVisitor& v, ModelSpec& s) {
  v("loss", s.loss,
    OneOf<ml::Loss>{{ml::Loss::kOneVsRest, "one-vs-rest"},
                    {ml::Loss::kSquared, "squared"},
                    {ml::Loss::kSoftmax, "softmax"},
                    {ml::Loss::kHuber, "huber"},
                    {ml::Loss::kPoisson, "poisson"}},
    Default(ml::Loss::kOneVsRest),
    "`softmax`: cross-entropy; with two classes the same as `one-vs-rest`; not with `truncation = "
    "\"exact\"`, which gains it nothing (`experiments.md`, \"Networks\"). `squared`: of classes, or of the "
    "number of [data.target]. `huber`: of [data.target] alone. "
    "`poisson`: of counts, [data.target] with `low = 0`: the logarithm of the target is linear in the row.");
  v.When({s.loss == ml::Loss::kHuber, "model.loss \"huber\""}, [&] {
    v("huber_threshold", s.huber_threshold, kPositive,
      "In the target's own unit: up to so large an error the loss is squared, beyond it linear "
      "(`tables.md`, \"Numbers to be predicted\"). From 2^(4 − `fraction_bits`) to 64 of the range.");
  });
  v("hidden", s.hidden, Wholes{{1, 100'000}, "an array of layer sizes"}, Default(std::vector<std::int64_t>{}),
    "Sizes of dense layers with rectifiers before the output; none: a linear model. With `clipping = "
    "\"factorised\"` and without [initialisation] only: what else there might be gains nothing, and on "
    "extracted "
    "features a linear model is as good (`experiments.md`, \"Networks\").");
  v.When({!s.hidden.empty(), "hidden layers", "only hidden layers have it, and model.hidden is empty"}, [&] {
    v("activation_bound", s.activation_bound, kPositive, Default(8.0),
      "1 … 1024; outputs of layers are min(max(z, 0), activation_bound).");
    v("delta_bound", s.delta_bound, kPositive, Default(4.0),
      "0.125 … 1024; what goes back through layers is clamped to ± that, entry by entry.");
  });
  v("class_weights", s.class_weights,
    WeightsOrBalanced{
        {ml::kMinClassWeight, ml::kMaxClassWeight, "an array of numbers from 0.001 to 1000, one a class"}},
    Default(ClassWeightsSpec{}).LeftOut(),
    "Numbers of 0.001 … 1000: a record's error is multiplied by that of its class before it is clipped, so "
    "that weights of at most 1 tell (`rare_classes.md`); none: all 1. `balanced`: in proportion to one over "
    "the number of records of the class, by noisy counts that all three parties see; charged.");
  v.When({s.class_weights.balanced, "model.class_weights \"balanced\""}, [&] {
    v("class_counts_sigma", s.class_counts_sigma, kPositive, Default(10.0),
      "The noise multiplier of these counts: any two parties' noise on each has that deviation, times "
      "`max_group_rows` with groups. At most 10^6 over the rows of a group.");
  });
  v("threshold", s.threshold, kThresholds, Default(0.5).LeftOut(),
    "Two classes: a record is taken for the second one where more than that is predicted for it, its "
    "probability or, of the squared loss, the number that is fitted. In `evaluate`, `predict`, [evaluation] "
    "and jobs of type `predict`; the training does not depend on it.");
}

const OneOf<ml::RateShape>& Schedules() {
  using ml::RateShape;
  static const OneOf<RateShape> schedules{{RateShape::kConstant, "constant"},
                                          {RateShape::kLinear, "linear"},
                                          {RateShape::kCosine, "cosine"},
                                          {RateShape::kStep, "step"}};
  return schedules;
}

void ScheduleFields(FieldVisitor& v, ml::RateSchedule& s) {
  v("schedule", s.shape, Schedules(), Default(ml::RateShape::kConstant),
    "`linear`, `cosine`: down to `final_rate` of it after the last step; `step`: times `decay_factor` every "
    "`decay_every` steps.");
  const auto of = [&](bool holds, const char* shapes) {
    return Condition{holds, fmt::format("training.schedule {}", shapes),
                     fmt::format("only training.schedule {} has it, which is \"{}\"", shapes,
                                 Schedules().TextOf(s.shape))};
  };
  const bool falls = s.shape == ml::RateShape::kLinear || s.shape == ml::RateShape::kCosine;
  v.When(of(falls, "\"linear\" or \"cosine\""), [&] {
    v("final_rate", s.final_rate, Fraction{true}, Default(0.0),
      "What is left of the learning rate at the end.");
  });
  v.When(of(s.shape == ml::RateShape::kStep, "\"step\""), [&] {
    v("decay_every", s.decay_every, kMillions, "Steps between two falls.");
    v("decay_factor", s.decay_factor, Interval{.above = 0.0, .below = 1.0}, "What a fall leaves.");
  });
}

void ComputationFields(FieldVisitor& v, TrainingSpec& s) {
  using ml::Clipping;
  using protocols::Form;
  using protocols::Rounding;
  v("clipping", s.clipping,
    OneOf<Clipping>{{Clipping::kFactorised, "factorised"},
                    {Clipping::kPublished, "published"},
                    {Clipping::kExamples, "examples"}},
    Default(Clipping::kFactorised),
    "`published`: per-example gradients, PEA's form; `examples`: nothing is clipped, rows are bounded.");
  v("error_fraction_bits", s.error_fraction_bits, WholeInterval{ml::kMinErrorFractionBits, 24},
    "Of clipped errors as rows multiply them, at most `fraction_bits`, which they have without it; where "
    "`features.fraction_bits` may be, without hidden layers and with factorised clipping and a fixed clip. "
    "With fewer a number of a row may take fewer bytes (`row_bits` of `plan`), while the rounding raises "
    "`sensitivity` and noise.");
  v("logit_bound", s.logit_bound, kPositive, Default(64.0),
    "At most 64: chooses the sigmoid's period, or clamps (squared; softmax where it is below (45 − "
    "`fraction_bits`)/2.9 and at most 12, else softmax takes any logits, for more rounds). At least 0.125 "
    "with softmax; of no effect with huber, which clamps errors.");
  v("truncation", s.truncation,
    OneOf<Rounding>{{Rounding::kStochastic, "stochastic"}, {Rounding::kExact, "exact"}},
    Default(Rounding::kStochastic),
    "`stochastic`: rounds by coins whose thresholds the parties learn; `exact`: always down, without coins, "
    "for much more traffic that does not depend on the data (`protocols.md`, \"DP-SGD step\").");
  v("comparison", s.comparison,
    OneOf<std::optional<Form>>{{std::nullopt, "auto"}, {Form::kBulk, "bulk"}, {Form::kLatency, "latency"}},
    Default(std::optional<Form>{}),
    "How clip factors, and the predictions of softmax and the squared loss, are compared: `bulk` (little "
    "traffic), `latency` (few rounds), or what is faster on the measured links and machines; "
    "changes no privacy figure.");
}

void Fields(FieldVisitor& v, TrainingSpec& s) {
  v("steps", s.steps, OrAuto<WholeInterval>{{1, ml::kLargestSteps}},
    "Steps of the training. Of this key and others `auto` is a number that a rule takes from declared ones "
    "(`settings.md`); it is in the hash as if the job had named it.");
  v("expected_batch", s.expected_batch, OrAuto<Interval>{kPositive},
    "At most Σ rows, with full batches those; q = expected_batch/Σ rows.");
  v("max_batch_per_owner", s.max_batch_per_owner, OrAuto<WholeInterval>{kMillions},
    Default(kAuto).Said("`auto`"),
    "Above the largest owner's expected share (unless that owner's rows are fewer). Too small a value is "
    "refused with one that suffices.");
  v("learning_rate", s.learning_rate, OrAuto<Interval>{kPositive}, "η of the first step.");
  ScheduleFields(v, s.schedule);
  v("momentum", s.momentum, OrAuto<Fraction>{{.one_allowed = false}}, Default(0.0),
    "At least 0, below 1. v ← momentum·v + η·(noisy gradient sum)/expected_batch, weights ← weights − v.");
  ComputationFields(v, s);
  v("checkpoint_every", s.checkpoint_every, WholeInterval{0, 10'000'000}, Default(0),
    "Steps between two checkpoints, from which `--resume` goes on; 0: none.");
  v("lost_steps_max", s.lost_steps_max, WholeInterval{0, 1'000'000'000},
    Default(s.steps / 10).Said("a tenth of `steps`").LeftOut(),
    "Once more steps than these have been lost, or, whatever this is, more than one noisy evaluation or "
    "release before the first step, a second session from one checkpoint wants `--again`. Not in the hash "
    "while it has its default.");
  v("steps_ahead", s.steps_ahead, WholeInterval{0, 1'000}, Default(2),
    "Owners' batches and dealt material of at most so many later steps are made and sent in the background, "
    "and wait in the receivers' memory; 0: all in line.");
}

void Fields(FieldVisitor& v, PrivacySpec& s) {
  using dp::AccountantKind;
  TargetFields(v, s.epsilon, s.sigma, "The target.");
  v("delta", s.delta, kDeltas, "At which both ε are said.");
  v("against", s.against, Adversaries(), Default(ml::Adversary::kInsider), "Whose ε the target is.");
  ClipFields(v, s);
  v("accountant", s.accountant,
    OneOf<AccountantKind>{
        {AccountantKind::kRdp, "rdp"}, {AccountantKind::kPld, "pld"}, {AccountantKind::kPea, "pea"}},
    Default(AccountantKind::kRdp),
    "Of the calibration and of every ε that the run reports. `pld`: tighter, less noise for the same ε; "
    "`pea`: PEA's closed form, without amplification, up to ε = 2.3 ln(1/δ) (`privacy.md`, "
    "\"Accounting\").");
  v("sampling", s.sampling, Samplings(), Default(ml::Sampling::kOwnerPoisson),
    "Who draws a step's rows; `full`: nobody, every step has all of them, and nothing is amplified; "
    "`deposited`: owners who run no party, beforehand, for all steps of one run ([batches]).");
  v("unit", s.unit,
    OneOf<dp::PrivacyUnit>{{dp::PrivacyUnit::kRecord, "record"}, {dp::PrivacyUnit::kGroup, "group"}},
    Default(dp::PrivacyUnit::kRecord).LeftOut(),
    "`group`: all rows of one owner with the same key (`privacy.md`, \"Groups\"); with owner-poisson "
    "sampling, without `initialisation` and `evaluation.sigma`.");
  v.When({s.groups(), "privacy.unit \"group\"", "only privacy.unit \"group\" has it, which is \"record\""},
         [&] {
           v("group_column", s.group_column, Text{},
             "csv: the one column of kind `key`; equal texts are one group.");
           v("max_group_rows", s.max_group_rows, WholeInterval{1, ml::kMaxGroupRows},
             "More rows of one group are an error (4).");
         });
}

void LocalTrainingFields(FieldVisitor& v, ml::LocalSettings& s, const PrivacySpec& privacy) {
  v("steps", s.steps, WholeInterval{1, std::numeric_limits<int>::max()}, "Of each party's local DP-SGD.");
  v("expected_batch", s.expected_batch, kPositive,
    "Of a party with a third of all rows, at most those: every party's rate is 3·expected_batch/Σ rows.");
  v("learning_rate", s.learning_rate, kPositive,
    "Of each party's local DP-SGD; at most 10^9 times `expected_batch`.");
  v("clip", s.clip, kPositive, Default(privacy.clip).Said("`privacy.clip`"),
    "Of the local training. Where `privacy.clip` adapts, `first_clip` is the default.");
  auto epsilon = s.target_epsilon > 0 ? std::optional(s.target_epsilon) : std::nullopt;
  TargetFields(v, epsilon, s.sigma, "The local training alone, on its own.");
  s.target_epsilon = epsilon.value_or(0);
  v("delta", s.delta, kDeltas, Default(privacy.delta).Said("`privacy.delta`"), "Of the local training.");
}

const OneOf<ml::Selection>& Selections() {
  static const OneOf<ml::Selection> selections{{ml::Selection::kNoisy, "noisy"},
                                               {ml::Selection::kAsPublished, "as-published"},
                                               {ml::Selection::kPublicValidation, "public-validation"}};
  return selections;
}

void SelectionFields(FieldVisitor& v, ml::InitialisationSettings& s) {
  v("selection", s.selection, Selections(), Default(ml::Selection::kNoisy),
    "`noisy`: on noisy counts of correctly classified records, charged; `as-published`: without noise, so "
    "that both ε of the run are infinite (`null`), with a warning; the noise is calibrated as if it were "
    "free; `public-validation`: on records that nobody trains on, without noise and without charge "
    "(`privacy.md`, \"Selection on validation records\").");
  const auto of = [&](bool holds, const char* selections) {
    return Condition{holds, std::string("selection ") + selections,
                     fmt::format("selection \"{}\" does not have it", Selections().TextOf(s.selection))};
  };
  const bool validates = s.selection == ml::Selection::kPublicValidation;
  v.When(of(validates, "\"public-validation\""), [&] {
    v("validation_holder", s.validation.holder, WholeInterval{0, 2},
      "Whose party file names the validation records, in the format of [data].");
    v("validation_rows", s.validation.rows, kMillions, "Exactly so many, a public number.");
  });
  v.When(of(!validates, "\"noisy\" or \"as-published\""), [&] {
    v("selection_rows", s.selection_rows, kPositive, Default(2000.0),
      "Records that a party with a third of all rows shares for the comparison, on average.");
  });
  v.When(of(s.selection == ml::Selection::kNoisy, "\"noisy\""), [&] {
    v("selection_sigma", s.selection_sigma, kPositive, Default(5.0),
      "Noise multiplier of the counts, whose sensitivity is √4.");
  });
}

void InitialisationFields(FieldVisitor& v, std::optional<ml::InitialisationSettings>& s,
                          const PrivacySpec& privacy) {
  using Method = std::optional<ml::InitialisationMethod>;
  const OneOf<Method> methods{{std::nullopt, "none"},
                              {ml::InitialisationMethod::kAveraging, "averaging"},
                              {ml::InitialisationMethod::kAccuracy, "accuracy"}};
  auto method = s ? Method(s->method) : Method();
  v("method", method, methods, Default(Method()),
    "`none`: zeros, no other key; `averaging`: the mean of the three local models; `accuracy`: the best of "
    "it and the three.");
  auto settings = s.value_or(ml::InitialisationSettings{});
  const auto refusal = fmt::format("method \"{}\" does not have it", methods.TextOf(method));
  v.When({method.has_value(), "method \"averaging\" or \"accuracy\"", refusal},
         [&] { LocalTrainingFields(v, settings.local, privacy); });
  v.When({method == ml::InitialisationMethod::kAccuracy, "method \"accuracy\"", refusal},
         [&] { SelectionFields(v, settings); });
  settings.method = method.value_or(settings.method);
  s = method ? std::optional(settings) : std::nullopt;
}

void EvaluationFields(FieldVisitor& v, ml::EvaluationSettings& s) {
  v("holder", s.test.holder, WholeInterval{0, 2},
    "Whose party file names the test records, in the format of [data].");
  v("rows", s.test.rows, kMillions, "Exactly so many; the number is public.");
  v("to", s.to, Parties{false}, Default(std::vector<int>{0, 1, 2}),
    "Who learns how many are classified correctly.");
  v("sigma", s.sigma, kPositive,
    "At most 10^6: noise multiplier of that number, charged to the test records. None: it is exact, and no ε "
    "covers them (`privacy.md`, \"Evaluation\").");
  v("bins", s.bins, WholeInterval{0, ml::kMaxScoreBins}, Default(0).LeftOut(),
    "2 … 100, with `sigma`: in place of that number so many bins of predictions for each "
    "class are opened, with noise of sensitivity √2; AUC, log-loss, calibration and a threshold follow. "
    "`model.threshold` is one of their edges, k/bins (`rare_classes.md`). Of c > 2 classes, by `one-vs-rest` "
    "or `softmax`, with `confusion`: so many bins, at most 1000/c, for each class and for all others, with "
    "noise of "
    "sensitivity √(2c + 2).");
  v("confusion", s.confusion, Flag{}, Default(false).LeftOut(),
    "Of at most 100 classes, with `sigma`, of two without `bins`: in place of that number it is opened how "
    "many "
    "test records of each class are taken for which class, with noise of sensitivity √2; accuracy, and "
    "recall and "
    "precision of each class, follow (`rare_classes.md`).");
  v("choose_threshold", s.choose_threshold, Flag{}, Default(false).LeftOut(),
    "With `bins`: the model is released with the edge that has the best balanced accuracy as its "
    "`model.threshold`, whoever gets it being in `to`.");
}

}  // namespace

const OneOf<ml::Sampling>& Samplings() {
  static const OneOf<ml::Sampling> samplings{{ml::Sampling::kOwnerPoisson, "owner-poisson"},
                                             {ml::Sampling::kPublic, "public"},
                                             {ml::Sampling::kFull, "full"},
                                             {ml::Sampling::kDeposited, "deposited"}};
  return samplings;
}

void TrainingTables(FieldVisitor& v, DpsgdSettings& s) {
  v.Table("model", "What is trained.", [&] { Fields(v, s.model); });
  v.Table("training", "How it is trained.", [&] { Fields(v, s.training); });
  v.Table("privacy", "What the model may tell.", [&] { Fields(v, s.privacy); });
  v.Check([&](const Section& document) {
    CheckAdaptiveClip(s, document);  // or a first clip would be asked for where there can be none
    ChooseSettings(s, document);
  });
}

void Fields(FieldVisitor& v, DpsgdSettings& s) {
  TypeFields(v, "dpsgd");
  RecordFields(v, s, 16, RecordUse::kTrained, RecordSources::kFilesOrStore);
  BatchesFields(v, s.store.batches);
  TrainingTables(v, s);
  v.Table("initialisation",
          "The first weights from models that each party trains alone (`protocols.md`, \"Initialisation\"); "
          "counted in `privacy.epsilon`.",
          [&] { InitialisationFields(v, s.initialisation, s.privacy); });
  v.Table("evaluation",
          "Accuracy of the trained model on test records of one party, while all is in shares. Without the "
          "table there is none.",
          s.evaluation, [&](ml::EvaluationSettings& evaluation) { EvaluationFields(v, evaluation); });
  ReleaseFields(v, kWhoGetsTheModel, s.release.to, true);
  v.Table("local", "How `local` cuts the data. Not hashed.", s.local);
  v.Check([&](const Section& document) { CheckJobRules(s, document); });
}

std::string DpsgdJson(const DpsgdSettings& job) { return HashedJson(job); }

std::string DpsgdHash(const DpsgdSettings& job) { return Sha256Hex(DpsgdJson(job)); }

DpsgdSettings ParseDpsgdJson(const std::string& json, const std::string& source) {
  return ReadDpsgdTable(TableOfJson(json, source), source);
}

DpsgdSettings ReadDpsgdTable(const toml::table& root, const std::string& file) {
  DpsgdSettings job;
  job.type = "dpsgd";
  ReadFields(root, file, job);
  return job;
}

DpsgdSettings ReadDpsgdSettings(const std::filesystem::path& file,
                                const std::vector<std::string>& assignments) {
  auto table = ReadToml(file);
  for (const auto& assignment : assignments) SetValue(table, assignment);
  return ReadDpsgdTable(table, file.string());
}

dp::Promise PromiseOf(const DpsgdSettings& job) {
  const auto unit = job.data.vertical      ? dp::PrivacyUnit::kJointRecord
                    : job.privacy.groups() ? dp::PrivacyUnit::kGroup
                                           : dp::PrivacyUnit::kRecord;
  return {.unit = unit,
          .neighbours = dp::Neighbours::kAdded,
          .warnings = PrivacyWarnings(job),
          .deposited = job.store.on};
}

std::vector<std::string> PrivacyWarnings(const DpsgdSettings& job) {
  std::vector<std::string> warnings;
  if (job.data.vertical) {
    warnings.emplace_back(
        "data.partition \"vertical\": every party knows which records there are; the insider's epsilon is "
        "for one party's values in a known record against others, that of half of sigma, and the outsider's "
        "for a record against none");
  }
  if (job.privacy.groups()) {
    warnings.emplace_back(
        "privacy.unit \"group\": epsilon is for all rows of one owner with the same key; rows of that key at "
        "another owner are another group");
  }
  if (job.privacy.adaptive_clip) warnings.push_back(AdaptiveClipWarning());
  if (job.selects(ml::Selection::kAsPublished)) {
    warnings.emplace_back(
        "initialisation.selection \"as-published\": the first model is chosen by accuracy on private records "
        "without noise, so that both epsilons are infinite; privacy.epsilon is that of all else");
  }
  if (job.selects(ml::Selection::kPublicValidation)) {
    warnings.push_back(
        "initialisation.selection \"public-validation\": the model is chosen by accuracy on party " +
        std::to_string(job.initialisation->validation.holder) +
        "'s validation records, which no epsilon of this run covers");
  }
  if (job.evaluation && !job.evaluation->sigma) {
    warnings.push_back("evaluation: the number of party " + std::to_string(job.evaluation->test.holder) +
                       "'s test records that are classified correctly is opened without noise, which no "
                       "epsilon of this run covers for those records");
  }
  return warnings;
}

}  // namespace trefoil::jobs
