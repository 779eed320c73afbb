// The sensitivity certificate (dp/mechanisms/sensitivity.h, docs/explanation/privacy.md) against adversarial
// examples through the real three-party step.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ml/dpsgd/adaptive_clip.h"
#include "ml/dpsgd/published_clipping.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/support/sensitivity_search.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using protocols::Form;
using protocols::Rounding;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct SearchCase {
  Loss loss = Loss::kOneVsRest;
  int classes = 2;
  Clipping clipping = Clipping::kFactorised;
  Form form = Form::kBulk;
  int fraction_bits = 16;
  double clip = 0.5;
  double row_norm = 1;
  Rounding truncation = Rounding::kStochastic;
  double logit_bound = 0;  ///< 0: what is usual for the loss
  std::vector<double> class_weights{};
  double huber_threshold = 1;
  std::optional<double> max_record_weight{};
  std::optional<int> row_fraction_bits{};
  std::optional<int> error_fraction_bits{};
  std::optional<int> clip_at{};  ///< of an adaptive clip, which stays there
  bool targets = false;          ///< numbers in place of classes; Huber's and Poisson's loss have no others
};

const char* NameOf(Loss loss) {
  if (loss == Loss::kSquared) return "squared_";
  if (loss == Loss::kHuber) return "huber_";
  if (loss == Loss::kPoisson) return "poisson_";
  return loss == Loss::kSoftmax ? "softmax_" : "one_vs_rest_";
}

std::string NameOf(const SearchCase& c) {
  std::ostringstream name;
  name << NameOf(c.loss) << c.classes << "_classes";
  if (c.clipping == Clipping::kFactorised) name << (c.form == Form::kBulk ? "_bulk" : "_latency");
  if (c.clipping == Clipping::kPublished) name << "_published";
  if (c.clipping == Clipping::kExamples) name << "_examples";
  name << "_f" << c.fraction_bits << "_clip" << std::lround(100 * c.clip) << "_row"
       << std::lround(100 * c.row_norm);
  if (c.truncation == Rounding::kExact) name << "_exact";
  if (c.logit_bound != 0) name << "_bound" << std::lround(c.logit_bound);
  if (!c.class_weights.empty()) name << "_weighted";
  if (c.max_record_weight) name << "_own_weights" << std::lround(100 * *c.max_record_weight);
  if (c.row_fraction_bits) name << "_row_f" << *c.row_fraction_bits;
  if (c.error_fraction_bits) name << "_error_f" << *c.error_fraction_bits;
  if (c.targets) name << "_targets";
  if (c.clip_at) name << "_adaptive" << *c.clip_at + kClipReach;
  if (c.huber_threshold != 1) name << "_threshold" << std::lround(1000 * c.huber_threshold);
  return name.str();
}

void PrintTo(const SearchCase& c, std::ostream* out) { *out << NameOf(c); }

TrainingSettings SettingsOf(const SearchCase& c) {
  TrainingSettings settings = SmallSettings();
  settings.features = 3;
  settings.loss = c.loss;
  settings.classes = c.classes;
  settings.clipping = c.clipping;
  settings.fraction_bits = c.fraction_bits;
  settings.clip = c.clip;
  settings.row_norm = c.row_norm;
  settings.truncation = c.truncation;
  settings.class_weights = c.class_weights;
  settings.max_record_weight = c.max_record_weight;
  settings.row_fraction_bits = c.row_fraction_bits;
  settings.error_fraction_bits = c.error_fraction_bits;
  if (c.clip_at) settings.adaptive.emplace();
  if (c.loss == Loss::kSquared) settings.logit_bound = 2;
  settings.targets = c.targets || c.loss == Loss::kHuber || c.loss == Loss::kPoisson;
  if (c.loss == Loss::kHuber) settings.huber_threshold = c.huber_threshold;
  if (c.logit_bound != 0) settings.logit_bound = c.logit_bound;
  return settings;
}

StepPlan PlanOf(const SearchCase& c) {
  StepPlan plan = MakeStepPlan(SettingsOf(c), c.form);
  if (c.clip_at)
    std::fill(plan.grid.scales.begin(), plan.grid.scales.end(), ClipScale(plan.grid, *c.clip_at));
  return plan;
}

