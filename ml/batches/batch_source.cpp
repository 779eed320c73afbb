#include "ml/batches/batch_source.h"

#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/secrets/random.h"
#include "ml/batches/deposited_rows.h"
#include "ml/batches/row_keys.h"
#include "ml/batches/shared_rows.h"
#include "ml/plan/public_sampling.h"
#include "ml/records.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/input_ahead.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::RingMatrix;

std::vector<std::int64_t> AllRowsOf(const OwnRecords& own) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(own.rows()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::shared_ptr<const Batch> Shared(Batch batch) { return std::make_shared<const Batch>(std::move(batch)); }

SecretKey CopyOf(const SecretKey& key) { return SecretKey(key.bytes()); }

PublicCoins CopyOf(const PublicCoins& coins) {
  return {.schedule = CopyOf(coins.schedule), .slots = CopyOf(coins.slots)};
}

/// Drawn, placed and encoded as one machine does all of it.
class DrawnBatches final : public OwnBatches {
 public:
  DrawnBatches(int self, const StepPlan& plan, const OwnRecords& own)
      : plan_(plan),
        own_(own),
        self_(self),
        height_(BatchLimits(plan.settings)[static_cast<std::size_t>(self)]) {}

  void Next() override {
    slots_ = BatchSlots(PlaceRows(coins_, DrawBatch(coins_, plan_, own_, self_), height_), own_.rows());
  }

  RingMatrix Rows(mpc::Index first, mpc::Index count) override {
    return EncodeRecords(plan_, own_, slots_, first, count);
  }

 private:
  const StepPlan& plan_;
  const OwnRecords& own_;
  const int self_;
  const std::int64_t height_;
  RandomStream coins_ = RandomStream::FromSystem();
  BatchSlots slots_;
};

using RowsOfOwners = protocols::InputAhead::StackedRows;

/// The next inputs of all owners: x packed where rows are narrow, else in words as all other parts.
RowsOfOwners NextOf(protocols::InputAhead& inputs, mpc::Context& run, const StepPlan& plan) {
  const std::vector<mpc::Index> widths = BatchWidths(plan);
  return inputs.NextStacked(run, std::span(widths).subspan(HasNarrowRows(plan) ? 1 : 0));
}

Batch AsBatch(const StepPlan& plan, RowsOfOwners rows) {
  if (!rows.packed) return BatchOf(plan, std::move(rows.whole));
  return BatchOf(plan, std::move(*rows.packed), std::move(rows.whole));
}

/// Every batch is one that owners input afresh.
class FreshSource final : public BatchSource {
 public:
  FreshSource(const StepPlan& plan, const std::array<std::int64_t, 3>& heights,
              std::unique_ptr<OwnBatches> own)
      : plan_(plan),
        own_(std::move(own)),
        inputs_([this](mpc::Index first, mpc::Index count) { return MakeRows(first, count); },
                RecordShapes(plan, heights), NarrowRows(plan)) {}

  void Share(mpc::Context&) override { own_->Open(); }

  std::shared_ptr<const Batch> Next(mpc::Context& run, int /*step*/, int /*block*/) override {
    return Shared(AsBatch(plan_, NextOf(inputs_, run, plan_)));
  }

  [[nodiscard]] std::optional<PublicCoins> Coins() const override { return {}; }

 private:
  [[nodiscard]] RingMatrix MakeRows(mpc::Index first, mpc::Index count) {
    if (first == 0) own_->Next();
    return own_->Rows(first, count);
  }

  const StepPlan& plan_;
  std::unique_ptr<OwnBatches> own_;
  protocols::InputAhead inputs_;
};

/// The rows of a data set, one matrix after the other: they are most of what a party holds, and stacking them
/// would hold them twice.
using SharedRows = std::vector<ArithShare>;

/// All rows of all owners, padded to their declared capacities. `slots` says where a row stands.
RowsOfOwners ShareOwnRows(mpc::Context& party, const StepPlan& plan, const OwnRecords& own,
                          RandomStream slots) {
  const std::int64_t capacity = plan.settings.rows[static_cast<std::size_t>(party.self())];
  const BatchSlots placed(PlaceRows(slots, AllRowsOf(own), capacity), own.rows());
  protocols::InputAhead inputs(
      [&](mpc::Index first, mpc::Index count) { return EncodeRecords(plan, own, placed, first, count); },
      RecordShapes(plan, plan.settings.rows), NarrowRows(plan));
  return NextOf(inputs, party, plan);
}

/// These of all rows, then zeros up to `height`.
RowsOfOwners RowsOf(const RowsOfOwners& all, const std::vector<std::int64_t>& rows, std::int64_t height) {
  RowsOfOwners taken;
  if (all.packed) taken.packed = RowsAt(*all.packed, rows, height);
  for (const ArithShare& part : all.whole) taken.whole.push_back(RowsAt(std::span(&part, 1), rows, height));
  return taken;
}

/// All rows, put together from the parties' columns. Every party knows the rows, so it may know their places.
SharedRows ShareOwnColumns(mpc::Context& party, const StepPlan& plan, const OwnRecords& own,
                           RandomStream slots) {
  RequireSameKeys(party, own.keys);
  const std::int64_t capacity = plan.settings.rows[0];
  const RingMatrix encoded =
      EncodeBlock(plan, party.self(), own, PlaceRows(slots, AllRowsOf(own), capacity), capacity);
  std::array<protocols::Shape, 3> shapes;
  for (int owner = 0; owner < net::kParties; ++owner)
    shapes.at(static_cast<std::size_t>(owner)) = {.rows = capacity, .cols = BlockColumns(plan, owner)};
  return {JoinBlocks(plan, protocols::InputEach(party, encoded, shapes))};
}

class PublicSource final : public BatchSource {
 public:
  PublicSource(const StepPlan& plan, const OwnRecords& own, PublicCoins coins, SharedRows deposited)
      : plan_(plan),
        own_(own),
        coins_(std::move(coins)),
        schedule_(CopyOf(coins_.schedule),
                  std::accumulate(plan.settings.rows.begin(), plan.settings.rows.end(), std::int64_t{0}),
                  SamplingRate(plan.settings), plan.settings.steps),
        data_(std::move(deposited)) {}

  void Share(mpc::Context& party) override {
    if (plan_.settings.deposited) {
      data_ = EncodeAllDeposited(party, plan_, std::move(data_), plan_.settings.rows[0]);
      return;
    }
    RandomStream slots(CopyOf(coins_.slots));
    if (plan_.settings.vertical) {
      data_ = ShareOwnColumns(party, plan_, own_, std::move(slots));
    } else {
      all_ = ShareOwnRows(party, plan_, own_, std::move(slots));
    }
  }

  std::shared_ptr<const Batch> Next(mpc::Context&, int step, int /*block*/) override {
    const std::vector<std::int64_t>& rows = schedule_.RowsOf(step);
    return Shared(all_ ? AsBatch(plan_, RowsOf(*all_, rows, plan_.batch_rows))
                       : ToBatch(plan_, RowsAt(data_, rows, plan_.batch_rows)));
  }

  [[nodiscard]] std::optional<PublicCoins> Coins() const override { return CopyOf(coins_); }

 private:
  const StepPlan& plan_;
  const OwnRecords& own_;
  PublicCoins coins_;
  PublicSchedule schedule_;
  std::optional<RowsOfOwners> all_;  ///< of owners that have whole rows of their own
  SharedRows data_;                  ///< of the others; before Share what was deposited, if anything
};

/// Every batch is all rows, in the slots that they were shared in.
class FullSource final : public BatchSource {
 public:
  FullSource(const StepPlan& plan, std::unique_ptr<FreshSource> own) : plan_(plan), own_(std::move(own)) {}
  FullSource(const StepPlan& plan, SharedRows deposited) : plan_(plan), deposited_(std::move(deposited)) {}

  void Share(mpc::Context& party) override {
    if (own_ == nullptr) {
      batch_ = Shared(BatchOfDeposited(party, plan_, std::move(deposited_)));
      return;
    }
    own_->Share(party);
    batch_ = own_->Next(party, 0, 0);
  }

  std::shared_ptr<const Batch> Next(mpc::Context&, int /*step*/, int /*block*/) override { return batch_; }

  [[nodiscard]] std::optional<PublicCoins> Coins() const override { return {}; }

 private:
  const StepPlan& plan_;
  std::unique_ptr<FreshSource> own_;  ///< null where owners deposited the rows
  SharedRows deposited_;
  std::shared_ptr<const Batch> batch_;
};

/// Every batch is one that owners drew beforehand, or all rows, block by block.
class DepositedSource final : public BatchSource {
 public:
  DepositedSource(const StepPlan& plan, const DepositedBatch& deposited)
      : plan_(plan), deposited_(deposited) {}

  void Share(mpc::Context&) override {}

  std::shared_ptr<const Batch> Next(mpc::Context& run, int step, int block) override {
    ArithShare rows = deposited_(step * plan_.blocks + block);
    Require(rows.rows() == plan_.block_rows, "DepositedSource: blocks of one height");
    if (plan_.settings.batches) rows = LiftDeposited(run, plan_, rows);
    return Shared(ToBatch(plan_, EncodeDeposited(run, plan_, rows)));
  }

  [[nodiscard]] std::optional<PublicCoins> Coins() const override { return {}; }

 private:
  const StepPlan& plan_;
  const DepositedBatch& deposited_;
};

PublicCoins DrawCoins(mpc::Context& party, const StepPlan& plan) {
  SecretKey schedule = protocols::JointSeed(party);
  return {.schedule = std::move(schedule),
          .slots = plan.settings.vertical ? protocols::JointSeed(party) : RandomKey()};
}

}  // namespace

