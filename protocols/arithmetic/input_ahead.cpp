#include "protocols/arithmetic/input_ahead.h"

#include <deque>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace trefoil::protocols {

using mpc::Index;
using mpc::RingMatrix;

/// What an owner has made and sent, until the program comes to it.
class InputAhead::Made {
 public:
  explicit Made(Make make) : make_(std::move(make)) {}

  void MakeAndDeal(const mpc::Dealer& owner, const Shape& shape) {
    RingMatrix values = make_();
    Require(values.rows() == shape.rows && values.cols() == shape.cols,
            "InputAhead: the own values have another shape than announced");
    mpc::Dealer::Parts parts = owner.Share(std::move(values), mpc::Purpose::kInput);
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

std::uint64_t BytesOf(const Shape& shape) { return 8 * static_cast<std::uint64_t>(shape.rows * shape.cols); }

}  // namespace

InputAhead::InputAhead(Make make, const std::array<Shape, 3>& shapes)
    : made_(std::make_shared<Made>(std::move(make))), shapes_(shapes) {}

std::array<mpc::ArithShare, 3> InputAhead::Next(mpc::Context& run) {
  const mpc::OperationId operation = run.NextOperation();
  const auto owners = [&](auto body) {
    for (int owner = 0; owner < net::kParties; ++owner) {
      const Shape& shape = shapes_[static_cast<std::size_t>(owner)];
      if (BytesOf(shape) > 0) body(owner, shape);
    }
  };
  // Everybody's before anybody's is waited for.
  owners([&](int owner, const Shape& shape) {
    run.Deal(
        operation, RolesOf(owner), {.to_a = 0, .to_b = BytesOf(shape)},
        [made = made_, shape](const mpc::Dealer& dealer) { made->MakeAndDeal(dealer, shape); },
        mpc::DealtBy::kTheSame);
  });
  std::array<mpc::ArithShare, 3> shares;
  for (std::size_t owner = 0; owner < shares.size(); ++owner) {
    const Shape& shape = shapes_[owner];
    if (BytesOf(shape) == 0) shares[owner] = mpc::ArithShare::Zero(shape.rows, shape.cols);
  }
  owners([&](int owner, const Shape& shape) {
    mpc::ArithShare& share = shares[static_cast<std::size_t>(owner)];
    const mpc::Roles roles = RolesOf(owner);
    const auto zero = [&shape]() -> RingMatrix { return RingMatrix::Zero(shape.rows, shape.cols); };
    if (run.self() == owner) {
      mpc::Dealer::Parts parts = made_->Take();
      share = {std::move(parts.of_b), std::move(parts.of_a)};
    } else if (run.self() == roles.a) {
      share = {run.Draw(roles.a, mpc::Purpose::kInput, operation, shape.rows, shape.cols), zero()};
    } else {
      share = {zero(), run.ReceiveWords(owner, shape.rows, shape.cols, net::Phase::kOffline)};
    }
  });
  return shares;
}

mpc::Cost InputAheadCost(const std::array<Shape, 3>& shapes) {
  mpc::Cost cost;
  for (int owner = 0; owner < net::kParties; ++owner) {
    const std::uint64_t bytes = BytesOf(shapes[static_cast<std::size_t>(owner)]);
    if (bytes > 0) cost = Then(cost, mpc::Cost::Offline({{owner, (owner + 2) % net::kParties, bytes}}));
  }
  return cost;
}

}  // namespace trefoil::protocols