/// Every combination of loss, one or several columns, and clipping at 16 bits; then other scales, clips and
/// row norms, and exact truncation.
std::vector<SearchCase> AllCases() {
  std::vector<SearchCase> cases;
  for (const Loss loss : {Loss::kOneVsRest, Loss::kSquared}) {
    for (const int classes : {2, 4}) {
      cases.push_back({.loss = loss, .classes = classes});
      cases.push_back({.loss = loss, .classes = classes, .form = Form::kLatency});
      cases.push_back({.loss = loss, .classes = classes, .clipping = Clipping::kPublished});
      cases.push_back({.loss = loss, .classes = classes, .clipping = Clipping::kExamples});
    }
  }
  for (const Form form : {Form::kBulk, Form::kLatency}) {
    cases.push_back({.classes = 3, .form = form, .fraction_bits = 8, .clip = 1});
    cases.push_back({.loss = Loss::kSquared, .classes = 2, .form = form, .fraction_bits = 12});
    cases.push_back({.classes = 3, .form = form, .fraction_bits = 20, .clip = 0.1});
    cases.push_back({.classes = 3, .form = form, .fraction_bits = 24});
    cases.push_back({.classes = 10, .form = form, .fraction_bits = 16, .row_norm = 4});
    cases.push_back({.classes = 3, .form = form, .clip = 8});  // above every gradient
  }
  cases.push_back({.classes = 3, .clipping = Clipping::kExamples, .fraction_bits = 8});
  cases.push_back({.classes = 10, .clipping = Clipping::kExamples, .fraction_bits = 20, .row_norm = 0.5});
  cases.push_back({.classes = 3, .clipping = Clipping::kPublished, .fraction_bits = 12});
  cases.push_back({.classes = 3, .clipping = Clipping::kPublished, .fraction_bits = 20, .clip = 8});
  // Softmax by a row's maximum, and of clamped logits.
  constexpr Loss kSoftmax = Loss::kSoftmax;
  for (const double bound : {16, 6}) {
    for (const Form form : {Form::kBulk, Form::kLatency})
      cases.push_back({.loss = kSoftmax, .classes = 4, .form = form, .logit_bound = bound});
    cases.push_back({.loss = kSoftmax, .classes = 3, .clipping = Clipping::kExamples, .logit_bound = bound});
  }
  cases.push_back({.loss = kSoftmax, .classes = 3, .clipping = Clipping::kPublished});
  cases.push_back({.loss = kSoftmax, .classes = 2});
  cases.push_back({.loss = kSoftmax, .classes = 3, .fraction_bits = 8, .clip = 1});
  cases.push_back({.loss = kSoftmax, .classes = 10, .fraction_bits = 24});
  cases.push_back({.loss = kSoftmax, .classes = 10, .form = Form::kLatency, .row_norm = 4});
  constexpr Rounding kExact = Rounding::kExact;
  for (const Loss loss : {Loss::kOneVsRest, Loss::kSquared}) {
    cases.push_back({.loss = loss, .classes = 3, .form = Form::kBulk, .truncation = kExact});
    cases.push_back({.loss = loss, .classes = 3, .form = Form::kLatency, .truncation = kExact});
    cases.push_back({.loss = loss, .classes = 3, .clipping = Clipping::kPublished, .truncation = kExact});
    cases.push_back({.loss = loss, .classes = 3, .clipping = Clipping::kExamples, .truncation = kExact});
  }
  // One class weighs most, in every form of clipping; clips that bind and one that does not.
  const std::vector<double> two{0.05, 1.5};
  const std::vector<double> three{0.3, 2, 1};
  cases.push_back({.classes = 2, .class_weights = two});
  cases.push_back({.classes = 2, .form = Form::kLatency, .fraction_bits = 24, .class_weights = two});
  cases.push_back({.classes = 2, .clip = 8, .class_weights = two});
  cases.push_back({.loss = Loss::kSquared, .classes = 2, .truncation = kExact, .class_weights = two});
  cases.push_back({.classes = 3, .clipping = Clipping::kPublished, .class_weights = three});
  for (const Loss loss : {Loss::kOneVsRest, Loss::kSquared, kSoftmax})
    cases.push_back({.loss = loss, .classes = 3, .clipping = Clipping::kExamples, .class_weights = three});
  // Huber's: thresholds beyond which the clip binds, and one below which nothing is clipped.
  constexpr Loss kHuber = Loss::kHuber;
  for (const Form form : {Form::kBulk, Form::kLatency}) {
    cases.push_back({.loss = kHuber, .form = form});
    cases.push_back({.loss = kHuber, .form = form, .fraction_bits = 12, .huber_threshold = 0.1});
  }
  cases.push_back({.loss = kHuber, .clipping = Clipping::kPublished});
  cases.push_back({.loss = kHuber, .clipping = Clipping::kExamples, .huber_threshold = 0.01});
  cases.push_back({.loss = kHuber, .truncation = kExact, .huber_threshold = 0.1});
  // Poisson's: where the clip binds, where nothing is clipped, and at every scale.
  // Targets that are numbers, by squared errors.
  for (const Form form : {Form::kBulk, Form::kLatency}) {
    cases.push_back({.loss = Loss::kSquared, .form = form, .targets = true});
    cases.push_back({.loss = Loss::kSquared, .form = form, .clip = 8, .targets = true});
  }
  cases.push_back({.loss = Loss::kSquared, .clipping = Clipping::kPublished, .targets = true});
  cases.push_back({.loss = Loss::kSquared, .clipping = Clipping::kExamples, .targets = true});
  cases.push_back({.loss = Loss::kSquared, .fraction_bits = 20, .truncation = kExact, .targets = true});
  constexpr Loss kPoisson = Loss::kPoisson;
  for (const int f : {8, 16, 24})
    cases.push_back({.loss = kPoisson, .fraction_bits = f, .clip = f == 8 ? 1 : 0.5});
  cases.push_back({.loss = kPoisson, .form = Form::kLatency, .clip = 8});
  cases.push_back({.loss = kPoisson, .clipping = Clipping::kPublished});
  cases.push_back({.loss = kPoisson, .clipping = Clipping::kExamples, .truncation = kExact});
  cases.push_back({.loss = kPoisson, .clipping = Clipping::kExamples, .max_record_weight = 2});
  // Rows of fewer bits than errors: where the clip binds and where it does not, and rounded most coarsely.
  for (const Loss loss : {Loss::kOneVsRest, Loss::kSquared, kSoftmax})
    cases.push_back({.loss = loss, .classes = 3, .row_norm = 4, .row_fraction_bits = 8});
  cases.push_back({.classes = 3, .form = Form::kLatency, .clip = 8, .row_norm = 4, .row_fraction_bits = 9});
  cases.push_back({.classes = 2, .clipping = Clipping::kExamples, .row_norm = 16, .row_fraction_bits = 4});
  // Clipped errors of fewer bits: where the clip binds and where it does not, alone and on such rows.
  for (const Form form : {Form::kBulk, Form::kLatency}) {
    cases.push_back({.classes = 3, .form = form, .clip = 1, .error_fraction_bits = 8});
    cases.push_back(
        {.classes = 3, .form = form, .clip = 8, .row_fraction_bits = 8, .error_fraction_bits = 9});
  }
  cases.push_back(
      {.loss = kSoftmax, .classes = 4, .row_norm = 4, .row_fraction_bits = 8, .error_fraction_bits = 10});
  cases.push_back({.loss = Loss::kSquared, .classes = 2, .truncation = kExact, .error_fraction_bits = 8});
  cases.push_back({.loss = kHuber, .error_fraction_bits = 9});
  cases.push_back({.classes = 2, .class_weights = two, .max_record_weight = 2.5, .error_fraction_bits = 8});
  // Records' own weights: beside those of the classes, at the bound of both, and where nothing is clipped.
  cases.push_back({.classes = 2, .max_record_weight = 2.5});
  cases.push_back({.classes = 2, .clip = 8, .max_record_weight = 0.3});
  cases.push_back({.classes = 3, .clipping = Clipping::kPublished, .max_record_weight = 2});
  cases.push_back({.loss = kHuber, .clipping = Clipping::kExamples, .max_record_weight = 3});
  for (const Loss loss : {Loss::kOneVsRest, Loss::kSquared, kSoftmax})
    cases.push_back({.loss = loss,
                     .classes = 3,
                     .clipping = Clipping::kExamples,
                     .class_weights = three,
                     .max_record_weight = 1.7});
  // An adaptive clip at both ends and between: where it shortens all and where it shortens nothing.
  for (const Form form : {Form::kBulk, Form::kLatency}) {
    for (const int at : {-kClipReach, -50, 0}) cases.push_back({.classes = 3, .form = form, .clip_at = at});
    cases.push_back({.classes = 2, .form = form, .clip = 0.1, .clip_at = kClipReach});
  }
  cases.push_back({.loss = kSoftmax, .classes = 3, .fraction_bits = 12, .clip = 1, .clip_at = -kClipReach});
  cases.push_back({.loss = Loss::kSquared, .classes = 2, .row_fraction_bits = 8, .clip_at = -100});
  cases.push_back({.classes = 2, .truncation = kExact, .class_weights = two, .clip_at = 3});
  return cases;
}

