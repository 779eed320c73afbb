#pragma once
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "net/transport.h"

namespace trefoil::net {

/// Why a party cannot go on.
struct Failure {
  enum class Kind { kNetwork, kProtocol, kBudget, kMemory };
  Kind kind = Kind::kNetwork;
  int peer = -1;  ///< whom it is about; -1: this party itself
  std::string cause;
  std::optional<AbortCode> told{};  ///< by `peer`, of itself
  bool reported = false;            ///< by the third party
  bool link_ended = false;          ///< without a word
  /// When it was found.
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
};

/// What the ABORT of a peer is for the party that it reaches, where it is about that peer itself: a budget
/// that does not allow the job is one to all three.
[[nodiscard]] Failure FailureOf(int peer, AbortCode code);

/// What the ABORT of peer `sender` is for party `self`, which it reaches. A party that was lost is named in
/// place of the one that reports it, and so is one that broke the protocol; where that is `self`, and there
/// alone, the failure is of kind kProtocol.
[[nodiscard]] Failure FailureOf(int self, int sender, const AbortReason& reason);

/// Throws the failure as NetworkError (AbortedError where the peer told it), ProtocolError, BudgetError or,
/// where this party lacks memory, std::bad_alloc.
[[noreturn]] void Throw(const Failure& failure);

/// Where the I/O thread puts what arrives and the protocols' threads, one a lane, wait for it. All functions
/// may be called by any thread.
class Mailbox {
 public:
  void Put(int peer, Message message);
  /// The peer will send no more.
  void Finish(int peer);
  /// The first failure stays.
  void Fail(Failure failure);

  /// Waits for the peer's next message on a lane. If there is a failure, or the peer has finished without one
  /// (which becomes the failure), puts it into `failure` and returns nothing.
  [[nodiscard]] std::optional<Message> Take(int peer, Lane lane, Failure& failure);

  /// How long a thread has waited for the peer's next message while nothing has come from it; zero where none
  /// waits.
  [[nodiscard]] std::chrono::milliseconds WaitingFor(int peer) const;

  [[nodiscard]] std::optional<Failure> failure() const;

  /// The failure that forbids sending to a peer, if there is one (to have finished becomes one).
  [[nodiscard]] std::optional<Failure> WhyNotSend(int peer);

 private:
  using Clock = std::chrono::steady_clock;
  struct Inbox {
    std::map<Lane, std::deque<Message>> messages;
    bool finished = false;
    int waiting = 0;  // threads
    Clock::time_point waiting_since;
  };
  Inbox& InboxOf(int peer) { return inboxes_[static_cast<std::size_t>(peer)]; }
  void FailAsFinished(int peer);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Inbox, kParties> inboxes_;
  std::optional<Failure> failure_;
};

}  // namespace trefoil::net
