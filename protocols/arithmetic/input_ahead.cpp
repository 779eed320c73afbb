#include "protocols/arithmetic/input_ahead.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace trefoil::protocols {

using mpc::Index;
using mpc::RingMatrix;

/// What an owner has made and sent, until the program comes to it.
class InputAhead::Made {
 public:
  explicit Made(Make make) : make_(std::move(make)) {}

  void MakeAndDeal(const mpc::Dealer& owner, const Shape& shape, const mpc::NarrowColumns& narrow) {
    mpc::Dealer::Parts parts = owner.ShareRows(shape.rows, shape.cols, make_, mpc::Purpose::kInput, narrow);
    const std::lock_guard lock(mutex_);
    made_.push_back(std::move(parts));
  }

  /// Pre: as many were made. Context::Deal returns when they are, or throws.
  mpc::Dealer::Parts Take() {
    const std::lock_guard lock(mutex_);
    Require(!made_.empty(), "InputAhead: nothing was made");
    mpc::Dealer::Parts parts = std::move(made_.front());
    made_.pop_front();
    return parts;
  }

 private:
  const Make make_;
  std::mutex mutex_;  // guards what follows
  std::deque<mpc::Dealer::Parts> made_;
};

namespace {

/// The owner deals: the next party is A, which draws its part, the previous one B, to which the rest is sent.
mpc::Roles RolesOf(int owner) {
  return {.a = (owner + 1) % net::kParties, .b = (owner + 2) % net::kParties, .dealer = owner};
}

bool IsEmpty(const Shape& shape) { return shape.rows * shape.cols == 0; }

}  // namespace

InputAhead::InputAhead(Make make, const std::array<Shape, 3>& shapes, const mpc::NarrowColumns& narrow)
    : made_(std::make_shared<Made>(std::move(make))), shapes_(shapes), narrow_(narrow) {}

InputAhead::Taken InputAhead::Take(mpc::Context& run) {
  Taken taken{.run = run, .operation = run.NextOperation(), .own = {}};
  // Everybody's before anybody's is waited for.
  for (int owner = 0; owner < net::kParties; ++owner) {
    const Shape& shape = shapes_.at(static_cast<std::size_t>(owner));
    if (IsEmpty(shape)) continue;
    run.Deal(
        taken.operation, RolesOf(owner), {.to_a = 0, .to_b = WireBytes(narrow_, shape.rows, shape.cols)},
        [made = made_, shape, narrow = narrow_](const mpc::Dealer& dealer) {
          made->MakeAndDeal(dealer, shape, narrow);
        },
        mpc::DealtBy::kTheSame);
  }
  if (!IsEmpty(shapes_.at(static_cast<std::size_t>(run.self())))) taken.own = made_->Take();
  return taken;
}

mpc::NarrowMatrix InputAhead::Component(Taken& taken, int owner, bool next) const {
  const Shape& shape = shapes_.at(static_cast<std::size_t>(owner));
  if (IsEmpty(shape)) return {};
  mpc::Context& run = taken.run;
  const mpc::Roles roles = RolesOf(owner);
  if (run.self() == owner) return std::move(next ? taken.own.of_a : taken.own.of_b);
  if ((run.self() == roles.a) == next) return {};  // A's second component and B's first
  if (next) return run.ReceiveDealt(owner, shape.rows, shape.cols, narrow_);
  return run.DrawNarrow(roles.a, mpc::Purpose::kInput, taken.operation, shape.rows, shape.cols, narrow_);
}

std::array<mpc::ArithShare, 3> InputAhead::Next(mpc::Context& run) {
  Taken taken = Take(run);
  std::array<mpc::ArithShare, 3> shares;
  for (int owner = 0; owner < net::kParties; ++owner) {
    const auto at = static_cast<std::size_t>(owner);
    const auto whole = [&](bool next) {
      RingMatrix words = Widened(Component(taken, owner, next));
      if (words.size() == 0) words = RingMatrix::Zero(shapes_[at].rows, shapes_[at].cols);
      return words;
    };
    RingMatrix own = whole(false);
    shares[at] = {std::move(own), whole(true)};
  }
  return shares;
}