constexpr int kGenerations = 60;

mpc::AdditiveShare LogitsOf(mpc::Context& party, const StepPlan& plan, const Batch& batch,
                            const RingMatrix& weights) {
  return BatchLogits(party, batch, {InsecureDeal(party, weights), plan.settings.fraction_bits});
}

/// The gradient sum of the real step without noise of one batch, all rows with the same weights, opened.
RingMatrix SumOf(const StepPlan& plan, const RingMatrix& encoded, const RingMatrix& weights) {
  return RunParties(Seed{9}, [&](mpc::Context& party) {
    const Batch batch = InItsBits(plan, ToBatch(plan, InsecureDeal(party, encoded)));
    const mpc::AdditiveShare logits = LogitsOf(party, plan, batch, weights);
    const mpc::FixedShare errors = PredictionErrors(party, plan, batch, logits);
    const mpc::FixedShare clipped = ClipPerExample(party, plan, batch, errors);
    return RevealedSums(party, plan, SumGradients(party, batch, clipped));
  })[0];
}

// A group of k rows, each the worst that is found: the sum of what they add is within k times the
// certificate, and beyond that of k - 1 rows.
TEST(GroupSensitivity, IsThatOfItsRowsTogether) {
  constexpr std::int64_t kRows = 4;
  for (const Form form : {Form::kBulk, Form::kLatency}) {
    for (const Loss loss : {Loss::kOneVsRest, Loss::kSquared}) {
      const SearchCase one{.loss = loss, .classes = 3, .form = form};
      SensitivitySearch search(PlanOf(one), 1);
      const Candidate worst = search.Climb(kGenerations);
      TrainingSettings settings = SettingsOf(one);
      settings.groups = true;
      settings.group_rows = kRows;
      const StepPlan plan = MakeStepPlan(settings, form);
      settings.group_rows = kRows - 1;
      const StepPlan smaller = MakeStepPlan(settings, form);
      OwnRecords own{.x = worst.x.replicate(kRows, 1), .y = std::vector<int>(kRows, worst.label)};
      const RingMatrix sum = SumOf(plan, EncodeRecords(plan, own, AllRows(own), kRows), worst.weights);
      EXPECT_TRUE(WithinCertificate(plan, SquaredNorm(sum))) << ShareOfCertificate(plan, SquaredNorm(sum));
      EXPECT_FALSE(WithinCertificate(smaller, SquaredNorm(sum)));
    }
  }
}

