#include "bench/protocol_table.h"

#include <array>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <vector>

#include "bench/model_operations.h"
#include "bench/prepare.h"
#include "bench/release_operations.h"
#include "bench/step_operations.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/dpsgd/published_clipping.h"
#include "ml/noise/noisy_counts.h"
#include "ml/noise/noisy_votes.h"
#include "ml/on_shares/evaluation.h"
#include "ml/on_shares/prediction.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/component_check.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/input_ahead.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/arithmetic/truncate.h"
#include "protocols/comparison/bit_conversion.h"
#include "protocols/comparison/equality.h"
#include "protocols/comparison/leading_bit.h"
#include "protocols/comparison/small_table.h"
#include "protocols/comparison/threshold_comparison.h"
#include "protocols/cost_model.h"
#include "protocols/functions/clip_factor.h"
#include "protocols/functions/exponential.h"
#include "protocols/functions/inverse_sqrt.h"
#include "protocols/functions/maximum.h"
#include "protocols/functions/piecewise_polynomial.h"
#include "protocols/functions/reciprocal.h"
#include "protocols/functions/relu.h"
#include "protocols/functions/sigmoid.h"
#include "protocols/functions/softmax.h"

namespace trefoil::bench {
namespace {

using mpc::Cost;
using mpc::Index;
using protocols::Form;
using protocols::Rounding;

/// One line of the table. The cost is that of `units` units.
struct Line {
  std::string protocol;
  std::string unit;
  Index units;
  Cost cost;
  std::string error;
  std::string source;
  std::string view;
};

/// As many as make every packed message whole, and every party's turns equal in a bulk of uses.
constexpr Index kElements = 960;

constexpr const char* kExact = "none";

// Sections of docs/reference/protocols.md; scripts/protocol_table.py checks that they exist.
constexpr const char* kInInput = "\"Input, reveal, multiply, AND\"";
constexpr const char* kInKeys = "\"Pseudo-random sharing and stream identifiers\"";
constexpr const char* kInSetUp = "\"Set-up of a session\"";
constexpr const char* kInTruncation = "\"Truncation\"";
constexpr const char* kInComparison = "\"Comparison and bit decomposition\"";
constexpr const char* kInThresholds = "\"Many thresholds from one key\"; Boyle 2021, fig. 1";
constexpr const char* kInBits = "\"Bit conversion and bit times value\"";
constexpr const char* kInEquality = "\"Equality of the parties' bits\"";
constexpr const char* kInPieces = "\"Piecewise polynomials\"";
constexpr const char* kInExponential = "\"Exponential\"";
constexpr const char* kInReciprocal = "\"Reciprocal\"";
constexpr const char* kInMaximum = "\"Rectifier and maximum\"";
constexpr const char* kInSoftmax = "\"Softmax\"";
constexpr const char* kInSeries = "\"Trigonometric series\"";
constexpr const char* kInClipFactor = "\"Clip factor\"; PEA, protocol 3";
constexpr const char* kInInverseSqrt = "\"Inverse square root\"; PEA, protocol 1";
constexpr const char* kInModels = "\"Evaluation, validation and prediction\"; PEA, protocol 4";
constexpr const char* kInReleases = "\"Counts, votes and classifiers\"";
constexpr const char* kInStep = "\"DP-SGD step\"; PEA, protocol 3";

constexpr const char* kSeesReshare =
    "P_(i−1) gets z_i under a part of zero of which it lacks one stream: uniform";
constexpr const char* kSeesOpening =
    "A, B: c = x + r, of r each lacks one half, and a half of the result under a stream it lacks: uniform; "
    "B also what is dealt, under a stream of A and D; D nothing";
constexpr const char* kSeesOpeningOfProduct =
    "as truncate, and D's part under a part of zero and r: uniform beside the other";
constexpr const char* kSeesKey =
    "A, B: c = x + r; one key of a comparison function whose point r the other key hides (AES under "
    "the operation's public key as a random function): corrections look uniform; D nothing";
constexpr const char* kSeesTree = "as input for A's addend, as and in each level; no bit opens";
constexpr const char* kSeesBits = "A, B: b ⊕ r; then as truncate";

/// The view of a protocol that is made of other lines' protocols.
std::string Parts(const std::string& names) { return "as " + names + ": no value opens in between"; }

/// Two digits, rounded up.
std::string UpTo(double bound) {
  const double digit = std::pow(10.0, std::floor(std::log10(bound)) - 1);
  std::ostringstream out;
  out << std::setprecision(2) << std::ceil(bound / digit) * digit;
  return out.str();
}

std::string ErrorOf(const protocols::ExponentialTable& table) {
  return UpTo(table.relative) + " · max(1, e^x) and " + UpTo(table.absolute);
}

std::vector<Line> SetUp() {
  const char* const sees = "what is sent is public";
  return {
      {"key agreement (`AgreeOnKeys`)", "session", 1, protocols::AgreeOnKeysCost(), kExact, kInKeys,
       "public keys; a pair's key is hidden from the third by X25519"},
      {"agreement on a text (`RequireSameEverywhere`)", "use", 1, protocols::RequireSameEverywhereCost(),
       kExact, kInSetUp, sees},
      {"exchange of public texts, 100 bytes each (`ExchangeTexts`)", "use", 1,
       protocols::ExchangeTextsCost({100, 100, 100}), kExact, kInSetUp, sees},
      {"barrier (`Barrier`)", "use", 1, protocols::BarrierCost(), kExact, kInSetUp, "nothing"},
      {"whether shares belong together (`RequireSharesOfOne`)", "use", 1, protocols::RequireSharesOfOneCost(),
       kExact, kInSetUp,
       "hashes of components, keyed with their streams: of the one that it lacks whether two are equal"},
      {"common coins (`JointSeed`)", "use", 1, protocols::JointSeedCost(), kExact, kInSetUp, sees},
      {"measuring the links (`MeasureLink`)", "session", 1, protocols::MeasureLinkCost(), "a measurement",
       kInSetUp, sees},
  };
}

std::vector<Line> SharingAndProducts() {
  constexpr Index n = kElements;
  return {
      {"input by P0 (`Input`)", "element", n, protocols::InputCost(0, n), kExact, kInInput,
       "P1 gets x − F_0: uniform; P2 nothing"},
      {"input by all (`InputEach`)", "element of each", n,
       protocols::InputEachCost({{{n, 1}, {n, 1}, {n, 1}}}), kExact, kInInput, "as input"},
      {"sum of all inputs (`InputSum`)", "element", n, protocols::InputSumCost(n), kExact, kInInput,
       "as input"},
      {"input by all, ahead (`InputAhead`)", "element of each", n,
       protocols::InputAheadCost({{{n, 1}, {n, 1}, {n, 1}}}), kExact, kInInput,
       "P_{j-1} gets x − F_{j+1}: uniform; P_{j+1} nothing"},
      {"input of bits by P0 (`InputBits`)", "bit", n, protocols::InputBitsCost(0, 1, n), kExact, kInInput,
       "as input"},
      {"input of bits by all (`InputEachBits`)", "bit of each", n, protocols::InputEachBitsCost(1, {n, n, n}),
       kExact, kInInput, "as input"},
      {"reveal to all (`Reveal`)", "element", n, protocols::RevealCost(n), kExact, "Araki 2016, 3",
       "the value, which is the purpose"},
      {"reveal to P0 (`RevealTo`)", "element", n, protocols::RevealToCost(0, n), kExact, "Araki 2016, 3",
       "P0 the value; the others nothing"},
      {"reveal to P0 and P1 (`RevealToEach`)", "element", n, protocols::RevealToEachCost({0, 1}, n), kExact,
       "Araki 2016, 3", "P0 and P1 the value; P2 nothing"},
      {"reveal bits (`RevealBits`)", "bit", n, protocols::RevealBitsCost(1, n), kExact, "Araki 2016, 3",
       "the bits, which is the purpose"},
      {"re-share (`Reshare`)", "element", n, protocols::ReshareCost(n), kExact, "Araki 2016, 3",
       kSeesReshare},
      {"multiply (`Multiply`)", "element", n, protocols::MultiplyCost(n), kExact, "Araki 2016, 3",
       kSeesReshare},
      {"matrix product (`MatMul`)", "element of the result", n, protocols::MatMulCost(n, 1), kExact,
       "Araki 2016, 3", kSeesReshare},
      {"and, and sums of several (`And`, `AndSums`)", "bit", n, protocols::AndCost(1, n), kExact,
       "Araki 2016, 3", kSeesReshare},
      {"truncate (`Truncate`)", "element", n, protocols::TruncateCost(n), "under 1 unit, unbiased",
       kInTruncation, kSeesOpening},
      {"truncate a product (`MultiplyTruncate`, `MatMulTruncate`)", "element", n,
       protocols::TruncateProductCost(n), "under 1 unit, unbiased", kInTruncation, kSeesOpeningOfProduct},
      {"truncate exactly, by 16 bits", "element", n,
       protocols::TruncateCost(n, kFractionBits, Rounding::kExact), "always down, under 1 unit",
       kInTruncation, kSeesKey},
      {"truncate a product exactly, by 16 bits", "element", n,
       protocols::TruncateProductCost(n, kFractionBits, Rounding::kExact), "always down, under 1 unit",
       kInTruncation, kSeesKey},
  };
}

std::vector<Line> ComparisonsAndBits() {
  constexpr Index n = kElements;
  return {
      {"sign, comparison, bulk (`Msb`, `LessThan`, `LessThanZero`)", "element of 64 bits", n,
       protocols::MsbCost(n), kExact, kInComparison, kSeesTree},
      {"the same, 24 bits", "element", n, protocols::MsbCost(n, 24), kExact, kInComparison, kSeesTree},
      {"comparison with thresholds, latency (`BelowThresholds`)", "element of 64 bits, 1 threshold", n,
       protocols::BelowThresholdsCost(n, 1), kExact, kInThresholds, kSeesKey},
      {"the same, 24 bits, 16 thresholds", "element", n, protocols::BelowThresholdsCost(n, 16, 24), kExact,
       kInThresholds, kSeesKey},
      {"bit decomposition (`BitDecompose`)", "element of 64 bits", n, protocols::BitDecomposeCost(n), kExact,
       "\"Comparison and bit decomposition\"; Sklansky 1960", kSeesTree},
      {"suffix or (`SuffixOr`)", "element of 64 bits", n, protocols::SuffixOrCost(64, n), kExact,
       "\"Comparison and bit decomposition\"; PEA, protocol 1", kSeesReshare},
      {"equality of what the parties hold (`EqualEverywhere`)", "item of 128 bits", n,
       protocols::EqualEverywhereCost(128, n), kExact, kInEquality,
       "as input, as and in each level; no bit opens"},
      {"bit to number (`BitToArith`)", "bit", n, protocols::BitToArithCost(1, n), kExact, kInBits, kSeesBits},
      {"bit times number (`BitTimes`, `Select`)", "element", n, protocols::BitTimesCost(n), kExact, kInBits,
       kSeesBits},
      {"maximum of a row, bulk (`RowMaximum`)", "row of 10", n, protocols::RowMaximumCost(n, kClasses),
       kExact, kInMaximum, Parts("table look-up (bulk), multiply")},
      {"maximum of a row, latency", "row of 10", n,
       protocols::RowMaximumCost(n, kClasses, 64, Form::kLatency), kExact, kInMaximum,
       Parts("table look-up (latency), multiply")},
      {"place of the maximum, bulk (`RowArgMax`)", "row of 10", n, protocols::RowArgMaxCost(n, kClasses),
       kExact, kInMaximum, Parts("maximum of a row (bulk), multiply")},
      {"place of the maximum, latency", "row of 10", n,
       protocols::RowArgMaxCost(n, kClasses, 64, Form::kLatency), kExact, kInMaximum,
       Parts("maximum of a row (latency), multiply")},
  };
}

std::vector<Line> PiecewiseFunctions() {
  constexpr Index n = kElements;
  const auto pieces = EightLinearPieces();
  const auto leading_bits = SixteenLeadingBits();
  const auto exponential = protocols::MakeExponentialTable({});
  constexpr protocols::ReciprocalRange kRange{.lowest_log2 = -8, .highest_log2 = 16};
  return {
      {"table look-up, 8 pieces of degree 1, bulk (`LookUp`)", "element", n, protocols::LookUpCost(pieces, n),
       kExact, kInPieces, Parts("comparison (bulk), bit to number")},
      {"the same, latency", "element", n, protocols::LookUpCost(pieces, n, Form::kLatency), kExact, kInPieces,
       kSeesKey},
      {"look-up by the low bits, 1 table of 256 (`LookUpByLowBits`)", "element", n,
       protocols::LookUpByLowBitsCost(TableOf256(), n), kExact, "\"Small tables\"", kSeesOpening},
      {"look-up by the leading bit, 1 table of 16, bulk (`LookUpByLeadingBit`)", "element", n,
       protocols::LookUpByLeadingBitCost(leading_bits, n), kExact, "\"Inverse square root\"",
       Parts("bit decomposition, suffix or, bit to number")},
      {"the same, latency", "element", n, protocols::LookUpByLeadingBitCost(leading_bits, n, Form::kLatency),
       "a coin within 2^−10 below a power", "\"Inverse square root\"", kSeesKey},
      {"piecewise polynomial, 8 pieces of degree 1, bulk (`Evaluate`)", "element", n,
       protocols::EvaluateCost(pieces, n), "the table's, and 1 unit a degree", kInPieces,
       Parts("table look-up (bulk), truncate a product")},
      {"the same, latency", "element", n, protocols::EvaluateCost(pieces, n, Form::kLatency),
       "the table's, and 1 unit a degree", kInPieces, Parts("table look-up (latency), truncate a product")},
      {"rectifier, bulk (`Relu`)", "element", n, protocols::ReluCost(n), kExact, kInMaximum,
       Parts("table look-up (bulk), multiply")},
      {"rectifier, latency", "element", n, protocols::ReluCost(n, 64, Form::kLatency), kExact, kInMaximum,
       Parts("table look-up (latency), multiply")},
      {"exponential on [−32, 0], bulk (`Exponential`)", "element", n,
       protocols::ExponentialCost(exponential, n), ErrorOf(exponential), kInExponential,
       Parts("piecewise polynomial (bulk)")},
      {"the same, latency", "element", n, protocols::ExponentialCost(exponential, n, Form::kLatency),
       "the same", kInExponential, Parts("piecewise polynomial (latency)")},
      {"reciprocal on [2^−8, 2^16], bulk (`Reciprocal`)", "element", n,
       protocols::ReciprocalCost(n, kFractionBits, kRange), "1.002 units and 1e−8", kInReciprocal,
       Parts("look-up by the leading bit (bulk), truncate a product")},
      {"the same, latency", "element", n, protocols::ReciprocalCost(n, kFractionBits, kRange, Form::kLatency),
       "the same", kInReciprocal, Parts("look-up by the leading bit (latency), truncate a product")},
  };
}

std::vector<Line> Activations() {
  constexpr Index n = kElements;
  const auto softmax = protocols::MakeSoftmaxTable({.classes = kClasses});
  const auto latency_softmax = protocols::MakeSoftmaxTable({.classes = kClasses, .form = Form::kLatency});
  const auto bounded_softmax = protocols::MakeSoftmaxTable({.classes = kClasses, .logit_bound = 8.0});
  const auto latency_bounded_softmax =
      protocols::MakeSoftmaxTable({.classes = kClasses, .logit_bound = 8.0, .form = Form::kLatency});
  const auto& short_series = protocols::SigmoidSeriesFor(8);
  const auto& long_series = protocols::SigmoidSeriesFor(64);
  return {
      {"softmax with a maximum, bulk (`Softmax`)", "row of 10", n, protocols::SoftmaxCost(softmax, n),
       "under 7 units; rows within √2 and 4 units of a label", kInSoftmax,
       Parts("maximum of a row, exponential, look-up by the leading bit (all bulk), truncate a product")},
      {"the same, latency", "row of 10", n, protocols::SoftmaxCost(latency_softmax, n), "the same",
       kInSoftmax,
       Parts("maximum of a row, exponential, look-up by the leading bit (all latency), truncate a product")},
      {"softmax of logits within ±8, bulk", "row of 10", n, protocols::SoftmaxCost(bounded_softmax, n),
       "under 3 units; rows within √2 and 4 units of a label", kInSoftmax,
       Parts("exponential, look-up by the leading bit (both bulk), truncate a product")},
      {"the same, latency", "row of 10", n, protocols::SoftmaxCost(latency_bounded_softmax, n), "the same",
       kInSoftmax, Parts("exponential, look-up by the leading bit (both latency), truncate a product")},
      {"sigmoid within ±8 (`Sigmoid`)", "element", n, protocols::SigmoidCost(n, kFractionBits, short_series),
       "0.005", kInSeries, kSeesOpening},
      {"sigmoid within ±64", "element", n, protocols::SigmoidCost(n, kFractionBits, long_series), "0.005",
       kInSeries, kSeesOpening},
      {"sigmoid of a product, within ±64 (`SigmoidOfProduct`)", "element", n,
       protocols::SigmoidOfProductCost(n, 2 * kFractionBits, kFractionBits, long_series), "0.005", kInSeries,
       kSeesOpeningOfProduct},
  };
}

std::vector<Line> InverseRoots() {
  constexpr Index n = kElements;
  const auto bulk_clip = protocols::MakeClipTable(0.5, 20.2, 48, Form::kBulk);
  const auto latency_clip = protocols::MakeClipTable(0.5, 20.2, 48, Form::kLatency);
  return {
      {"clip factor, C = 0.5, s ≤ 20.2, bulk (`ClipFactor`)", "element", n,
       protocols::ClipFactorCost(bulk_clip, n), "0 to 5 % below",
       "\"Clip factor\"; PEA, protocol 3; adr/0008", Parts("truncate, piecewise polynomial (bulk)")},
      {"the same, latency", "element", n, protocols::ClipFactorCost(latency_clip, n), "0 to 5 % below",
       kInClipFactor, kSeesKey},
      {"inverse square root as published (`InverseSqrtPublished`)", "element", n,
       protocols::InverseSqrtPublishedCost(n, kFractionBits), "0.009 to 0.89 % below, and rounding",
       kInInverseSqrt,
       Parts("bit decomposition, suffix or, bit to number, multiply, truncate, truncate a product")},
      {"inverse square root, bulk (`InverseSqrt`)", "element", n,
       protocols::InverseSqrtCost(n, kFractionBits), "the same", kInInverseSqrt,
       Parts("look-up by the leading bit (bulk), truncate a product")},
      {"inverse square root, latency", "element", n,
       protocols::InverseSqrtCost(n, kFractionBits, Form::kLatency), "the same", kInInverseSqrt,
       Parts("look-up by the leading bit (latency), truncate a product")},
  };
}

std::vector<Line> Steps() {
  const ml::Loss squared = ml::Loss::kSquared;
  const ml::Loss softmax = ml::Loss::kSoftmax;
  const auto line = [](const char* name, const StepKind& kind, Form form, const std::string& parts) {
    const ml::StepPlan plan = StepPlanFor({.rows = 128, .inner = 784, .cols = kClasses}, kind, form);
    return Line{name, "step", 1, DpSgdStepCost(plan, 128), "certificate", kInStep, Parts(parts)};
  };
  const StepKind published{.clipping = ml::Clipping::kPublished};
  const ml::StepPlan published_plan =
      StepPlanFor({.rows = 128, .inner = 784, .cols = kClasses}, published, Form::kBulk);
  return {
      line("DP-SGD step 128 × 784 × 10, bulk (`DpSgdStep`)", {}, Form::kBulk,
           "sigmoid of a product, re-share, multiply, clip factor (bulk), truncate a product"),
      line("the same, latency", {}, Form::kLatency,
           "sigmoid of a product, re-share, multiply, clip factor (latency), truncate a product"),
      line("the same, exact truncation, bulk", {.truncation = Rounding::kExact}, Form::kBulk,
           "sigmoid of a product, re-share, multiply, clip factor (bulk), truncate exactly, truncate a "
           "product exactly"),
      line("the same, exact truncation, latency", {.truncation = Rounding::kExact}, Form::kLatency,
           "sigmoid of a product, re-share, multiply, clip factor (latency), truncate exactly, truncate a "
           "product exactly"),
      line("the same, squared loss, bulk", {.loss = squared}, Form::kBulk,
           "truncate a product, evaluate (bulk), re-share, multiply, clip factor (bulk)"),
      line("the same, squared loss, latency", {.loss = squared}, Form::kLatency,
           "truncate a product, evaluate (latency), re-share, multiply, clip factor (latency)"),
      line("the same, softmax with a maximum, bulk", {.loss = softmax}, Form::kBulk,
           "truncate a product, softmax (bulk), re-share, multiply, clip factor (bulk)"),
      line("the same, softmax with a maximum, latency", {.loss = softmax}, Form::kLatency,
           "truncate a product, softmax (latency), re-share, multiply, clip factor (latency)"),
      line(
          "the same, a hidden layer of 32, bulk", {.hidden = true}, Form::kBulk,
          "truncate a product, look-up (bulk), sigmoid of a product, re-share, multiply, clip factor (bulk)"),
      line("the same, a hidden layer of 32, latency", {.hidden = true}, Form::kLatency,
           "truncate a product, look-up (latency), sigmoid of a product, re-share, multiply, clip factor "
           "(latency)"),
      line("the same, clipping by examples, either form", {.clipping = ml::Clipping::kExamples}, Form::kBulk,
           "sigmoid of a product, truncate a product"),
      line("the same, published clipping, bulk", published, Form::kBulk,
           "sigmoid of a product, the clipped sum below, truncate"),
      {"of which the clipped sum (`SumPublishedGradients`)", "step", 1,
       SumPublishedGradientsCost(published_plan, 128), "certificate", kInStep,
       Parts("truncate a product, inverse square root as published, comparison (bulk), bit to number, "
             "truncate, multiply")},
  };
}

std::vector<Line> Models() {
  constexpr Index kRows = 1000;
  const ml::StepPlan plan = EvaluationPlanFor({.rows = kRows, .inner = 784, .cols = 10});
  const auto prediction = [&](bool scores) {
    return PredictOnSharesCost(plan, {.client = 0, .rows = kRows, .scores = scores});
  };
  return {
      {"evaluation of 1,000 records of P0, 784 × 10 (`EvaluateOnShares`)", "record", kRows,
       EvaluateOnSharesCost(plan), kExact, kInModels,
       Parts("input, re-share, maximum (bulk), re-share, reveal")},
      {"prediction of 1,000 rows for P0: classes (`PredictOnShares`)", "row", kRows, prediction(false),
       kExact, kInModels, Parts("input, re-share, maximum (bulk), reveal to the client")},
      {"the same: scores", "row", kRows, prediction(true), kExact, kInModels,
       Parts("input, re-share, reveal to the client")},
  };
}

std::vector<Line> Releases() {
  constexpr Index kQueries = 100;
  const std::vector<int> all{0, 1, 2};
  const auto average = AverageShapeFor(kElements);
  const auto transfer = TransferPlanFor({.rows = 1000, .inner = 20, .cols = 2});
  return {
      {"noisy counts, opened to all (`OpenNoisyCounts`)", "count", kElements,
       ml::OpenNoisyCountsCost(kElements, all), kExact, kInReleases,
       "as input, re-share; the noisy counts, which is the purpose"},
      {"winners of noisy votes, 10 classes, 40 bits, opened to all (`OpenNoisyWinners`)", "query", kQueries,
       ml::OpenNoisyWinnersCost(kQueries, kClasses, kVoteWidth, all), kExact, kInReleases,
       "as re-share, maximum (bulk); the winners, which is the purpose"},
      {"whether the largest noisy vote passes, the same (`OpenAboveThreshold`)", "query", kQueries,
       ml::OpenAboveThresholdCost(kQueries, kClasses, kVoteWidth), kExact, kInReleases,
       "as maximum (bulk), re-share, comparison with thresholds; one bit, which is the purpose"},
      {"noisy sum of five classifiers, 16 noises, 24 bits (`NoisyClassifierSum`)", "weight", kElements,
       ml::NoisyClassifierSumCost(average), kExact, kInReleases,
       Parts("input, maximum (bulk), comparison with thresholds, re-share")},
      {"the same as published (`PublishedClassifierSum`)", "weight", kElements,
       ml::PublishedClassifierSumCost(average), kExact, kInReleases,
       Parts("input, maximum (bulk), re-share")},
      {"an average in shares (`AverageOfSum`)", "weight", kElements, ml::AverageOfSumCost(average),
       "under 1 unit, and 2^−12", kInReleases, Parts("truncate")},
      {"votes on 1,000 rows of 20 features, and a step (`MinimiseTransferRisk`)", "step", 1,
       ml::MinimiseTransferRiskCost(transfer), "charged as a gap", kInReleases,
       Parts("input, sigmoid of a product, truncate a product")},
  };
}

std::string PerUnit(const std::array<std::uint64_t, 3>& bytes, Index units) {
  std::ostringstream out;
  out << std::setprecision(10);
  for (std::size_t party = 0; party < bytes.size(); ++party) {
    out << (party == 0 ? "" : " / ") << static_cast<double>(bytes[party]) / static_cast<double>(units);
  }
  return out.str();
}

void Append(std::string& table, const std::vector<Line>& lines) {
  for (const Line& line : lines) {
    std::ostringstream out;
    out << "| " << line.protocol << " | " << line.unit << " | " << line.cost.rounds() << " | "
        << PerUnit(line.cost.bytes_sent(), line.units) << " | "
        << PerUnit(line.cost.bytes_offline(), line.units) << " | " << line.error << " | " << line.source
        << " | " << line.view << " |\n";
    table += out.str();
  }
}

}  // namespace

std::string ProtocolTable() {
  std::string table =
      "| protocol | unit | rounds | online bytes a unit, P0 / P1 / P2 | offline | error | source | what a "
      "party sees |\n"
      "|---|---|---|---|---|---|---|---|\n";
  Append(table, SetUp());
  Append(table, SharingAndProducts());
  Append(table, ComparisonsAndBits());
  Append(table, PiecewiseFunctions());
  Append(table, Activations());
  Append(table, InverseRoots());
  Append(table, Steps());
  Append(table, Models());
  Append(table, Releases());
  return table;
}

}  // namespace trefoil::bench
