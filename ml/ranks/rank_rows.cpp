#include "ml/ranks/rank_rows.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ml/ranks/memory.h"
#include "ml/records.h"

namespace trefoil::ml {
namespace {

/// What a slot has beside its features.
struct SlotLabel {
  double weight = 0;
  std::int32_t label = 0;
  std::int32_t record = 0;  ///< 1 where the slot has a record; what else it has is then no part of the batch
};

/// What is handed out.
struct Slots {
  decltype(OwnRecords::x) features;
  std::vector<SlotLabel> labels;

  Slots(std::int64_t count, mpc::Index columns)
      : features(count, columns), labels(static_cast<std::size_t>(count)) {}
};

/// Fetches a record that is read soon: records lie apart in memory, and each would be waited for.
void Fetch(const OwnRecords& own, std::int64_t record) {
  if (own.stored || record == kPadding) return;
  constexpr mpc::Index kLine = 64 / sizeof(float);
  const float* features = own.x.row(record).data();
  for (mpc::Index k = 0; k < own.x.cols(); k += kLine) __builtin_prefetch(features + k);
}

/// Where its number is still known.
template <typename Features>
void RequireFinite(const Features& features, std::int64_t record) {
  // A sum of zeros but for what is not finite: allFinite() would take as long as a copy.
  if (!((features.array() * 0).sum() == 0))
    throw DataError("record " + std::to_string(record + 1) + ": a feature is not a finite number");
}

/// The features of a record, without a copy in between.
void ReadFeatures(const OwnRecords& own, std::int64_t record, std::span<float> out) {
  if (own.stored) {
    own.stored->read(record, out);
    RequireFinite(Eigen::Map<const Eigen::RowVectorXf>(out.data(), static_cast<mpc::Index>(out.size())),
                  record);
  } else {
    std::copy_n(own.x.row(record).data(), out.size(), out.begin());
  }
}

/// The records that are in slots from `first` on, and others that are read for padding; those before are
/// nothing. Features in memory are not looked at.
Slots ReadSlots(const StepPlan& plan, const OwnRecords& own, const BatchSlots& batch, std::size_t first) {
  const auto& [rows, read] = batch;
  Slots slots(static_cast<std::int64_t>(rows.size()), plan.settings.features);
  for (std::size_t k = first; k < rows.size(); ++k) {
    if (k + 1 < rows.size()) Fetch(own, read[k + 1]);
    auto features = slots.features.row(static_cast<mpc::Index>(k));
    if (read[k] == kPadding) {
      features.setZero();  // it is sent
      continue;
    }
    ReadFeatures(own, read[k], {features.data(), static_cast<std::size_t>(features.size())});
    const auto at = static_cast<std::size_t>(read[k]);
    slots.labels[k] = {.weight = own.weights.empty() ? 0 : own.weights[at],
                       .label = own.y[at],
                       .record = rows[k] == kPadding ? 0 : 1};
  }
  return slots;
}

/// Draws on rank 0, hands out, and encodes what this rank has of it.
class HandedBatches final : public OwnBatches {
 public:
  HandedBatches(int self, const StepPlan& plan, const OwnRecords& own, mpc::Ranks& ranks, RandomStream coins)
      : self_(self),
        plan_(plan),
        own_(own),
        ranks_(ranks),
        height_(RankLimits(plan.settings, ranks.count()).at(static_cast<std::size_t>(self))),
        coins_(std::move(coins)) {
    if (ranks.rank() == 0) return;
    const auto slots = static_cast<std::size_t>(height_);
    handed_ = {.x = {height_, plan.settings.features}, .y = std::vector<int>(slots)};
    if (plan.record_weights.largest > 0) handed_.weights.resize(slots);
    labels_.resize(slots);
    slots_.rows.resize(slots);
    slots_.read.resize(slots);
    std::iota(slots_.read.begin(), slots_.read.end(), 0);
  }

  void Open() override { channel_ = ranks_.NewChannel(); }

  void Next() override {
    if (ranks_.rank() == 0) return DealOut();
    channel_->Scatter({}, Memory(handed_.x));
    channel_->Scatter({}, Memory(labels_));
    for (std::size_t k = 0; k < labels_.size(); ++k) {
      handed_.y[k] = labels_[k].label;
      if (!handed_.weights.empty()) handed_.weights[k] = labels_[k].weight;
      slots_.rows[k] = labels_[k].record == 1 ? slots_.read[k] : kPadding;
    }
  }

  mpc::RingMatrix Rows(mpc::Index first, mpc::Index count) override {
    return EncodeRecords(plan_, ranks_.rank() == 0 ? own_ : handed_, slots_, first, count);
  }

 private:
  /// Its own slots it encodes where the records are, without the copies that others' take.
  void DealOut() {
    RequireFiniteTable();
    auto rows = PlaceRows(coins_, DrawBatch(coins_, plan_, own_, self_), ranks_.count() * height_);
    slots_ = BatchSlots(std::move(rows), own_.rows());
    Slots all = ReadSlots(plan_, own_, slots_, static_cast<std::size_t>(height_));
    const auto scatter = [&](std::span<std::byte> parts) {
      channel_->Scatter(parts, parts.first(parts.size() / static_cast<std::size_t>(ranks_.count())));
    };
    scatter(Memory(all.features));
    scatter(Memory(all.labels));
  }

  /// Once for records in memory, which stay as they are: at each step it would take as long as their copies.
  void RequireFiniteTable() {
    if (!std::exchange(looked_at_, true) && !own_.stored) {
      for (std::int64_t record = 0; record < own_.rows(); ++record) RequireFinite(own_.x.row(record), record);
    }
  }

  const int self_;
  const StepPlan& plan_;
  const OwnRecords& own_;
  mpc::Ranks& ranks_;
  const std::int64_t height_;
  std::unique_ptr<mpc::Ranks> channel_;
  RandomStream coins_;
  bool looked_at_ = false;         ///< rank 0: whether records in memory are known to be finite
  BatchSlots slots_;               ///< rank 0: of all ranks, its own first; the others: of `handed_`
  OwnRecords handed_;              ///< the others: a record a slot, of the batch that was drawn last
  std::vector<SlotLabel> labels_;  ///< the others: as they came
};

}  // namespace

std::array<std::int64_t, 3> RankLimits(const TrainingSettings& settings, int ranks) {
  auto limits = BatchLimits(settings);
  for (std::int64_t& rows : limits) rows = (rows + ranks - 1) / ranks;
  return limits;
}

double HandedOutBytes(const StepPlan& plan, int party, int ranks) {
  const auto slots = (ranks - 1) * RankLimits(plan.settings, ranks).at(static_cast<std::size_t>(party));
  const auto features = static_cast<std::size_t>(plan.settings.features);
  return static_cast<double>(slots) * static_cast<double>(features * sizeof(float) + sizeof(SlotLabel));
}

std::unique_ptr<BatchSource> MakeRankSource(int self, const StepPlan& plan, const OwnRecords& own,
                                            mpc::Ranks& ranks, RandomStream coins) {
  return MakeInputSource(plan, RankLimits(plan.settings, ranks.count()),
                         std::make_unique<HandedBatches>(self, plan, own, ranks, std::move(coins)));
}

}  // namespace trefoil::ml