class SensitivityTest : public testing::TestWithParam<SearchCase> {};

// What is searched are products of rows modulo 2^k, as trainings have them; published clipping takes words,
// and so do the largest fraction bits, of which some sums have no room in fewer.
TEST_P(SensitivityTest, HasNarrowRows) {
  const SearchCase& one = GetParam();
  EXPECT_TRUE(HasNarrowRows(PlanOf(one)) || one.clipping == Clipping::kPublished || one.fraction_bits >= 20);
}

TEST_P(SensitivityTest, IsNeverExceededAndComesWithinFivePercentOfTheLargestThatIsFound) {
  const StepPlan plan = PlanOf(GetParam());
  SensitivitySearch search(plan, 1);
  const dp::Uint256 largest = search.Climb(kGenerations).squared_norm;
  EXPECT_TRUE(WithinCertificate(plan, largest)) << ShareOfCertificate(plan, largest);
  EXPECT_TRUE(WithinFivePercent(plan, largest)) << ShareOfCertificate(plan, largest);
}

/// Weights of the ring's largest and smallest numbers, of its quarter points, and of random words.
std::vector<RingMatrix> EdgeWeights(const StepPlan& plan, Index count) {
  const Index rows = plan.settings.features + 1;
  const std::array<Word, 4> edges{Word{1} << 63, (Word{1} << 63) - 1, Word{1} << 62, Word{3} << 62};
  std::vector<RingMatrix> weights;
  for (Index k = 0; k < count; ++k) {
    RingMatrix random = RandomWords(static_cast<std::uint64_t>(k + 1), rows, plan.columns);
    if (k % 3 != 0) {
      for (Index j = 0; j < random.size(); ++j) random.data()[j] = edges[random.data()[j] % edges.size()];
    }
    weights.push_back(std::move(random));
  }
  weights[1].setConstant(edges[0]);
  weights[2].setConstant(edges[1]);
  return weights;
}

