#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>

#include "jobs/deposited_records.h"
#include "jobs/dpsgd/deposited_batches.h"
#include "jobs/dpsgd/ranges.h"
#include "jobs/dpsgd/settings/settings_rules.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/dpsgd/standardisation.h"
#include "jobs/records/record_fields.h"

namespace trefoil::jobs {
namespace {

/// What a vertical partition asks of the rest of the job.
void CheckVertical(const DpsgdSettings& job, const Section& document) {
  CheckColumnsOfParties(job, document);
  if (job.privacy.sampling != ml::Sampling::kPublic) {
    document.Table("privacy").Fail(
        "sampling",
        fmt::format("found \"{}\", expected \"public\" with data.partition \"vertical\": all three hold a "
                    "part of each row, so that none can choose rows in private",
                    Samplings().TextOf(job.privacy.sampling)));
  }
  if (job.evaluation)
    document.Fail("evaluation", "not with data.partition \"vertical\": no party holds whole rows");
  if (job.initialisation)
    document.Table("initialisation")
        .Refuse("method", "\"none\" with data.partition \"vertical\": no party holds whole rows to train on");
}

/// The names of the columns of keys.
std::vector<std::string> KeysOf(const data::DataSpec& spec) {
  std::vector<std::string> names;
  for (const auto& column : spec.columns) {
    if (column.kind == data::ColumnKind::kKey) names.push_back(column.name);
  }
  return names;
}

/// What groups as the unit of privacy ask of the rest of the job.
void CheckGroups(const DpsgdSettings& job, const Section& document) {
  const auto privacy = document.Table("privacy");
  const auto refuse = [&](const std::string& cause) {
    privacy.Fail("unit", "found \"group\", expected \"record\" with " + cause);
  };
  if (job.data.vertical) refuse("data.partition \"vertical\", whose key is a row's");
  if (job.privacy.sampling == ml::Sampling::kPublic)
    refuse("public sampling, whose coins take rows one by one");
  if (job.initialisation) refuse("initialisation.method, whose local trainings take and charge records");
  if (job.evaluation && job.evaluation->sigma)
    refuse("evaluation.sigma, which is charged to single test records");
  if (job.data.format != data::Format::kCsv)
    privacy.Fail("group_column", "only data.format \"csv\" has columns of keys");
  if (KeysOf(job.data) != std::vector{job.privacy.group_column}) {
    privacy.Fail("group_column", fmt::format("found \"{}\", expected the one [[data.column]] of kind \"key\"",
                                             job.privacy.group_column));
  }
}

/// What a number to be predicted in place of a class asks of the rest of the job.
void CheckTarget(const DpsgdSettings& job, const Section& document) {
  const bool poisson = job.model.loss == ml::Loss::kPoisson;
  if (job.model.loss != ml::Loss::kSquared && job.model.loss != ml::Loss::kHuber && !poisson)
    document.Table("model").Refuse(
        "loss", "\"squared\", \"huber\" or \"poisson\" with [data.target]: the others are of classes");
  if (poisson && job.data.target->low != 0)
    document.Table("data").Table("target").Refuse("low", "0 with model.loss \"poisson\", which is of counts");
  if (job.evaluation) {
    document.Fail(
        "evaluation",
        "found it with [data.target], expected none: what is opened on shares is how many records are "
        "classified correctly; `trefoil evaluate` has R² and the errors of a released model");
  }
  if (job.initialisation && job.initialisation->method == ml::InitialisationMethod::kAccuracy)
    document.Table("initialisation")
        .Refuse("method",
                "\"none\" or \"averaging\" with [data.target]: models are chosen by counts of "
                "records that are classified correctly");
  if (job.release.to.empty())
    document.Table("release").Refuse(
        "to", "a party with [data.target]: predictions by a model in shares are of classes");
}

void CheckHuber(const DpsgdSettings& job, const Section& document) {
  if (job.model.loss == ml::Loss::kPoisson && !job.data.target)
    document.Table("model").Refuse("loss", "another of classes; \"poisson\" is of [data.target] alone");
  if (job.model.loss != ml::Loss::kHuber) return;
  const auto model = document.Table("model");
  if (!job.data.target) model.Refuse("loss", "another of classes; \"huber\" is of [data.target] alone");
  const double width = job.data.target->high - job.data.target->low;
  const double least = ml::MinHuberThreshold(job.fraction_bits);
  const double share = HuberThreshold(job);
  if (share < least || share > ml::kMaxHuberThreshold) {
    model.Refuse("huber_threshold",
                 fmt::format("a number from {:.6g} to {:.6g}, by the range of [data.target]", least * width,
                             ml::kMaxHuberThreshold * width));
  }
}

/// A threshold that is taken from the histogram has to be known to all who get the model or a share of it.
void CheckChosenThreshold(const DpsgdSettings& job, const Section& evaluation) {
  if (!job.evaluation->choose_threshold) return;
  if (job.evaluation->bins == 0)
    evaluation.Fail("choose_threshold",
                    "without evaluation.bins, expected them: a histogram is what it takes");
  const auto& named = job.evaluation->to;  // ascending, as release.to
  const std::vector<int> everybody{0, 1, 2};
  const auto& getting = job.release.to.empty() ? everybody : job.release.to;
  if (!std::includes(named.begin(), named.end(), getting.begin(), getting.end())) {
    evaluation.Fail("choose_threshold",
                    "found a party that gets the model or a share of it and is not in evaluation.to");
  }
}

/// Each class is told from the others by a probability of its own, and accuracy needs the table.
void CheckBinsOfManyClasses(const DpsgdSettings& job, const Section& evaluation) {
  if (job.model.loss == ml::Loss::kSquared)
    evaluation.Fail("bins", "with more than two classes, expected model.loss \"one-vs-rest\" or \"softmax\"");
  if (!job.evaluation->confusion)
    evaluation.Fail("bins", "with more than two classes, expected evaluation.confusion = true beside them");
  if (job.evaluation->choose_threshold)
    evaluation.Fail("choose_threshold",
                    "found true with more than two classes, expected false: these have no threshold");
  const auto most = ml::kMaxBinsOfClasses / job.data.classes;
  if (job.evaluation->bins > most)
    evaluation.Refuse("bins", fmt::format("at most {} with {} classes", most, job.data.classes));
}

/// What a histogram of predictions asks of the rest of the job.
void CheckBins(const DpsgdSettings& job, const Section& document) {
  if (!job.evaluation) return;
  const auto evaluation = document.Table("evaluation");
  CheckChosenThreshold(job, evaluation);
  const auto bins = job.evaluation->bins;
  if (bins == 0) return;
  if (bins == 1) evaluation.Refuse("bins", "0, or a whole number from 2 to 100");
  if (!job.evaluation->sigma)
    evaluation.Fail("bins", "without evaluation.sigma, expected it: a histogram is opened with noise only");
  if (job.data.classes > 2) {
    CheckBinsOfManyClasses(job, evaluation);
    return;
  }
  if (job.evaluation->confusion)
    evaluation.Fail(
        "confusion",
        "found true with evaluation.bins of two classes, expected one of them: the bins tell what a table "
        "does");
  if (!ml::IsEdge(job.model.threshold, bins)) {
    evaluation.Fail(
        "bins",
        fmt::format("found {}, of which model.threshold, {}, is no edge k/{}, expected bins with such an "
                    "edge{}",
                    bins, job.model.threshold, bins, job.model.threshold == 0.5 ? ": an even number" : ""));
  }
}

/// What a confusion table asks of the rest of the job.
void CheckConfusion(const DpsgdSettings& job, const Section& document) {
  if (!job.evaluation || !job.evaluation->confusion) return;
  const auto evaluation = document.Table("evaluation");
  if (!job.evaluation->sigma)
    evaluation.Fail("confusion", "without evaluation.sigma, expected it: a table is opened with noise only");
  if (job.data.classes > ml::kMaxConfusionClasses)
    evaluation.Fail("confusion", fmt::format("with {} classes, expected at most {}, which make 10,000 counts",
                                             job.data.classes, ml::kMaxConfusionClasses));
}

void CheckThreshold(const DpsgdSettings& job, const Section& document) {
  if (job.model.threshold != 0.5 && (job.data.target || job.data.classes != 2))
    document.Table("model").Fail(
        "threshold", "found it with other than two classes, expected none: it is for the second of two");
}

void CheckClassWeights(const DpsgdSettings& job, const Section& document) {
  const auto& [balanced, weights] = job.model.class_weights;
  if (weights.empty() && !balanced) return;
  const auto model = document.Table("model");
  if (balanced && job.data.vertical)
    model.Fail("class_weights",
               "\"balanced\" not with data.partition \"vertical\": name weights from what is public");
  const auto rows = static_cast<double>(job.privacy.max_group_rows);
  if (balanced && job.model.class_counts_sigma * rows > ml::kMaxBalanceSigma)
    model.Refuse("class_counts_sigma", fmt::format("at most {}", ml::kMaxBalanceSigma / rows));
  if (job.data.target)
    model.Fail("class_weights", "found it with [data.target], expected none: targets have no classes");
  if (!balanced && weights.size() != static_cast<std::size_t>(job.data.classes))
    model.Fail("class_weights", fmt::format("found {} of them, expected {}, one for each of data.classes",
                                            weights.size(), job.data.classes));
}

void CheckStandardisedColumns(const DpsgdSettings& job, const Section& data,
                              const std::function<void(const std::string& cause)>& refuse) {
  bool found = false;
  for (const auto& column : job.data.columns) {
    if (!IsStandardised(job.data, column)) continue;
    found = true;
    if (!column.private_range && (!column.low || !column.high))
      data.Fail("column", fmt::format("column \"{}\": missing low or high, which features.standardise wants "
                                      "of every column of kind \"number\", or range = \"private\", which "
                                      "finds them",
                                      column.name));
    if (column.mean != 0 || column.scale != 1)
      data.Fail("column", fmt::format("column \"{}\": found a mean or a scale, expected neither with "
                                      "features.standardise, which finds them",
                                      column.name));
  }
  if (!found) refuse("no column of kind \"number\"");
}

/// What means and scales from a noisy sum ask of the rest of the job.
void CheckStandardise(const DpsgdSettings& job, const Section& document) {
  const auto features = document.Table("features");
  const auto refuse = [&](const std::string& cause) {
    features.Fail("standardise", "found \"private\", expected \"none\" with " + cause);
  };
  const auto method = job.features.extraction.method;
  if (method == data::FeatureMethod::kHashText)
    refuse("features.method \"hash-text\", whose rows are mostly zeros");
  if (method == data::FeatureMethod::kNone && job.data.format != data::Format::kCsv)
    refuse("another data.format than \"csv\" and no features.method: there are no columns");
  if (!job.features.means.empty()) refuse("features.means, which are given");
  if (job.data.vertical) refuse("data.partition \"vertical\"");
  if (job.privacy.groups()) refuse("privacy.unit \"group\"");
  if (job.training.checkpoint_every > 0)
    refuse("training.checkpoint_every above 0: checkpoints have no means and scales");
  if (job.privacy.accountant == dp::AccountantKind::kPea)
    refuse("privacy.accountant \"pea\", which is of steps alone");
  if (job.privacy.sigma && !job.features.standardise.sigma)
    features.Fail("standardise_sigma",
                  "missing with privacy.sigma, where there is no privacy.epsilon to take a share of");
  if (job.privacy.sigma && CountedCells(job) > 0 && !job.features.standardise.range_sigma)
    features.Fail("range_sigma",
                  "missing with privacy.sigma, where there is no privacy.epsilon to take a share of");
  if (method == data::FeatureMethod::kNone) CheckStandardisedColumns(job, document.Table("data"), refuse);
}

/// Rows that no owner inputs as a whole have the bits of all else.
void RefuseForWholeRows(const DpsgdSettings& job, const std::function<void(const char* cause)>& refuse) {
  if (job.data.vertical) refuse("data.partition \"vertical\"");
  if (job.store.on) refuse("data.source \"store\"");
}

/// What rows with bits of their own ask of the rest of the job.
void CheckRowBits(const DpsgdSettings& job, const Section& document) {
  if (!job.features.fraction_bits) return;
  const auto features = document.Table("features");
  const auto refuse = [&](const char* cause) {
    features.Fail("fraction_bits", fmt::format("found it, expected none with {}", cause));
  };
  RefuseForWholeRows(job, refuse);
  if (job.training.clipping == ml::Clipping::kPublished) refuse("training.clipping \"published\"");
  if (*job.features.fraction_bits > job.fraction_bits)
    features.Refuse("fraction_bits", fmt::format("at most {}, which fraction_bits is", job.fraction_bits));
}

/// What clipped errors with bits of their own ask of the rest of the job.
void CheckErrorBits(const DpsgdSettings& job, const Section& document) {
  if (!job.training.error_fraction_bits) return;
  const auto training = document.Table("training");
  const auto refuse = [&](const char* cause) {
    training.Fail("error_fraction_bits", fmt::format("found it, expected none with {}", cause));
  };
  RefuseForWholeRows(job, refuse);
  if (!job.model.hidden.empty()) refuse("model.hidden");
  if (job.training.clipping != ml::Clipping::kFactorised)
    refuse("another training.clipping than \"factorised\"");
  if (job.privacy.adaptive_clip) refuse("privacy.clip \"adaptive\"");
  if (*job.training.error_fraction_bits > job.fraction_bits)
    training.Refuse("error_fraction_bits",
                    fmt::format("at most {}, which fraction_bits is", job.fraction_bits));
}

/// What records that no party has in the clear ask of the rest of the job.
void CheckMemory(const DpsgdSettings& job, const Section& data) {
  if (job.privacy.sampling != ml::Sampling::kFull)
    data.Fail("memory", fmt::format("found it with privacy.sampling \"{}\", expected \"full\" with it",
                                    Samplings().TextOf(job.privacy.sampling)));
  if (!job.model.hidden.empty())
    data.Fail("memory", "found it with model.hidden, expected a linear model with it");
  constexpr std::int64_t kMostBlocks = 10'000'000;
  if (job.training.steps * BlocksOfRows(job) > kMostBlocks)
    data.Fail("memory",
              fmt::format("found {}, which makes more than {} blocks of all steps, expected more memory or "
                          "fewer steps",
                          *job.store.memory, kMostBlocks));
}

void CheckStore(const DpsgdSettings& job, const Section& document) {
  const auto refuse = [&](const char* table, const char* key, const char* expected) {
    document.Table(table).Refuse(key, fmt::format("{} with data.source \"store\"", expected));
  };
  if (job.privacy.sampling == ml::Sampling::kOwnerPoisson)
    document.Table("privacy").Fail(
        "sampling",
        fmt::format(
            "found \"{}\", expected \"full\", \"public\" or \"deposited\" with data.source \"store\": owners "
            "are not there to draw rows",
            Samplings().TextOf(job.privacy.sampling)));
  // A record is charged for as often as its slot is taken.
  if (job.privacy.sampling == ml::Sampling::kPublic && job.training.checkpoint_every > 0)
    document.Table("training")
        .Refuse("checkpoint_every",
                "0 with data.source \"store\" and privacy.sampling \"public\": a resumed run may find other "
                "deposits, whose rows lie in other places");
  if (job.store.memory) CheckMemory(job, document.Table("data"));
  if (job.privacy.groups()) refuse("privacy", "unit", "\"record\"");
  if (job.features.standardise.on) refuse("features", "standardise", "\"none\"");
  if (!job.features.means.empty())
    document.Table("features")
        .Fail("means",
              "found them, expected none with data.source \"store\": deposited rows are not moved by them");
  if (job.initialisation) refuse("initialisation", "method", "\"none\"");
  if (job.model.class_weights.balanced) refuse("model", "class_weights", "numbers");
}

}  // namespace

void CheckJobRules(const DpsgdSettings& job, const Section& document) {
  const auto data = document.Table("data");
  const auto training = document.Table("training");
  const auto& rows = job.data.rows;
  const auto total = TotalRows(job.data);
  CheckBatches(job, document);
  if (job.store.on) CheckStore(job, document);
  if (job.data.vertical) CheckVertical(job, document);
  if (job.data.target) CheckTarget(job, document);
  CheckHuber(job, document);
  CheckThreshold(job, document);
  CheckBins(job, document);
  CheckConfusion(job, document);
  CheckClassWeights(job, document);
  CheckRowBits(job, document);
  CheckErrorBits(job, document);
  if (job.privacy.groups()) CheckGroups(job, document);
  if (job.features.standardise.on) CheckStandardise(job, document);
  if (!job.data.vertical && !job.privacy.groups() && !KeysOf(job.data).empty()) {
    data.Fail(
        "column",
        "found one of kind \"key\", which only data.partition \"vertical\" and privacy.unit \"group\" have");
  }
  if (job.training.expected_batch > static_cast<double>(total)) {
    training.Refuse("expected_batch", fmt::format("a number up to {}, {}", total,
                                                  job.data.vertical ? "data.rows" : "the sum of data.rows"));
  }
  const bool full = job.privacy.sampling == ml::Sampling::kFull;
  if (full && job.training.expected_batch != static_cast<double>(total))
    training.Refuse("expected_batch", fmt::format("{} or \"auto\" with privacy.sampling \"full\"", total));
  const auto& batches = job.store.batches;
  if (job.data.vertical || (job.store.on && !batches) || full) return;  // no owner draws rows
  const auto largest =
      static_cast<double>(batches ? batches->records : *std::max_element(rows.begin(), rows.end()));
  const double share = job.training.expected_batch * largest / static_cast<double>(total);
  const auto bound = static_cast<double>(job.training.max_batch_per_owner);
  // An owner whose every row is drawn cannot draw more than it has.
  if (bound <= share && bound < largest) {
    training.Refuse("max_batch_per_owner",
                    fmt::format("more than {:.1f}, the expected batch of the largest owner", share));
  }
}

}  // namespace trefoil::jobs
