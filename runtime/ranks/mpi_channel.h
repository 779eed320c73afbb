#pragma once
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpc/ranks.h"

namespace trefoil::runtime {

/// What all channels of a process share. A thread that calls MPI holds `calls`.
struct MpiState {
  std::mutex calls{};
  std::atomic<bool> ended{false};  ///< a call that would wait throws
  std::atomic<std::int64_t> waited_ns{0};
  std::atomic<std::int64_t> waiting_processor_ns{0};  ///< of waiting and of heartbeats

  std::atomic<int> party{-1};  ///< whose ranks they are

  /// Ends all calls; the first `why` stays, and the first `error`, which is this rank's own.
  void End(std::string_view why, const std::exception_ptr& error = nullptr);
  /// The error by which this rank itself has ended all calls; null where another rank has, or none was given.
  [[nodiscard]] std::exception_ptr error();
  [[noreturn]] void ThrowEnded();
  /// Throws NetworkError unless an MPI function has succeeded.
  void Check(int result, const char* function) const;

 private:
  std::mutex mutex_{};
  std::string why_{};
  std::exception_ptr error_{};
};

/// Of the calling thread, in nanoseconds.
[[nodiscard]] std::int64_t ThreadProcessorTime();

/// Ranks over a communicator of its own. A call exchanges messages of at most 4 MiB between pairs of ranks,
/// and pauses between its looks at whether they have arrived, so that waiting takes next to no processor
/// time. Scatter and Gather move each byte once; in SumAndScatter and GatherToAll each rank sends (count - 1)
/// times the bytes of `own`, which is the least possible.
class MpiChannel final : public mpc::Ranks {
 public:
  /// A copy of `parent`, made by all its ranks together.
  MpiChannel(std::shared_ptr<MpiState> state, MPI_Comm parent);

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int count() const override { return count_; }
  void Broadcast(std::span<std::byte> bytes) override;
  void Scatter(std::span<const std::byte> all, std::span<std::byte> own) override;
  void Gather(std::span<const std::byte> own, std::span<std::byte> all) override;
  void SumAndScatter(std::span<const mpc::Word> words, std::span<mpc::Word> own) override;
  void GatherToAll(std::span<const mpc::Word> own, std::span<mpc::Word> all) override;
  void Barrier() override;
  void Abort() noexcept override;
  [[nodiscard]] std::unique_ptr<mpc::Ranks> NewChannel() override;

 private:
  struct Requests;
  void Send(Requests& requests, int to, std::span<const std::byte> bytes);
  void Receive(Requests& requests, int from, std::span<std::byte> bytes);
  void Wait(Requests& requests);
  void RequireSizes(const Requests& requests, std::span<const int> indices,
                    std::span<const MPI_Status> statuses) const;
  void Withdraw(Requests& requests) noexcept;

  std::shared_ptr<MpiState> state_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int count_ = 1;
};

}  // namespace trefoil::runtime
