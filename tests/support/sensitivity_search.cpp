#include "tests/support/sensitivity_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ml/dpsgd/adaptive_clip.h"
#include "ml/dpsgd/hidden_layers.h"
#include "ml/dpsgd/published_clipping.h"
#include "ml/plan/step_privacy.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"

namespace trefoil::testing_support {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;

constexpr std::size_t kPopulation = 32;

ml::Batch RowOf(const ml::Batch& batch, Index row) {
  return {.x = {Rows(batch.x.ring(), row, 1), batch.x.frac_bits()},
          .y = {Rows(batch.y.ring(), row, 1), batch.y.frac_bits()},
          .squared_norms = Rows(batch.squared_norms, row, 1),
          .weights = batch.weights.rows() > 0 ? Rows(batch.weights, row, 1) : batch.weights,
          .mask_bits = batch.mask_bits.rows() > 0 ? Rows(batch.mask_bits, row, 1) : batch.mask_bits};
}

/// The row as a training has it.
ml::Batch StepRow(const ml::StepPlan& plan, const ml::Batch& batch, Index row) {
  return InItsBits(plan, RowOf(batch, row));
}

mpc::FixedShare Dealt(mpc::Context& party, const ml::StepPlan& plan, const RingMatrix& weights) {
  return {InsecureDeal(party, weights), plan.settings.fraction_bits};
}

/// Logits of row k with weights[k]: local products, one below the other.
mpc::AdditiveShare Logits(mpc::Context& party, const ml::StepPlan& plan, const ml::Batch& batch,
                          const std::vector<RingMatrix>& weights) {
  RingMatrix parts;
  for (Index row = 0; row < batch.x.rows(); ++row) {
    const auto of_row = BatchLogits(party, StepRow(plan, batch, row),
                                    Dealt(party, plan, weights[static_cast<std::size_t>(row)]));
    parts = mpc::Stacked(parts, of_row.part());
  }
  return mpc::AdditiveShare(parts);
}

/// Of a network: each row alone with its weights.
RingMatrix OpenedOfNetwork(mpc::Context& party, const ml::StepPlan& plan, const RingMatrix& encoded,
                           const std::vector<RingMatrix>& weights) {
  const ml::Batch batch = ToBatch(plan, InsecureDeal(party, encoded));
  RingMatrix parts;
  for (Index row = 0; row < batch.x.rows(); ++row) {
    const mpc::FixedShare shared = Dealt(party, plan, weights[static_cast<std::size_t>(row)]);
    const RingMatrix sum = NetworkGradient(party, plan, StepRow(plan, batch, row), shared).part();
    parts = mpc::Stacked(parts, mpc::Reshaped(sum, 1, sum.size()));
  }
  return RevealedSums(party, plan, mpc::AdditiveShare(parts));
}

/// What the low `bits` of each word say, as signed numbers.
RingMatrix SignedOf(const RingMatrix& words, int bits) {
  const int above = 64 - bits;
  return words.unaryExpr(
      [above](Word word) { return static_cast<Word>(mpc::Signed(word << above) >> above); });
}

/// With an adaptive clip also sees to it that a record moves the count beside the gradient sum by 1, and
/// padding by nothing, in the bits of a row that are known.
mpc::FixedShare Clipped(mpc::Context& party, const ml::StepPlan& plan, const ml::Batch& batch,
                        const mpc::FixedShare& errors) {
  if (!plan.settings.adaptive) return ClipPerExample(party, plan, batch, errors);
  auto clipped = ClipAdaptively(party, plan, batch, errors, 0);
  const ml::Batch known = InItsBits(plan, batch);
  const auto revealed = [&](const mpc::AdditiveShare& words) {
    return SignedOf(
        protocols::Reveal(party, protocols::Reshare(party, words), protocols::ReleaseReason::kTest),
        plan.row_bits);
  };
  const RingMatrix counted = revealed(SignedMasks(party, known, clipped.within));
  const RingMatrix masks = revealed(ToAdditive(MaskBits(known)));
  for (Index row = 0; row < masks.size(); ++row) {
    const Word magnitude = mpc::Signed(counted(row, 0)) < 0 ? Word{0} - counted(row, 0) : counted(row, 0);
    EXPECT_EQ(magnitude, masks(row, 0));
    EXPECT_TRUE(masks(row, 0) == 0 || masks(row, 0) == ClipCountSensitivity(plan.settings));
  }
  return std::move(clipped.errors);
}

RingMatrix Opened(mpc::Context& party, const ml::StepPlan& plan, const RingMatrix& encoded,
                  const std::vector<RingMatrix>& weights) {
  if (IsNetwork(plan)) return OpenedOfNetwork(party, plan, encoded, weights);
  const ml::Batch batch = ToBatch(plan, InsecureDeal(party, encoded));
  const mpc::FixedShare errors = PredictionErrors(party, plan, batch, Logits(party, plan, batch, weights));
  if (plan.settings.clipping == ml::Clipping::kPublished) {
    return protocols::Reveal(party, ClipPublishedGradients(party, plan, batch, errors),
                             protocols::ReleaseReason::kTest);
  }
  const mpc::FixedShare clipped = Clipped(party, plan, batch, errors);
  RingMatrix parts;
  for (Index row = 0; row < batch.x.rows(); ++row) {
    const mpc::FixedShare own(Rows(clipped.ring(), row, 1), clipped.frac_bits());
    const mpc::AdditiveShare sum = SumGradients(party, StepRow(plan, batch, row), own);
    parts = mpc::Stacked(parts, mpc::Reshaped(sum.part(), 1, sum.rows() * sum.cols()));
  }
  return RevealedSums(party, plan, mpc::AdditiveShare(parts));
}

dp::Uint256 SquaredSensitivity(const ml::StepPlan& plan) {
  return dp::Uint256(plan.lattice_sensitivity) * plan.lattice_sensitivity;
}

}  // namespace

