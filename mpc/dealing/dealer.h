#pragma once
#include <cstdint>
#include <functional>

#include "base/threads/thread_pool.h"
#include "mpc/bits.h"
#include "mpc/narrow/narrow_columns.h"
#include "mpc/narrow/narrow_matrix.h"
#include "mpc/prss.h"
#include "mpc/ring.h"
#include "net/transport.h"

namespace trefoil::mpc {

/// Who plays which part in an operation with a dealer: A and B open a masked value, D knows the mask.
struct Roles {
  int a = 0;
  int b = 1;
  int dealer = 2;
};

/// Whose part it is to deal in the same operation of another run of a program: roles that rotate with the
/// runs, or the same party's.
enum class DealtBy { kTurn, kTheSame };

/// D's side of one operation, as far as it depends on keys, operation and public sizes alone: the masks, and
/// what is dealt to A and B. So it may run before the operation does, in another thread
/// (mpc/dealing/preprocessing.h).
class Dealer {
 public:
  using Send = std::function<void(int peer, net::Bytes payload)>;

  /// Both outlive the dealer. Pre: this party is the dealer of `roles`.
  Dealer(Prss& prss, OperationId operation, const Roles& roles, ThreadPool& pool, Send send,
         std::int64_t runs_later = 0);

  [[nodiscard]] const Roles& roles() const { return roles_; }
  /// For the run of a program so many after the one that said what to deal; 0 for that one itself.
  [[nodiscard]] std::int64_t runs_later() const { return runs_later_; }
  [[nodiscard]] ThreadPool& pool() const { return pool_; }

  /// The mask r = r_A + r_B, of which A and B draw their half themselves.
  [[nodiscard]] RingMatrix Mask(Index rows, Index cols) const;
  [[nodiscard]] BitMatrix BitMask(Index planes, Index count) const;
  /// Private root seeds of A or B (role: its party number): rows of two words.
  [[nodiscard]] RingMatrix Roots(int role, Index count) const;

  /// The public key of the operation's hash, which A and B have, too.
  [[nodiscard]] HashKey OperationsHashKey() const { return prss_.HashKeyOf(operation_); }

  /// The parts of a 2-of-2 sharing.
  struct Parts {
    NarrowMatrix of_a;
    NarrowMatrix of_b;
  };
  /// `values` become a 2-of-2 sharing: A's part from the PRG, B's part sent: 8 bytes an element.
  Parts Share(RingMatrix values, Purpose purpose = Purpose::kDeal) const;
  /// Makes rows [first, first + count) of a matrix: all of its rows, in their order, each once.
  using MakeRows = std::function<RingMatrix(Index first, Index count)>;
  /// The same of a matrix of `rows` x `cols`. Narrow columns are shared modulo 2^width, and B's part of them
  /// sent in a message of its own before the others: WireBytes in all. With narrow columns no matrix of words
  /// is there at once. Throws ContractError on rows of another shape, before anything is sent.
  Parts ShareRows(Index rows, Index cols, const MakeRows& make, Purpose purpose,
                  const NarrowColumns& narrow) const;
  /// The same modulo 2^32: B's part is sent, 4 bytes an element.
  void ShareHalves(HalfMatrix values) const;
  /// `words` to both A and B as they are: 16 bytes a word.
  void SendSame(const RingMatrix& words) const;

 private:
  [[nodiscard]] RingMatrix Draw(int component, Purpose purpose, Index rows, Index cols) const;

  Prss& prss_;
  OperationId operation_;
  Roles roles_;
  ThreadPool& pool_;
  Send send_;
  std::int64_t runs_later_;
};

/// The words as a message: element by element, row by row, 8 bytes each.
[[nodiscard]] net::Bytes ToBytes(const RingMatrix& words);
/// The same, 4 bytes each.
[[nodiscard]] net::Bytes ToBytes(const HalfMatrix& words);

}  // namespace trefoil::mpc
