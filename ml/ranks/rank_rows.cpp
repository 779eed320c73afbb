#include "ml/ranks/rank_rows.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ml/records.h"
#include "protocols/arithmetic/input_ahead.h"

namespace trefoil::ml {
namespace {

/// What a slot has beside its features.
struct SlotLabel {
  double weight = 0;
  std::int32_t label = 0;
  std::int32_t record = 0;  ///< 1 where the slot has a record; what else it has is then no part of the batch
};

std::size_t FeatureBytes(const StepPlan& plan) {
  return sizeof(float) * static_cast<std::size_t>(plan.settings.features);
}

std::size_t SlotBytes(const StepPlan& plan) { return FeatureBytes(plan) + sizeof(SlotLabel); }

/// What ranks are handed of the records in `slots`, one behind the other, each of SlotBytes.
std::vector<std::byte> PackSlots(const StepPlan& plan, const OwnRecords& own,
                                 const std::vector<std::int64_t>& slots) {
  std::vector<std::byte> packed(slots.size() * SlotBytes(plan));
  std::byte* to = packed.data();
  const auto read = RowsToRead(slots, own.rows(), static_cast<std::int64_t>(slots.size()));
  for (std::size_t k = 0; k < slots.size(); ++k, to += SlotBytes(plan)) {
    const std::int64_t row = read[k];
    if (row == kPadding) continue;
    const Eigen::RowVectorXf features = own.Row(row);
    if (!features.allFinite())  // where its number is still known
      throw DataError("record " + std::to_string(row + 1) + ": a feature is not a finite number");
    const auto at = static_cast<std::size_t>(row);
    const SlotLabel label{.weight = own.weights.empty() ? 0 : own.weights[at],
                          .label = own.y[at],
                          .record = slots[k] == kPadding ? 0 : 1};
    std::memcpy(to, features.data(), FeatureBytes(plan));
    std::memcpy(to + FeatureBytes(plan), &label, sizeof(label));
  }
  return packed;
}

/// The slots that were handed to this rank, encoded.
mpc::RingMatrix EncodeHanded(const StepPlan& plan, std::span<const std::byte> packed, std::int64_t height) {
  OwnRecords records;
  records.x.resize(height, plan.settings.features);
  std::vector<std::int64_t> rows;
  const std::byte* from = packed.data();
  for (std::int64_t k = 0; k < height; ++k, from += SlotBytes(plan)) {
    SlotLabel label;
    std::memcpy(records.x.row(k).data(), from, FeatureBytes(plan));
    std::memcpy(&label, from + FeatureBytes(plan), sizeof(label));
    records.y.push_back(label.label);
    if (plan.record_weights.largest > 0) records.weights.push_back(label.weight);
    rows.push_back(label.record == 1 ? k : kPadding);
  }
  return EncodeRecords(plan, records, rows, height);
}

/// Draws on rank 0, hands out, and encodes what this rank has of it.
class RankRows {
 public:
  RankRows(int self, const StepPlan& plan, const OwnRecords& own, mpc::Ranks& ranks, RandomStream coins)
      : self_(self),
        plan_(plan),
        own_(own),
        ranks_(ranks),
        height_(RankLimits(plan.settings, ranks.count()).at(static_cast<std::size_t>(self))),
        coins_(std::move(coins)) {}

  void OpenChannel() { channel_ = ranks_.NewChannel(); }

  /// Of the next batch.
  mpc::RingMatrix Next() {
    std::vector<std::byte> all;
    if (ranks_.rank() == 0) {
      auto drawn = DrawBatch(coins_, plan_, own_, self_);
      all = PackSlots(plan_, own_, PlaceRows(coins_, std::move(drawn), ranks_.count() * height_));
    }
    std::vector<std::byte> handed(static_cast<std::size_t>(height_) * SlotBytes(plan_));
    channel_->Scatter(all, handed);
    return EncodeHanded(plan_, handed, height_);
  }

 private:
  const int self_;
  const StepPlan& plan_;
  const OwnRecords& own_;
  mpc::Ranks& ranks_;
  const std::int64_t height_;
  std::unique_ptr<mpc::Ranks> channel_;
  RandomStream coins_;
};

class OwnerPoissonOfRank final : public BatchSource {
 public:
  OwnerPoissonOfRank(int self, const StepPlan& plan, const OwnRecords& own, mpc::Ranks& ranks,
                     RandomStream coins)
      : plan_(plan),
        rows_(self, plan, own, ranks, std::move(coins)),
        inputs_([this] { return rows_.Next(); }, RecordShapes(plan, RankLimits(plan.settings, ranks.count())),
                NarrowRows(plan)) {}

  void Share(mpc::Context&) override { rows_.OpenChannel(); }

  const Batch& Next(mpc::Context& run, int /*step*/, int /*block*/) override {
    batch_ = {};  // or two would be there at once
    batch_ = BatchOf(plan_, inputs_.NextStacked(run, BatchWidths(plan_)));
    return batch_;
  }

  [[nodiscard]] std::optional<PublicCoins> Coins() const override { return {}; }

 private:
  const StepPlan& plan_;
  RankRows rows_;
  protocols::InputAhead inputs_;
  Batch batch_{};
};

/// Every batch is all rows, in the slots that they were shared in.
class FullOfRank final : public BatchSource {
 public:
  FullOfRank(int self, const StepPlan& plan, const OwnRecords& own, mpc::Ranks& ranks, RandomStream coins)
      : plan_(plan),
        rows_(self, plan, own, ranks, std::move(coins)),
        shapes_(RecordShapes(plan, RankLimits(plan.settings, ranks.count()))) {}

  void Share(mpc::Context& party) override {
    rows_.OpenChannel();
    batch_ = ToBatch(plan_, protocols::InputEach(party, rows_.Next(), shapes_));
  }

  const Batch& Next(mpc::Context&, int /*step*/, int /*block*/) override { return batch_; }

  [[nodiscard]] std::optional<PublicCoins> Coins() const override { return {}; }

 private:
  const StepPlan& plan_;
  RankRows rows_;
  const std::array<protocols::Shape, 3> shapes_;
  Batch batch_{};
};

}  // namespace

std::array<std::int64_t, 3> RankLimits(const TrainingSettings& settings, int ranks) {
  auto limits = BatchLimits(settings);
  for (std::int64_t& rows : limits) rows = (rows + ranks - 1) / ranks;
  return limits;
}

std::unique_ptr<BatchSource> MakeRankSource(int self, const StepPlan& plan, const OwnRecords& own,
                                            mpc::Ranks& ranks, RandomStream coins) {
  Require(plan.settings.sampling == Sampling::kOwnerPoisson || plan.settings.sampling == Sampling::kFull,
          "MakeRankSource: owner-poisson or full sampling");
  if (plan.settings.sampling == Sampling::kFull)
    return std::make_unique<FullOfRank>(self, plan, own, ranks, std::move(coins));
  return std::make_unique<OwnerPoissonOfRank>(self, plan, own, ranks, std::move(coins));
}

}  // namespace trefoil::ml