TEST_P(SensitivityTest, HoldsForWeightsAtTheEdgesOfTheRing) {
  const StepPlan plan = PlanOf(GetParam());
  constexpr Index kRows = 100;
  const OwnRecords records = MakeRecords(plan.settings, 2, kRows);
  const RingMatrix encoded = EncodeRecords(plan, records, AllRows(records), kRows);
  const RingMatrix sums = Contributions(plan, Seed{1}, encoded, EdgeWeights(plan, kRows));
  bool any = false;
  for (Index row = 0; row < kRows; ++row) {
    const dp::Uint256 squared = SquaredNorm(sums.row(row));
    any = any || squared > 0;
    EXPECT_TRUE(WithinCertificate(plan, squared))
        << "row " << row << ": " << ShareOfCertificate(plan, squared);
  }
  EXPECT_TRUE(any);
}

TEST_P(SensitivityTest, LeavesNothingForPaddingRows) {
  const StepPlan plan = PlanOf(GetParam());
  constexpr Index kRows = 32;
  const OwnRecords records = MakeRecords(plan.settings, 2, kRows);
  const RingMatrix encoded = EncodeRecords(plan, records, std::vector<std::int64_t>(kRows, kPadding), kRows);
  const RingMatrix sums = Contributions(plan, Seed{2}, encoded, EdgeWeights(plan, kRows));
  EXPECT_EQ(SquaredNorm(sums), 0);
}

/// The opened gradient sum of a whole batch, as DpSgdStep has it before the noise.
RingMatrix GradientSum(const StepPlan& plan, Seed seed, const RingMatrix& encoded,
                       const RingMatrix& weights) {
  return RunParties(seed, [&](mpc::Context& party) {
    const Batch batch = InItsBits(plan, ToBatch(plan, InsecureDeal(party, encoded)));
    const mpc::FixedShare errors =
        PredictionErrors(party, plan, batch, LogitsOf(party, plan, batch, weights));
    if (plan.settings.clipping == Clipping::kPublished)
      return protocols::Reveal(party, SumPublishedGradients(party, plan, batch, errors),
                               protocols::ReleaseReason::kTest);
    const auto clipped = plan.settings.adaptive ? ClipAdaptively(party, plan, batch, errors, 0).errors
                                                : ClipPerExample(party, plan, batch, errors);
    return RevealedSums(party, plan, SumGradients(party, batch, clipped));
  })[0];
}

/// So that what the search measures row by row is what the step adds up. With the same keys the coins are the
/// same; padding rows are among the others.
TEST_P(SensitivityTest, IsOfThePartsThatTheGradientSumConsistsOf) {
  const StepPlan plan = PlanOf(GetParam());
  constexpr Index kRows = 24;
  const OwnRecords records = MakeRecords(plan.settings, 3, kRows);
  std::vector<std::int64_t> rows = AllRows(records);
  rows[0] = rows[11] = rows[23] = kPadding;
  const RingMatrix encoded = EncodeRecords(plan, records, rows, kRows);
  const RingMatrix weights =
      RandomSigned(4, plan.settings.features + 1, plan.columns, plan.settings.fraction_bits);
  const RingMatrix parts = Contributions(plan, Seed{3}, encoded, std::vector<RingMatrix>(kRows, weights));
  const RingMatrix sum = GradientSum(plan, Seed{3}, encoded, weights);
  EXPECT_TRUE((mpc::Reshaped(sum, 1, sum.size()) == parts.colwise().sum()).all());
  EXPECT_GT(SquaredNorm(parts), 0);
}

