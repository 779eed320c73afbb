#pragma once
#include <array>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/error.h"
#include "mpc/ranks.h"
#include "tests/support/run_parties.h"

namespace trefoil::testing_support {

/// The ranks of one party as threads of this process: mpc::Ranks for tests.
class ThreadRanks final : public mpc::Ranks {
 public:
  /// All ranks of a party; each is used by a thread of its own.
  static std::vector<std::unique_ptr<ThreadRanks>> Make(int count) {
    const auto group = std::make_shared<Group>(count);
    std::vector<std::unique_ptr<ThreadRanks>> ranks;
    for (int rank = 0; rank < count; ++rank) ranks.emplace_back(new ThreadRanks(group, rank, 0));
    return ranks;
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int count() const override { return group_->count; }

  void Broadcast(std::span<std::byte> bytes) override {
    Meet(bytes.data(), bytes.size(), [&](const auto& from) {
      if (rank_ > 0) Copy(bytes.data(), from[0].data, from[0].size, bytes.size());
    });
  }
  void Scatter(std::span<const std::byte> all, std::span<std::byte> own) override {
    Meet(all.data(), all.size(), [&](const auto& from) {
      Require(from[0].size == own.size() * static_cast<std::size_t>(count()),
              "Scatter: a part for each rank");
      if (own.data() == from[0].data) return;  // rank 0's part, in place
      Copy(own.data(), At(from[0].data, own.size() * static_cast<std::size_t>(rank_)), own.size(),
           own.size());
    });
  }
  void Gather(std::span<const std::byte> own, std::span<std::byte> all) override {
    Meet(own.data(), own.size(), [&](const auto& from) {
      if (rank_ > 0) return;
      Require(all.size() == own.size() * from.size(), "Gather: room for each rank's part");
      for (std::size_t k = 0; k < from.size(); ++k)
        Copy(all.data() + k * own.size(), from[k].data, from[k].size, own.size());
    });
  }
  void SumAndScatter(std::span<const mpc::Word> words, std::span<mpc::Word> own) override {
    Require(words.size() == own.size() * static_cast<std::size_t>(count()),
            "SumAndScatter: a part for each rank");
    Meet(words.data(), words.size_bytes(), [&](const auto& from) {
      for (std::size_t k = 0; k < own.size(); ++k) {
        own[k] = 0;
        for (const auto& one : from)
          own[k] += static_cast<const mpc::Word*>(one.data)[own.size() * static_cast<std::size_t>(rank_) + k];
      }
    });
  }
  void GatherToAll(std::span<const mpc::Word> own, std::span<mpc::Word> all) override {
    Meet(own.data(), own.size_bytes(), [&](const auto& from) {
      Require(all.size() == own.size() * from.size(), "GatherToAll: room for each rank's part");
      for (std::size_t k = 0; k < from.size(); ++k)
        Copy(all.data() + k * own.size(), from[k].data, from[k].size, own.size_bytes());
    });
  }
  void Barrier() override {
    Meet(nullptr, 0, [](const auto&) {});
  }
  void Abort() noexcept override {
    const std::lock_guard lock(group_->mutex);
    group_->aborted = true;
    group_->changed.notify_all();
  }
  [[nodiscard]] std::unique_ptr<mpc::Ranks> NewChannel() override {
    Barrier();
    return std::unique_ptr<mpc::Ranks>(new ThreadRanks(group_, rank_, ++channels_));
  }

 private:
  struct Posted {
    const void* data = nullptr;
    std::size_t size = 0;
  };
  /// One call of all ranks after the other.
  struct Channel {
    std::vector<Posted> posted;
    int arrived = 0;
    int turn = 0;
  };
  struct Group {
    explicit Group(int ranks) : count(ranks) {}
    const int count;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<int, Channel> channels;
    bool aborted = false;
  };

  ThreadRanks(std::shared_ptr<Group> group, int rank, int channel)
      : group_(std::move(group)), rank_(rank), channel_(channel) {
    const std::lock_guard lock(group_->mutex);
    group_->channels[channel_].posted.resize(static_cast<std::size_t>(group_->count));
  }

  static const std::byte* At(const void* data, std::size_t offset) {
    return static_cast<const std::byte*>(data) + offset;
  }
  static void Copy(void* to, const void* from, std::size_t found, std::size_t expected) {
    Require(found == expected, "ThreadRanks: all ranks call with the same sizes");
    if (expected > 0) std::memcpy(to, from, expected);
  }

  /// Shows what this rank brings, takes from what all have brought, and waits until all have taken.
  template <typename Take>
  void Meet(const void* data, std::size_t size, Take take) {
    std::unique_lock lock(group_->mutex);
    Channel& channel = group_->channels[channel_];
    channel.posted[static_cast<std::size_t>(rank_)] = {data, size};
    WaitForAll(lock, channel);
    take(channel.posted);
    WaitForAll(lock, channel);
  }

  void WaitForAll(std::unique_lock<std::mutex>& lock, Channel& channel) {
    if (group_->aborted) throw NetworkError(-1, "a rank of this party has failed");
    const int turn = channel.turn;
    if (++channel.arrived == group_->count) {
      channel.arrived = 0;
      ++channel.turn;
      group_->changed.notify_all();
    }
    group_->changed.wait_for(lock, kPartyPatience, [&] { return channel.turn != turn || group_->aborted; });
    // Where all have come it is over, whatever befalls one of them since.
    if (channel.turn == turn) throw NetworkError(-1, "a rank of this party has failed");
  }

  std::shared_ptr<Group> group_;
  const int rank_;
  const int channel_;
  int channels_ = 0;  // that were made of this one
};

/// How each rank of each party ended, [rank][party]: null, or what it threw.
using RankEnds = std::vector<std::array<std::exception_ptr, net::kParties>>;

/// Runs body(context, ranks) at all ranks of three parties, each in a thread, each rank number on transports
/// and keys of its own. A rank that fails ends its party's others and its links.
inline RankEnds EndsOfRanks(int count, Seed seed,
                            const std::function<void(mpc::Context&, mpc::Ranks&)>& body) {
  std::array<std::vector<std::unique_ptr<ThreadRanks>>, net::kParties> parties;
  for (auto& ranks : parties) ranks = ThreadRanks::Make(count);
  RankEnds ends(static_cast<std::size_t>(count));
  std::vector<std::thread> lanes;
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    lanes.emplace_back([&, rank] {
      const auto keys = Seed{static_cast<std::uint8_t>(seed.value + 11 * rank)};
      ends[rank] = EndsOver(
          net::MakeLocalTransports(kPartyPatience), [&](int self) { return InsecurePrss(keys, self); },
          [&](mpc::Context& context) {
            auto& ranks = *parties[static_cast<std::size_t>(context.self())][rank];
            try {
              body(context, ranks);
            } catch (...) {
              ranks.Abort();
              throw;
            }
          });
    });
  }
  for (auto& lane : lanes) lane.join();
  return ends;
}

/// The same of a body that is not to fail: rethrows what a rank threw.
inline void RunRanks(int count, Seed seed, const std::function<void(mpc::Context&, mpc::Ranks&)>& body) {
  for (const auto& lane : EndsOfRanks(count, seed, body)) {
    for (const auto& end : lane) {
      if (end) std::rethrow_exception(end);
    }
  }
}

}  // namespace trefoil::testing_support
