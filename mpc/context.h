#pragma once
#include <functional>
#include <span>

#include "base/threads/thread_pool.h"
#include "mpc/bits.h"
#include "mpc/dealing/dealer.h"
#include "mpc/narrow/narrow_matrix.h"
#include "mpc/prss.h"
#include "mpc/ring.h"
#include "net/transport.h"

namespace trefoil::mpc {

class Preprocessing;

/// What is dealt in one operation, in bytes.
struct DealtBytes {
  std::uint64_t to_a = 0;
  std::uint64_t to_b = 0;
};

/// One party's side of a computation: its links, its correlated randomness and the program's counters. Every
/// party must call the same operations in the same order. Used by one thread; branches that run beside each
/// other (mpc/parallel.h) have a context each.
class Context {
 public:
  /// The transport and the pool outlive the context.
  Context(net::Transport& transport, Prss prss, ThreadPool& pool);

  [[nodiscard]] int self() const { return transport_.self(); }
  [[nodiscard]] int next() const { return (self() + 1) % net::kParties; }
  [[nodiscard]] int previous() const { return (self() + 2) % net::kParties; }
  [[nodiscard]] net::Transport& transport() { return transport_; }
  [[nodiscard]] ThreadPool& pool() { return pool_; }

  /// A number that no operation of this session has had, in this or any other branch.
  [[nodiscard]] OperationId NextOperation();

  /// Roles for the next operation with a dealer: they rotate, so that load balances.
  [[nodiscard]] Roles NextRoles();
  /// Lets the next roles be A = P0, B = P1, D = P2, as declared costs assume. Changes no randomness.
  void RestartRoles() { turn_ = 0; }

  /// What the dealer of an operation deals: it is made and sent here, if this party is the dealer, or has
  /// been ahead (mpc/dealing/preprocessing.h). `make` must hold all that it needs by value, nothing of it
  /// secret but what it draws from the Dealer.
  void Deal(OperationId operation, const Roles& roles, const DealtBytes& bytes,
            const std::function<void(const Dealer&)>& make, DealtBy by = DealtBy::kTurn);

  /// Time that this party has spent, as a dealer, on what does not depend on the data.
  void AddOfflineSeconds(double seconds) { offline_seconds_ += seconds; }
  [[nodiscard]] double offline_seconds() const { return offline_seconds_; }

  /// A context for branch 0 or 1 of the program from here on, with operation numbers of its own, and roles
  /// that begin as many turns later. `lane` outlives it. Both branches are made, and passed, before either
  /// is used; at the end both are absorbed.
  [[nodiscard]] Context Branch(net::Transport& lane, int branch) const;
  /// Goes on behind the numbers of both branches, two turns later; called before they run, so that not even
  /// a branch that fails leaves its numbers to be drawn again.
  void PassBranches();
  /// Counts what a branch has sent and dealt.
  void Absorb(const Context& branch);

  /// Words of component `component`'s stream (see Prss::Fill).
  [[nodiscard]] RingMatrix Draw(int component, Purpose purpose, OperationId operation, Index rows,
                                Index cols);
  /// Draw in parts, for who goes over matrices once: begins the stream, whose next words each ContinueDraw of
  /// that component gives, until another of its streams is begun.
  void StartDraw(int component, Purpose purpose, OperationId operation);
  void ContinueDraw(int component, std::span<Word> out);
  /// The same words, but the narrow columns modulo 2^width. No matrix of words is made.
  [[nodiscard]] NarrowMatrix DrawNarrow(int component, Purpose purpose, OperationId operation, Index rows,
                                        Index cols, const NarrowColumns& narrow);
  /// The same stream in words of half the bytes.
  [[nodiscard]] HalfMatrix DrawHalves(int component, Purpose purpose, OperationId operation, Index rows,
                                      Index cols);
  [[nodiscard]] BitMatrix DrawBits(int component, Purpose purpose, OperationId operation, Index planes,
                                   Index count);

  /// The public key of an operation's hash (mpc/prss.h).
  [[nodiscard]] HashKey HashKeyOf(OperationId operation) const { return prss_.HashKeyOf(operation); }

  /// This party's part of a fresh sharing of zero, 3-of-3: F(k_i) - F(k_{i+1}), and with XOR for bits.
  [[nodiscard]] RingMatrix DrawZero(OperationId operation, Index rows, Index cols);
  [[nodiscard]] BitMatrix DrawZeroBits(OperationId operation, Index planes, Index count);

  /// Element by element, row by row, 8 bytes each.
  void SendWords(int peer, const RingMatrix& words);
  [[nodiscard]] RingMatrix ReceiveWords(int peer, Index rows, Index cols,
                                        net::Phase phase = net::Phase::kOnline);
  /// Adds such words to `sum`, from the message itself: a sum takes as long as memory does, and a copy would
  /// take as long again.
  void AddReceivedWords(int peer, RingMatrix& sum);
  /// What a dealer's ShareRows, or of words alone Share, sends to B.
  [[nodiscard]] NarrowMatrix ReceiveDealt(int dealer, Index rows, Index cols, const NarrowColumns& narrow);
  /// The same, 4 bytes each: what a dealer's ShareHalves sends.
  [[nodiscard]] HalfMatrix ReceiveDealtHalves(int dealer, Index rows, Index cols);
  /// Packed to the bit.
  void SendBits(int peer, const BitMatrix& bits);
  [[nodiscard]] BitMatrix ReceiveBits(int peer, Index planes, Index count);

 private:
  /// Operation numbers from the first to before the last.
  struct Numbers {
    OperationId next = 0;
    OperationId end = ~OperationId{0};
  };

  friend class Preprocessing;
  /// So many steps can be forked, or run.
  static constexpr OperationId kOperationsOfRun = OperationId{1} << 44;

  /// Passes the numbers of so many runs of a program; their first.
  [[nodiscard]] OperationId TakeRuns(std::int64_t runs);
  /// A context on the same transport for one run.
  [[nodiscard]] Context ForRun(Preprocessing& ahead, OperationId first, int turn) const;
  [[nodiscard]] Prss TwinPrss() const { return prss_.Twin(); }

  /// How many numbers each branch of this context gets.
  [[nodiscard]] OperationId NumbersOfBranch() const;

  net::Transport& transport_;
  Prss prss_;
  ThreadPool& pool_;
  Numbers operations_;
  int depth_ = 0;  // branches within branches
  int turn_ = 0;
  double offline_seconds_ = 0;
  Preprocessing* ahead_ = nullptr;  // whose run this is part of
};

}  // namespace trefoil::mpc
