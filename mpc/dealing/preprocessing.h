#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

#include "mpc/context.h"
#include "mpc/cost.h"

namespace trefoil::mpc {

/// Runs one program many times, as the steps of a training, and deals ahead: what the operations of the first
/// run deal is noted, and for later runs a thread of its own makes and sends it, at most some runs before the
/// program comes there. Results, randomness and declared costs are those of dealing in line; a message dealt
/// is counted where the program passes it.
///
/// Pre: all runs take the same operations on the same shapes with the same public constants (shifts, factors,
/// tables): what is dealt for a later run follows from those of the first, and from how many runs later it is
/// (Dealer::runs_later). A run that deals in another place, or another number of bytes, ends in a
/// ContractError; one with other constants that deals as many bytes is not noticed, and its results are
/// wrong. Every party makes the same calls.
class Preprocessing {
 public:
  struct Settings {
    std::int64_t runs = 1;   ///< at most; each has operation numbers of its own
    std::int64_t ahead = 0;  ///< runs whose material may wait at the receivers; 0: everything in line
    bool rotate = true;      ///< each run's roles begin one turn later than the one's before, so that load
                             ///< balances
  };

  /// Takes operation numbers of `party`, which outlives this.
  Preprocessing(Context& party, const Settings& settings);
  /// Ends the thread after the message under way.
  ~Preprocessing();
  Preprocessing(const Preprocessing&) = delete;
  Preprocessing& operator=(const Preprocessing&) = delete;

  /// The next run. `party` itself is not used meanwhile. Throws what the program throws, or what kept the
  /// thread from dealing; ContractError after `runs` runs, within a run, and for good after a run that threw:
  /// its operation numbers have been drawn.
  void Run(const std::function<void(Context&)>& program);

  /// Waits until everything that this party deals for the next run has been sent. For measurements.
  void WaitForNextRun();

 private:
  friend class Context;

  /// Something that an operation deals, relative to its run.
  struct Deal {
    net::Lane lane = 0;
    OperationId operation = 0;
    Roles roles;
    DealtBy by = DealtBy::kTurn;
    std::function<void(const Dealer&)> make;
  };
  /// Lane, operation of the run, who deals in the first run, bytes to A and to B.
  using Place = std::tuple<net::Lane, OperationId, int, std::uint64_t, std::uint64_t>;

  /// From the program: what the operation of a run deals. In the first run it is noted; later its place
  /// must be one that was noted there, and what the same party deals in every run is waited for at that
  /// party, whose program goes on with it. True if this party is to deal it in line.
  bool Pass(net::Lane lane, OperationId operation, const Roles& roles, const DealtBytes& bytes,
            const std::function<void(const Dealer&)>& make, DealtBy by);

  [[nodiscard]] OperationId FirstOperation(std::int64_t run) const;
  [[nodiscard]] int TurnOf(std::int64_t run) const;
  [[nodiscard]] Roles RolesOf(const Deal& deal, std::int64_t run) const;
  void StartProducer();
  void Produce(Prss& prss);
  /// Whether the run is to be dealt, once it may be dealt ahead; not if no more is needed.
  [[nodiscard]] bool WaitForTurnOf(std::int64_t run);
  void ProduceRun(std::int64_t run, Prss& prss, ThreadPool& pool);
  void ThrowFailure();

  Context& party_;
  const Settings settings_;
  OperationId base_;
  bool under_way_ = false;  ///< a run has begun and not ended well; of the program's thread alone

  std::mutex mutex_;  // guards what follows while the thread runs or branches pass deals
  std::condition_variable changed_;
  std::vector<Deal> deals_;             // of the first run, as all later ones; nothing is added after it
  std::map<Place, std::size_t> noted_;  // numbers of deals_
  std::int64_t run_ = 0;                // under way, or next; written by the program alone
  std::int64_t produced_ = 0;           // runs whose material has been sent, or that dealt in line
  std::size_t produced_deals_ = 0;      // of the next run
  double seconds_ = 0;                  // spent and not yet booked
  bool stopping_ = false;
  std::exception_ptr failure_{};
  std::optional<std::jthread> producer_;
};

/// Bytes that a party holds, about, of what is dealt for runs of this cost with `ahead` runs ahead. The
/// largest message alone is counted: what the dealer makes it of, what is drawn beside it, and the message
/// itself; where later runs are dealt beside the one under way also what the same party has of that one; and
/// of each third run from then on a message that waits.
[[nodiscard]] double DealingBytes(const Cost& run, std::int64_t ahead);

}  // namespace trefoil::mpc
