#pragma once
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "mpc/ranks.h"
#include "net/mesh/mesh.h"

namespace trefoil::runtime {

/// As whom mpirun has started this process: rank 0 of one where it has not.
struct StartedAs {
  int rank = 0;
  int count = 1;
};

/// Reads the environment, where Open MPI's mpirun says it.
[[nodiscard]] StartedAs StartedByMpirun();

/// What calls of mpc::Ranks throw where another rank, or another thread, has ended them: not the first cause
/// of a failure.
class RanksEnded : public NetworkError {
 public:
  using NetworkError::NetworkError;
};

/// How long to wait for the first cause of a RanksEnded: longer than rank 0 takes for HearLinks and its
/// links.
inline constexpr std::chrono::milliseconds kCauseComes{5000};

/// Why a party's run ends on all its ranks.
struct RankFailure {
  int rank = 0;                ///< which found it
  int code = 0;                ///< with which the program ends
  net::AbortReason reason{};   ///< for the peers
  std::string cause{};         ///< a line for the operator
  bool refused_again = false;  ///< WouldBeRefusedAgain
  bool heard = false;          ///< a loss of a peer that others have told of (net::PeerLoss)
  /// Of such a loss, and of one that this rank's own link has shown: when.
  std::optional<std::chrono::steady_clock::time_point> lost_at{};

  /// Whether it may follow from what the link of another rank has shown before.
  [[nodiscard]] bool may_follow() const { return lost_at.has_value(); }
};

/// `first`, if there is one, unless it follows from `own`, which became known later: what a rank loses may
/// follow from an end that another one has begun, and an error that is no loss follows from nothing else. Of
/// a peer's machines the one whose link was the first to end is the cause: the others are ended for its sake.
[[nodiscard]] RankFailure CauseAmong(RankFailure own, std::optional<RankFailure> first);

/// `explain` of the error, with what the links know of the loss: where other ranks have ended the calls, of
/// the loss that this rank's own link has shown, if there is one. `links` may be null.
[[nodiscard]] RankFailure ExplainByLinks(const std::exception& error, const net::MeshTransport* links,
                                         const std::function<RankFailure(const std::exception&)>& explain);

/// What another thread calls as soon as this rank ends the calls of all, whatever its program waits for.
struct LastWords {
  /// How the operator reads the error that mpc::Ranks::Abort was called with. The other ranks are told, and
  /// the links.
  std::function<RankFailure(const std::exception&)> explain{};
  /// At rank 0: before all ends with a failure of which the program has not come to its end within 10 s.
  std::function<void(const RankFailure&)> note{};
};

/// The time that calls of mpc::Ranks have waited for other ranks, and the processor time that waiting and
/// heartbeats took.
struct WaitingTime {
  double seconds = 0;
  double processor_seconds = 0;
};

/// What the party file says of its ranks, and what holds where it cannot be read.
struct RankLimits {
  int party = -1;                             ///< whose ranks they are, for errors
  std::chrono::milliseconds start{120'000};   ///< timeouts.start: for all of them to start MPI
  std::chrono::milliseconds silence{30'000};  ///< timeouts.peer: after which one is lost
};

/// The processes that mpirun has started for one party (docs/adr/0041), as one of them sees them. They send
/// each other heartbeats, so that a call of ranks() waits as long as all of them live. One fails for all: the
/// first failure is told to rank 0, which reports it and ends them all.
class RankGroup {
 public:
  RankGroup() = default;
  virtual ~RankGroup() = default;
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  [[nodiscard]] virtual mpc::Ranks& ranks() = 0;

  /// Whether this process's memory is out of swap space (LockAllMemory).
  [[nodiscard]] virtual bool memory_locked() const = 0;

  /// This rank's links, which are told why, and interrupted, when another rank fails; null before they go.
  virtual void SetLinks(net::Transport* links) = 0;
  /// Empty before what they use goes.
  virtual void SetLastWords(LastWords words) = 0;

  /// What the party has failed with first, if that becomes known within `limit`.
  [[nodiscard]] virtual std::optional<RankFailure> Failure(std::chrono::milliseconds limit) = 0;
  /// At rank 0, for a failure that may_follow: ends the calls of all, and gives the other ranks two seconds
  /// to tell what their links have shown, which Failure returns then.
  virtual void HearLinks() = 0;
  /// This rank's program has come to its own end, and reports it: from now on no other thread of it does.
  virtual void TakeOver() = 0;
  /// Ends all ranks of the party with failure.code. Ranks above 0 tell rank 0 and wait for it to end them,
  /// which it does when it has reported the failure; they report it themselves where that takes longer than
  /// 15 s. Rank 0, which has reported it, has the others tell their links before.
  [[noreturn]] void End(const RankFailure& failure) {
    EndProcess(failure);
    std::terminate();
  }
  /// Waits until all ranks have called it; nothing is left to do for any then. Throws NetworkError. Where MPI
  /// does not end within the limit of silence, it ends the process with a warning and the code 0, of which
  /// mpirun makes 1, unless it crashes or hangs then, as that of Open MPI 4.1 does now and then.
  virtual void Finish() = 0;

  [[nodiscard]] virtual WaitingTime waited() const = 0;

 protected:
  /// Does not return.
  virtual void EndProcess(const RankFailure& failure) = 0;
};

/// This process's group, where mpirun has started several; else null, and MPI is not touched. Locks this
/// process's memory first, where it may (LockAllMemory). Throws ConfigError where the program was built
/// without MPI, or MPI does not start. Where not all ranks come within limits.start, it ends the process with
/// one line and kNetwork: MPI waits for ever.
[[nodiscard]] std::unique_ptr<RankGroup> StartRanks(const RankLimits& limits);

/// Throws ConfigError unless the party file's ranks are those that mpirun has started.
void RequireRanks(int ranks_of_file);

}  // namespace trefoil::runtime
