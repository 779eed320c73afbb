#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "mpc/ranks.h"

namespace trefoil::testing_support {

/// Other ranks, with a look before each sum, counted from 0; what that throws is thrown in its place.
class WatchedRanks final : public mpc::Ranks {
 public:
  WatchedRanks(mpc::Ranks& ranks, std::function<void(int sum)> before_sum)
      : ranks_(ranks), before_sum_(std::move(before_sum)) {}

  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int count() const override { return ranks_.count(); }
  void Broadcast(std::span<std::byte> bytes) override { ranks_.Broadcast(bytes); }
  void Scatter(std::span<const std::byte> all, std::span<std::byte> own) override {
    ranks_.Scatter(all, own);
  }
  void Gather(std::span<const std::byte> own, std::span<std::byte> all) override { ranks_.Gather(own, all); }
  void SumAndScatter(std::span<const mpc::Word> words, std::span<mpc::Word> own) override {
    before_sum_(sums_++);
    ranks_.SumAndScatter(words, own);
  }
  void GatherToAll(std::span<const mpc::Word> own, std::span<mpc::Word> all) override {
    ranks_.GatherToAll(own, all);
  }
  void Barrier() override { ranks_.Barrier(); }
  void Abort() noexcept override { ranks_.Abort(); }
  [[nodiscard]] std::unique_ptr<mpc::Ranks> NewChannel() override { return ranks_.NewChannel(); }

 private:
  mpc::Ranks& ranks_;
  std::function<void(int sum)> before_sum_;
  int sums_ = 0;
};

}  // namespace trefoil::testing_support