/// The certificate is for one record: the same record twice moves the sum by up to twice as much, and the
/// checker says so.
TEST_P(SensitivityTest, IsExceededByARecordThatIsEnteredTwice) {
  const StepPlan plan = PlanOf(GetParam());
  SensitivitySearch search(plan, 5);
  const Candidate& largest = search.Climb(kGenerations);
  OwnRecords records;
  records.x = largest.x;
  records.y = {largest.label};
  if (plan.settings.max_record_weight) records.weights = {largest.own_weight};
  const RingMatrix encoded = EncodeRecords(plan, records, {0, 0, kPadding}, 3);
  // The largest of several: where logits are beyond the truncation's range, as these may be, the sign of a
  // clamped prediction is by chance in each column, and two of opposite sign cancel.
  dp::Uint256 squared = 0;
  for (std::uint8_t seed = 4; seed < 104 && ShareOfCertificate(plan, squared) <= 1.8; ++seed) {
    squared = std::max(squared, SquaredNorm(GradientSum(plan, Seed{seed}, encoded, largest.weights)));
  }
  EXPECT_FALSE(WithinCertificate(plan, squared));
  EXPECT_GT(ShareOfCertificate(plan, squared), 1.8);
  EXPECT_LE(ShareOfCertificate(plan, squared), 2);
}

INSTANTIATE_TEST_SUITE_P(Models, SensitivityTest, testing::ValuesIn(AllCases()),
                         [](const auto& info) { return NameOf(info.param); });