RingMatrix RevealedSums(mpc::Context& party, const ml::StepPlan& plan, const mpc::AdditiveShare& sums) {
  const RingMatrix words =
      protocols::Reveal(party, protocols::Reshare(party, sums), protocols::ReleaseReason::kTest);
  return SignedOf(words, plan.update_bits);
}

dp::Uint256 SquaredNorm(const RingMatrix& words) {
  dp::Uint256 sum = 0;
  for (Index k = 0; k < words.size(); ++k) {
    const Word word = words.data()[k];
    const dp::Uint256 magnitude = mpc::Signed(word) < 0 ? Word{0} - word : word;
    sum += magnitude * magnitude;
  }
  return sum;
}

double ShareOfCertificate(const ml::StepPlan& plan, const dp::Uint256& squared_norm) {
  return std::sqrt(squared_norm.convert_to<double>()) / static_cast<double>(plan.lattice_sensitivity);
}

bool WithinCertificate(const ml::StepPlan& plan, const dp::Uint256& squared_norm) {
  return squared_norm <= SquaredSensitivity(plan);
}

bool WithinFivePercent(const ml::StepPlan& plan, const dp::Uint256& squared_norm) {
  return 400 * squared_norm >= 361 * SquaredSensitivity(plan);
}

RingMatrix Contributions(const ml::StepPlan& plan, Seed seed, const RingMatrix& encoded,
                         const std::vector<RingMatrix>& weights) {
  return RunParties(seed, [&](mpc::Context& party) { return Opened(party, plan, encoded, weights); })[0];
}

SensitivitySearch::SensitivitySearch(ml::StepPlan plan, std::uint64_t seed, Tampering tamper)
    : plan_(std::move(plan)), tamper_(std::move(tamper)), random_(seed) {
  for (std::size_t k = 0; k < kPopulation; ++k) best_.push_back(Start());
  Evaluate(best_);
}

const Candidate& SensitivitySearch::Climb(int generations) {
  const auto larger = [](const Candidate& a, const Candidate& b) { return a.squared_norm > b.squared_norm; };
  for (int generation = 0; generation < generations; ++generation) {
    std::vector<Candidate> changed;
    for (const Candidate& candidate : best_) changed.push_back(Changed(candidate));
    Evaluate(changed);
    for (std::size_t k = 0; k < kPopulation; ++k) {
      if (changed[k].squared_norm >= best_[k].squared_norm) best_[k] = std::move(changed[k]);
    }
    std::sort(best_.begin(), best_.end(), larger);
    // Now and then the smaller half starts again from the larger one.
    if (generation % 8 == 7) std::copy_n(best_.begin(), kPopulation / 2, best_.begin() + kPopulation / 2);
  }
  return best_.front();
}