std::vector<RingMatrix> InputAhead::Stacked(Taken& taken, bool next, std::span<const Index> widths,
                                            std::array<mpc::PackedMatrix, net::kParties>& packed) const {
  const Index rows = shapes_[0].rows + shapes_[1].rows + shapes_[2].rows;
  std::vector<RingMatrix> blocks;
  for (const Index width : widths) blocks.emplace_back(rows, width);
  Index row = 0;
  for (int owner = 0; owner < net::kParties; ++owner) {
    mpc::NarrowMatrix component = Component(taken, owner, next);
    const RingMatrix& words = component.whole;
    const Index height = shapes_.at(static_cast<std::size_t>(owner)).rows;
    Index column = 0;
    for (RingMatrix& block : blocks) {
      auto place = block.middleRows(row, height);
      if (words.size() == 0) {
        place.setZero();
      } else {
        place = words.middleCols(column, block.cols());
      }
      column += block.cols();
    }
    packed.at(static_cast<std::size_t>(owner)) = std::move(component.packed);
    row += height;
  }
  return blocks;
}

InputAhead::StackedRows InputAhead::NextStacked(mpc::Context& run, std::span<const Index> widths) {
  const Index columns = std::accumulate(widths.begin(), widths.end(), narrow_.packed());
  for (const Shape& shape : shapes_)
    Require(shape.rows == 0 || shape.cols == columns, "InputAhead::NextStacked: widths of all columns");
  Taken taken = Take(run);
  std::array<mpc::PackedMatrix, net::kParties> packed_own;
  std::array<mpc::PackedMatrix, net::kParties> packed_next;
  // What comes as a message first, since it is there beside its planes for a while.
  std::vector<RingMatrix> next = Stacked(taken, true, widths, packed_next);
  std::vector<RingMatrix> own = Stacked(taken, false, widths, packed_own);
  StackedRows stacked;
  for (std::size_t k = 0; k < own.size(); ++k)
    stacked.whole.emplace_back(std::move(own[k]), std::move(next[k]));
  if (narrow_.packed() == 0) return stacked;
  std::vector<mpc::PackedShare::Block> blocks;
  for (std::size_t owner = 0; owner < shapes_.size(); ++owner) {
    blocks.push_back({.rows = shapes_[owner].rows,
                      .own = std::move(packed_own[owner]),
                      .next = std::move(packed_next[owner])});
  }
  stacked.packed.emplace(narrow_.packed(), std::move(blocks));
  return stacked;
}

double InputAheadBytes(const std::array<Shape, 3>& shapes, const mpc::NarrowColumns& narrow,
                       std::int64_t ahead, int party) {
  constexpr double kWord = 8;
  double batch = 0;
  std::array<double, net::kParties> component{};  // of an owner's rows
  for (int owner = 0; owner < net::kParties; ++owner) {
    const Shape& shape = shapes.at(static_cast<std::size_t>(owner));
    if (IsEmpty(shape)) continue;
    const double packed = static_cast<double>(shape.rows * narrow.packed()) * std::ceil(narrow.width / 8.0);
    const double words = static_cast<double>(shape.rows * (shape.cols - narrow.packed())) * kWord;
    batch += (owner == party ? 2 : 1) * packed + 2 * words;
    component.at(static_cast<std::size_t>(owner)) = packed + words;
  }
  const double own = component.at(static_cast<std::size_t>(party));
  const double received = component.at(static_cast<std::size_t>(RolesOf(party).a));
  const auto later = static_cast<double>(std::max<std::int64_t>(ahead - 1, 0));
  return batch + later * (2 * own + received) + own;
}

mpc::Cost InputAheadCost(const std::array<Shape, 3>& shapes, const mpc::NarrowColumns& narrow) {
  mpc::Cost cost;
  for (int owner = 0; owner < net::kParties; ++owner) {
    const Shape& shape = shapes[static_cast<std::size_t>(owner)];
    const std::uint64_t bytes = WireBytes(narrow, shape.rows, shape.cols);
    if (bytes > 0) cost = Then(cost, mpc::Cost::Offline({{owner, (owner + 2) % net::kParties, bytes}}));
  }
  return cost;
}

}  // namespace trefoil::protocols