/// A planted fault, and a case that shows it.
struct Fault {
  std::string name;
  SearchCase where;
  std::function<void(StepPlan&)> change_plan;                ///< after Delta is fixed
  std::function<void(const StepPlan&, RingMatrix&)> tamper;  ///< with what owners input
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

void KeepPlan(StepPlan&) {}
void KeepInput(const StepPlan&, RingMatrix&) {}

/// Every factor of the clip table 1 % larger.
void RaiseTable(StepPlan& plan) {
  for (auto& piece : plan.clip.pieces.coefficients) {
    for (std::int64_t& coefficient : piece) coefficient += coefficient / 100;
  }
}

std::vector<Fault> AllFaults() {
  const auto norms = [](RingMatrix& encoded) { return encoded.rightCols(1); };
  return {
      {"table_in_bulk_form_off_by_one_percent", {.form = Form::kBulk}, RaiseTable, KeepInput},
      {"table_in_latency_form_off_by_one_percent", {.form = Form::kLatency}, RaiseTable, KeepInput},
      // At 24 bits squared norms of rows have 9 and a unit is a thousandth; at 16 bits it drowns in the
      // rounding that is charged.
      {"row_norm_one_unit_too_small",
       {.classes = 3, .form = Form::kLatency, .fraction_bits = 24},
       KeepPlan,
       [norms](const StepPlan&, RingMatrix& encoded) { norms(encoded) -= 1; }},
      {"row_norm_without_the_bias",
       {},
       KeepPlan,
       [norms](const StepPlan& plan, RingMatrix& encoded) {
         norms(encoded) -= Word{1} << plan.row_norm_bits;
       }},
      {"row_longer_than_declared",
       {.clipping = Clipping::kExamples},
       KeepPlan,
       [](const StepPlan& plan, RingMatrix& encoded) {
         for (Index k = 0; k < plan.settings.features; ++k) {
           for (Index row = 0; row < encoded.rows(); ++row) {
             const std::int64_t value = mpc::Signed(encoded(row, k));
             encoded(row, k) = static_cast<Word>(value + value / 20);
           }
         }
       }},
      {"bias_of_two",
       {.clipping = Clipping::kExamples},
       KeepPlan,
       [](const StepPlan& plan, RingMatrix& encoded) { encoded.col(plan.settings.features) *= 2; }},
      {"two_labels_at_once",
       {.loss = Loss::kSquared, .classes = 4, .clipping = Clipping::kExamples},
       KeepPlan,
       [](const StepPlan& plan, RingMatrix& encoded) {
         encoded.middleCols(plan.settings.features + 1, 2)
             .setConstant(Word{1} << plan.settings.fraction_bits);
       }},
      {"clamp_a_little_too_wide",
       {.loss = Loss::kSquared, .clipping = Clipping::kExamples},
       [](StepPlan& plan) {
         plan.activation = MakeActivation({.loss = Loss::kSquared, .logit_bound = 2.03});
       },
       KeepInput},
      {"target_a_little_above_its_range",
       {.loss = Loss::kSquared, .clipping = Clipping::kExamples, .targets = true},
       KeepPlan,
       [](const StepPlan& plan, RingMatrix& encoded) {
         const auto target = plan.settings.features + 1;
         for (Index row = 0; row < encoded.rows(); ++row) encoded(row, target) += encoded(row, target) / 10;
       }},
      // As if a row of predictions could not be further from its label than by one.
      {"softmax_takes_a_distance_of_one",
       {.loss = Loss::kSoftmax, .classes = 3, .clipping = Clipping::kExamples},
       [](StepPlan& plan) { plan.lattice_sensitivity = plan.lattice_sensitivity * 100 / 142; },
       KeepInput},
      {"exponential_that_goes_on_beyond_one",
       {.loss = Loss::kPoisson, .clipping = Clipping::kExamples},
       [](StepPlan& plan) {
         plan.activation.exponential = protocols::MakeExponentialTable(
             {.lowest = -32, .highest = 0.1, .input_bits = 16, .output_bits = 16, .accuracy_bits = 17});
       },
       KeepInput},
      {"class_weight_above_the_largest",
       {.clipping = Clipping::kExamples, .class_weights = {0.5, 1}},
       [](StepPlan& plan) { plan.class_weights.of_class[0] = plan.class_weights.of_class[1] * 105 / 100; },
       KeepInput},
      {"own_weight_above_the_largest",
       {.clipping = Clipping::kExamples, .max_record_weight = 2},
       KeepPlan,
       [](const StepPlan&, RingMatrix& encoded) {
         for (Index row = 0; row < encoded.rows(); ++row) {
           Word& weight = encoded(row, encoded.cols() - 1);
           weight += weight / 20;
         }
       }},
      // As if the sum were of gradients and not of gradients over the clip.
      {"adaptive_clip_that_clips_before_it_scales",
       {.classes = 3, .clip_at = -kClipReach},
       [](StepPlan& plan) {
         plan.clip =
             protocols::MakeClipTable(plan.settings.clip * 1.5, dp::SquaredGradientBound(plan.example, 1e-3),
                                      plan.row_norm_bits + 2 * plan.settings.fraction_bits);
       },
       KeepInput},
      // As if clipped errors had as many bits as all else.
      {"rounding_of_clipped_errors_at_fraction_bits",
       {.classes = 3, .error_fraction_bits = 5},
       [](StepPlan& plan) {
         const double sensitivity =
             dp::FactorisedSensitivity(plan.example, plan.settings.clip, plan.settings.fraction_bits);
         plan.lattice_sensitivity =
             static_cast<std::uint64_t>(std::ceil(std::ldexp(sensitivity, plan.gradient_bits)));
       },
       KeepInput},
      {"published_clip_off_by_one_percent",
       {.clipping = Clipping::kPublished},
       [](StepPlan& plan) { plan.settings.clip *= 1.01; },
       KeepInput},
  };
}

class PlantedFaultTest : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFaultTest, IsFoundByTheSameSearch) {
  const Fault& fault = GetParam();
  StepPlan plan = PlanOf(fault.where);
  fault.change_plan(plan);
  SensitivitySearch search(plan, 1, [&](RingMatrix& encoded) { fault.tamper(plan, encoded); });
  const dp::Uint256 largest = search.Climb(kGenerations).squared_norm;
  EXPECT_FALSE(WithinCertificate(plan, largest)) << ShareOfCertificate(plan, largest);
}

INSTANTIATE_TEST_SUITE_P(Faults, PlantedFaultTest, testing::ValuesIn(AllFaults()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trefoil::ml
