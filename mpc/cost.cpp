#include "mpc/cost.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace trefoil::mpc {
namespace {

std::size_t Rotated(std::size_t role, int turns) {
  return (role + static_cast<std::size_t>(turns)) % net::kParties;
}

std::size_t At(int party) { return static_cast<std::size_t>(party); }

}  // namespace

Cost::Cost() {
  for (std::size_t to = 0; to < net::kParties; ++to) {
    for (std::size_t from = 0; from < net::kParties; ++from) depth_[to][from] = to == from ? 0 : kNever;
  }
}

Cost Cost::Round(std::initializer_list<Flow> flows) {
  Cost cost;
  for (const Flow& flow : flows) {
    cost.bytes_sent_[At(flow.from)] += flow.bytes;
    cost.depth_[At(flow.to)][At(flow.from)] = 1;
  }
  return cost;
}

Cost Cost::Offline(std::initializer_list<Flow> flows) {
  Cost cost;
  for (const Flow& flow : flows) {
    cost.bytes_offline_[At(flow.from)] += flow.bytes;
    cost.largest_offline_ = std::max(cost.largest_offline_, flow.bytes);
  }
  return cost;
}

Cost Cost::EachToPrevious(std::uint64_t bytes) {
  return Round({{0, 2, bytes}, {1, 0, bytes}, {2, 1, bytes}});
}

Cost Cost::EachToNext(std::uint64_t bytes) { return Round({{0, 1, bytes}, {1, 2, bytes}, {2, 0, bytes}}); }

Cost Cost::WithTurn() const {
  Cost cost = *this;
  ++cost.turns_;
  return cost;
}

int Cost::rounds() const {
  int most = 0;
  for (const auto& row : depth_) most = std::max(most, *std::max_element(row.begin(), row.end()));
  return most;
}

std::uint64_t Cost::bytes_of_all() const {
  return std::accumulate(bytes_sent_.begin(), bytes_sent_.end(), std::uint64_t{0}) +
         std::accumulate(bytes_offline_.begin(), bytes_offline_.end(), std::uint64_t{0});
}

Cost Then(const Cost& first, const Cost& second) {
  Cost sum = first;
  sum.turns_ += second.turns_;
  sum.largest_offline_ = std::max(first.largest_offline_, second.largest_offline_);
  for (auto& row : sum.depth_) row.fill(Cost::kNever);
  for (std::size_t role = 0; role < net::kParties; ++role) {
    const std::size_t party = Rotated(role, first.turns_);
    sum.bytes_sent_[party] += second.bytes_sent_[role];
    sum.bytes_offline_[party] += second.bytes_offline_[role];
    for (std::size_t via_role = 0; via_role < net::kParties; ++via_role) {
      const int later = second.depth_[role][via_role];
      if (later == Cost::kNever) continue;
      const auto& earlier = first.depth_[Rotated(via_role, first.turns_)];
      for (std::size_t from = 0; from < net::kParties; ++from) {
        if (earlier[from] == Cost::kNever) continue;
        sum.depth_[party][from] = std::max(sum.depth_[party][from], later + earlier[from]);
      }
    }
  }
  return sum;
}

Cost ThenUnturned(const Cost& first, const Cost& second) {
  Require(second.turns_ == 0, "ThenUnturned: messages without a turn");
  Cost unturned = first;
  unturned.turns_ = 0;
  Cost sum = Then(unturned, second);
  sum.turns_ = first.turns_;
  return sum;
}

Cost InOneRound(const Cost& a, const Cost& b) {
  Require(a.turns_ == 0 && b.turns_ == 0 && a.rounds() <= 1 && b.rounds() <= 1,
          "InOneRound: single rounds without a turn");
  return Cost::Together(a, b);
}

Cost Parallel(const Cost& first, const Cost& second) {
  Cost sum = Cost::Together(first, Then(Cost().WithTurn(), second));
  sum.turns_ = 2;
  return sum;
}

Cost Cost::Together(const Cost& a, const Cost& b) {
  Cost sum = a;
  sum.largest_offline_ += b.largest_offline_;
  for (std::size_t to = 0; to < net::kParties; ++to) {
    sum.bytes_sent_[to] += b.bytes_sent_[to];
    sum.bytes_offline_[to] += b.bytes_offline_[to];
    for (std::size_t from = 0; from < net::kParties; ++from) {
      sum.depth_[to][from] = std::max(sum.depth_[to][from], b.depth_[to][from]);
    }
  }
  return sum;
}

}  // namespace trefoil::mpc