Candidate SensitivitySearch::Start() {
  const auto& settings = plan_.settings;
  Candidate candidate;
  std::normal_distribution<float> normal;
  candidate.x = Eigen::RowVectorXf::NullaryExpr(settings.features, [&] { return normal(random_); });
  candidate.x *= static_cast<float>(settings.row_norm) / candidate.x.norm();
  candidate.label = DrawLabel();
  candidate.own_weight = DrawOwnWeight();
  // From weights of an ordinary size to the whole ring.
  const int bits =
      settings.fraction_bits + static_cast<int>(Below(64U - static_cast<unsigned>(settings.fraction_bits)));
  const ml::LayerShape shape = ShapeOfWeights(plan_);
  candidate.weights = RandomSigned(random_(), shape.inputs, shape.outputs, std::min(bits, 63));
  return candidate;
}

int SensitivitySearch::DrawLabel() {
  if (!plan_.settings.targets)
    return static_cast<int>(Below(static_cast<std::uint64_t>(plan_.settings.classes)));
  // A number, often at an end of its range or a step from there.
  constexpr int kLargest = 1 << ml::kTargetBits;
  const int from_end = Below(2) == 0 ? static_cast<int>(Below(2)) : static_cast<int>(Below(kLargest + 1));
  return Below(2) == 0 ? from_end : kLargest - from_end;
}

double SensitivitySearch::DrawOwnWeight() {
  const double largest = plan_.settings.max_record_weight.value_or(0);
  if (largest == 0) return 0;
  return Below(2) == 0 ? largest : largest * std::ldexp(static_cast<double>(Below(1U << 20U)), -20);
}

void SensitivitySearch::ChangeRow(Candidate& candidate) {
  const auto row_norm = static_cast<float>(plan_.settings.row_norm);
  std::normal_distribution<float> normal;
  const float step = std::ldexp(row_norm, -static_cast<int>(Below(20)));
  candidate.x(static_cast<Index>(Below(static_cast<std::uint64_t>(candidate.x.size())))) +=
      step * normal(random_);
  if (Below(2) == 0 || candidate.x.norm() > row_norm) candidate.x *= row_norm / candidate.x.norm();
}

void SensitivitySearch::ChangeWeights(Candidate& candidate) {
  static constexpr std::array<Word, 6> kEdges{
      0, Word{1} << 63, (Word{1} << 63) - 1, Word{1} << 62, Word{3} << 62, 1};
  Word& weight = candidate.weights.data()[Below(static_cast<std::uint64_t>(candidate.weights.size()))];
  switch (Below(4)) {
    case 0:
      weight = kEdges[Below(kEdges.size())];
      break;
    case 1:
      weight = random_();
      break;
    default:
      weight += (Below(2) == 0 ? Word{1} : ~Word{0})
                << Below(static_cast<std::uint64_t>(plan_.settings.fraction_bits) + 5);
  }
}

Candidate SensitivitySearch::Changed(Candidate candidate) {
  switch (Below(8)) {
    case 0:
      candidate.label = DrawLabel();
      break;
    case 1:
      candidate.own_weight = DrawOwnWeight();
      ChangeRow(candidate);
      break;
    case 2:
      ChangeRow(candidate);
      break;
    case 3:
      ChangeRow(candidate);
      ChangeWeights(candidate);
      break;
    default:
      ChangeWeights(candidate);
  }
  return candidate;
}

void SensitivitySearch::Evaluate(std::vector<Candidate>& candidates) {
  const auto count = static_cast<Index>(candidates.size());
  ml::OwnRecords records;
  records.x.resize(count, plan_.settings.features);
  std::vector<RingMatrix> weights;
  for (const Candidate& candidate : candidates) {
    records.x.row(static_cast<Index>(records.y.size())) = candidate.x;
    records.y.push_back(candidate.label);
    if (plan_.settings.max_record_weight) records.weights.push_back(candidate.own_weight);
    weights.push_back(candidate.weights);
  }
  RingMatrix encoded = EncodeRecords(plan_, records, AllRows(records), count);
  if (tamper_) tamper_(encoded);
  const RingMatrix sums = Contributions(plan_, Seed{coins_++}, encoded, weights);
  for (Index k = 0; k < count; ++k) {
    candidates[static_cast<std::size_t>(k)].squared_norm = SquaredNorm(sums.row(k));
  }
}

}  // namespace trefoil::testing_support