std::array<protocols::Shape, 3> RecordShapes(const StepPlan& plan,
                                             const std::array<std::int64_t, 3>& heights) {
  std::array<protocols::Shape, 3> shapes;
  for (std::size_t owner = 0; owner < shapes.size(); ++owner)
    shapes[owner] = {.rows = heights[owner], .cols = EncodedColumns(plan)};
  return shapes;
}

std::vector<std::int64_t> DrawBatch(RandomStream& coins, const StepPlan& plan, const OwnRecords& own,
                                    int self) {
  if (plan.settings.sampling == Sampling::kFull) return AllRowsOf(own);
  const double rate = SamplingRate(plan.settings);
  const std::int64_t most = BatchLimits(plan.settings).at(static_cast<std::size_t>(self));
  return plan.settings.groups ? DrawGroups(coins, own.groups, rate, most)
                              : DrawRows(coins, own.rows(), rate, most);
}

mpc::NarrowColumns NarrowRows(const StepPlan& plan) {
  return {.columns = plan.settings.features + 1, .width = plan.row_bits};
}

std::unique_ptr<BatchSource> MakeInputSource(const StepPlan& plan, const std::array<std::int64_t, 3>& heights,
                                             std::unique_ptr<OwnBatches> own) {
  Require(plan.settings.sampling == Sampling::kOwnerPoisson || plan.settings.sampling == Sampling::kFull,
          "MakeInputSource: owner-poisson or full sampling");
  auto fresh = std::make_unique<FreshSource>(plan, heights, std::move(own));
  if (plan.settings.sampling == Sampling::kOwnerPoisson) return fresh;
  return std::make_unique<FullSource>(plan, std::move(fresh));
}

std::unique_ptr<BatchSource> MakeBatchSource(mpc::Context& party, const StepPlan& plan, const OwnRecords& own,
                                             const std::optional<PublicCoins>& coins,
                                             std::vector<ArithShare> deposited, const DepositedBatch& batch) {
  if (plan.settings.sampling == Sampling::kDeposited || plan.settings.block_rows > 0)
    return std::make_unique<DepositedSource>(plan, batch);
  if (plan.settings.sampling == Sampling::kFull && plan.settings.deposited)
    return std::make_unique<FullSource>(plan, std::move(deposited));
  if (plan.settings.sampling != Sampling::kPublic)
    return MakeInputSource(plan, BatchLimits(plan.settings),
                           std::make_unique<DrawnBatches>(party.self(), plan, own));
  return std::make_unique<PublicSource>(plan, own, coins ? CopyOf(*coins) : DrawCoins(party, plan),
                                        std::move(deposited));
}

}  // namespace trefoil::ml
